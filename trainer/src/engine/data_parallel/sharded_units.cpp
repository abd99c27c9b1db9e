#include "engine/data_parallel/sharded_units.h"

#include <stdexcept>
#include <utility>

#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

void throw_if_failed(const Result<void>& result) {
  if (!result) throw std::runtime_error(result.error().message);
}

}  // namespace

Result<void> ShardedUnits::shard() {
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    RS_TRY(const at::Tensor whole, flat_.flattened(unit, format("parameters of unit {}", unit)));
    shards_.push_back(flat_.own_part(whole).clone());
    flat_.take_away(unit);
  }
  return {};
}

void ShardedUnits::fetch(std::size_t index, const std::string& label) {
  Unit& unit = units_[index];
  if (unit.whole.defined()) return;
  if (comm_ == nullptr) {
    unit.whole = shards_[index];
    return;
  }
  unit.whole = flat_.empty(index);
  unit.gathering = comm_->allgather_flat(unit.whole, shards_[index], label);
}

void ShardedUnits::take(std::size_t index) {
  Unit& unit = units_[index];
  RS_CHECK(unit.whole.defined());
  if (Handle gathering = std::exchange(unit.gathering, {}); gathering.valid()) throw_if_failed(gathering.wait());
  flat_.put(index, unit.whole);
}

void ShardedUnits::give_back(std::size_t index) {
  flat_.take_away(index);
  units_[index].whole.reset();
}

void ShardedUnits::reduce(std::size_t index, const std::vector<at::Tensor>& gradients, const std::string& label,
                          std::chrono::nanoseconds delay) {
  throw_if_failed(finish_reduction());
  const torch::NoGradGuard no_grad;
  Unit& unit = units_[index];
  unit.reduced = flat_.zeros(index);
  for (std::size_t k = 0; k < gradients.size(); ++k) flat_.part_of(unit.reduced, index, k).copy_(gradients[k]);
  reducing_ = &unit;
  if (comm_ == nullptr) return;
  unit.reduced.div_(comm_->group().size());
  unit.reducing = comm_->enqueue({.op = CommOp::reduce_scatter,
                                  .label = label,
                                  .tensor = unit.reduced,
                                  .outputs = {flat_.own_part(unit.reduced)},
                                  .delay = delay});
}

Result<void> ShardedUnits::finish_reduction() {
  if (reducing_ == nullptr) return {};
  Unit& unit = *std::exchange(reducing_, nullptr);
  if (Handle reducing = std::exchange(unit.reducing, {}); reducing.valid()) RS_TRY_VOID(reducing.wait());
  const torch::NoGradGuard no_grad;
  const at::Tensor part = flat_.own_part(unit.reduced);
  if (unit.gradient.defined())
    unit.gradient.add_(part);
  else
    unit.gradient = part.clone();
  unit.reduced.reset();
  return {};
}

}  // namespace rankscope::trainer
