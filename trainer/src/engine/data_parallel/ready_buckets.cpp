#include "engine/data_parallel/ready_buckets.h"

#include <algorithm>

#include "rankscope/core/format.h"

namespace rankscope::trainer {

using torch::autograd::variable_list;

ReadyBuckets::ReadyBuckets(const Model& model, Events events)
    : events_(std::move(events)), names_(model.named_parameters().keys()), parameters_(model.parameters()) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) install_hook(i);
}

void ReadyBuckets::assign(const std::vector<std::vector<std::size_t>>& buckets) {
  places_.resize(parameters_.size());
  sizes_.clear();
  for (const auto& bucket : buckets) {
    for (std::size_t k = 0; k < bucket.size(); ++k) places_[bucket[k]] = {sizes_.size(), k};
    sizes_.push_back(bucket.size());
  }
  ready_.assign(parameters_.size(), false);
}

// A hook on the node that accumulates into .grad sees the whole gradient; one on the tensor would only see the part
// that is about to be added. The node is held weakly by the tensor, so we keep it.
void ReadyBuckets::install_hook(std::size_t parameter) {
  auto node = torch::autograd::impl::grad_accumulator(parameters_[parameter]);
  node->add_post_hook(std::make_unique<torch::autograd::utils::LambdaPostHook>(
      [this, parameter](const variable_list& outputs, const variable_list&) {
        if (watching_) set_ready(parameter);
        return outputs;
      }));
  accumulators_.push_back(std::move(node));
}

void ReadyBuckets::watch() {
  watching_ = true;
  next_ = 0;
  order_.clear();
  ready_.assign(parameters_.size(), false);
  missing_ = sizes_;
}

void ReadyBuckets::ignore() { watching_ = false; }

void ReadyBuckets::set_ready(std::size_t parameter) {
  if (ready_[parameter]) return;
  ready_[parameter] = true;
  order_.push_back(static_cast<std::int64_t>(parameter));
  const Place place = places_[parameter];
  events_.ready(parameter, place);
  --missing_[place.bucket];
  while (next_ < missing_.size() && missing_[next_] == 0) events_.full(next_++);
}

Result<void> ReadyBuckets::check_all_full(const std::string& advice) const {
  if (next_ == sizes_.size()) return {};
  const auto parameter = static_cast<std::size_t>(std::ranges::find(ready_, false) - ready_.begin());
  return no_gradient(names_[parameter], advice);
}

tl::unexpected<Error> no_gradient(const std::string& parameter, const std::string& advice) {
  return fail(ErrorKind::usage, format("parameter {} got no gradient in this step, so its bucket was never reduced; {}",
                                       parameter, advice));
}

}  // namespace rankscope::trainer
