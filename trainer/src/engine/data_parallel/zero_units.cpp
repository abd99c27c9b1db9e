// ZeRO stage 3: each block of the model is a unit, which is gathered before its forward and given back after it,
// gathered again before its backward, and reduced after it. A block is one node of the graph and keeps its input only:
// backward computes its forward a second time, for what autograd would have saved holds the parameters as well.
#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/data_parallel/flat_parameters.h"
#include "engine/data_parallel/ready_buckets.h"
#include "engine/data_parallel/zero.h"
#include "engine/layers/module_scope.h"
#include "engine/layers/precision.h"
#include "rankscope/collectors/annotate.h"
#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

// Parameters that are in shards, and there as a whole only while they are needed (ZeRO stage 3).

/// What fails in its calls between forward and backward is thrown, since autograd hears of failures as exceptions only.
class ShardedUnits {
 public:
  ShardedUnits(const Model& model, std::vector<std::vector<std::size_t>> units, Comm* comm)
      : flat_(model, std::move(units), comm), comm_(comm), units_(flat_.units()) {}

  /// Keeps this rank's shards of rank 0's parameters. All others are gone afterwards.
  [[nodiscard]] Result<void> shard();

  /// Begins to gather a unit, unless that has begun.
  void fetch(std::size_t unit, const std::string& label);
  /// The parameters of a unit that was fetched have their values from here on.
  void take(std::size_t unit);
  void give_back(std::size_t unit);

  /// Begins to reduce the gradients of a unit's parameters into the shards of their owners, who add them up until
  /// drop_gradient(). While one unit is on its way the next one computes, not more.
  void reduce(std::size_t unit, const std::vector<at::Tensor>& gradients, const std::string& label,
              std::chrono::nanoseconds delay);
  /// Waits for the last reduction.
  [[nodiscard]] Result<void> finish_reduction();
  [[nodiscard]] const at::Tensor& gradient(std::size_t unit) const { return units_[unit].gradient; }
  void drop_gradient(std::size_t unit) { units_[unit].gradient.reset(); }

  [[nodiscard]] const FlatParameters& flat() const { return flat_; }
  [[nodiscard]] const std::vector<at::Tensor>& shards() const { return shards_; }

 private:
  struct Unit {
    at::Tensor whole;
    Handle gathering;
    at::Tensor reduced;  // gradients on their way, the own part of which is wanted
    Handle reducing;
    at::Tensor gradient;  // of the own shard
  };

  FlatParameters flat_;
  Comm* comm_;
  std::vector<Unit> units_;
  std::vector<at::Tensor> shards_;
  Unit* reducing_ = nullptr;
};

void throw_if_failed(const Result<void>& result) {
  if (!result) throw std::runtime_error(result.error().message);
}

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

using annotate::Kind;
using std::chrono::nanoseconds;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The blocks of a model, then its auxiliary head.
std::vector<std::shared_ptr<Block>> all_blocks(const Model& model) {
  std::vector<std::shared_ptr<Block>> blocks = model.blocks();
  if (model.has_auxiliary()) blocks.push_back(model.auxiliary());
  return blocks;
}

// Parameters of a model are numbered block by block.
std::vector<std::vector<std::size_t>> units_of(const Model& model) {
  std::vector<std::vector<std::size_t>> units;
  std::size_t next = 0;
  for (const auto& block : all_blocks(model)) {
    auto& unit = units.emplace_back();
    for (std::size_t left = block->parameters().size(); left > 0; --left) unit.push_back(next++);
  }
  return units;
}

class ZeroUnits final : public ZeroSync {
 public:
  ZeroUnits(const ComputationPlan& plan, Comm* comm, const ZeroOptions& options)
      : plan_(plan),
        comm_(comm),
        options_(options),
        blocks_(all_blocks(plan.model)),
        units_(plan.model, units_of(plan.model), comm) {}

  Result<void> lay_out() {
    RS_TRY_VOID(units_.shard());
    optimizer_.emplace(units_.shards(), options_.optimizer);
    return comm_ != nullptr ? broadcast_buffers(plan_.model, *comm_) : Result<void>{};
  }

  /// In which order the blocks of the next forward run. Backward reaches them in reverse.
  void begin_forward(Auxiliary head) {
    order_.clear();
    const std::size_t last = plan_.model.blocks().size() - 1;
    for (std::size_t unit = 0; unit < last; ++unit) order_.push_back(unit);
    if (head == Auxiliary::computed && plan_.model.has_auxiliary()) order_.push_back(last + 1);
    order_.push_back(last);
  }
  void begin_backward() { reached_.assign(blocks_.size(), false); }

  at::Tensor forward(std::size_t unit, const at::Tensor& input) {
    const auto next = std::ranges::find(order_, unit) + 1;
    take(unit, next == order_.end() ? std::nullopt : std::optional{*next}, "forward");
    annotate::Span span{Kind::user, format("unit {} forward", unit)};
    plan_.pacer.begin();
    at::Tensor output = run(blocks_[unit], input);
    plan_.pacer.part_done(nominal(plan_.nominal.forward, unit));
    units_.give_back(unit);
    return output;
  }

  /// Returns the gradient of the input, undefined for samples.
  at::Tensor backward(std::size_t unit, const at::Tensor& input, const at::Tensor& gradient) {
    const auto place = std::ranges::find(order_, unit);
    const bool is_first = place == order_.begin();
    take(unit, is_first ? std::nullopt : std::optional{*(place - 1)}, "backward");
    variable_list gradients;
    {
      annotate::Span span{Kind::user, format("unit {} backward", unit)};
      plan_.pacer.begin();
      gradients = gradients_of(unit, input, gradient);
      plan_.pacer.part_done(nominal(plan_.nominal.backward, unit));
    }
    units_.give_back(unit);
    at::Tensor of_input;
    if (input.requires_grad()) {
      of_input = gradients.back();
      gradients.pop_back();
    }
    if (!note_missing(unit, gradients)) {
      const bool last = is_first && reduction_ == Reduction::now;
      units_.reduce(unit, gradients, format("unit {} backward", unit), last ? delay_ : nanoseconds{0});
    }
    return of_input;
  }

  Result<void> before_forward(Reduction reduction) override {
    reduction_ = reduction;
    if (reduction == Reduction::now && comm_ != nullptr && options_.broadcast_buffers)
      return broadcast_buffers(plan_.model, *comm_);
    return {};
  }
  Result<void> before_backward(const at::Tensor&) override { return {}; }
  Result<void> after_backward() override {
    for (std::size_t unit = 0; unit < blocks_.size(); ++unit)
      if (!reached_[unit]) note_missing(unit, {});
    if (missing_) {
      return no_gradient(units_.flat().name(*missing_),
                         "ZeRO needs all gradients; train this model with --parallel ddp --find-unused");
    }
    return units_.finish_reduction();
  }
  void delay_last(nanoseconds delay) override { delay_ = delay; }

  Result<void> update(Pacer& pacer) override {
    annotate::Span span{Kind::optimizer, "optimizer"};
    pacer.begin_optimizer();
    for (std::size_t unit = 0; unit < blocks_.size(); ++unit) {
      optimizer_->step(unit, units_.gradient(unit));
      units_.drop_gradient(unit);
    }
    pacer.optimizer_done();
    return {};
  }

  Result<std::vector<NamedTensor>> gradients() override {
    std::vector<at::Tensor> own;
    for (std::size_t unit = 0; unit < blocks_.size(); ++unit) own.push_back(units_.gradient(unit));
    return units_.flat().gathered(own, "gradients to dump");
  }

  Owned owned() override { return {units_.flat().layout(), units_.shards(), *optimizer_}; }
  Result<void> parameters_were_set() override { return {}; }  // they are gathered when they are needed

 private:
  /// The auxiliary head has no time of its own.
  static nanoseconds nominal(const std::vector<nanoseconds>& times, std::size_t unit) {
    return unit < times.size() ? times[unit] : nanoseconds{0};
  }

  // While a unit computes the next one arrives.
  void take(std::size_t unit, std::optional<std::size_t> next, const char* pass) {
    units_.fetch(unit, format("unit {} {}", unit, pass));
    if (next) units_.fetch(*next, format("unit {} {}", *next, pass));
    units_.take(unit);
  }

  // Of the unit's parameters, then of the input if it needs one.
  variable_list gradients_of(std::size_t unit, const at::Tensor& input, const at::Tensor& gradient) {
    reached_[unit] = true;
    Block& block = *blocks_[unit];
    // BatchNorm's statistics have seen this batch in forward. What it normalizes with here does not depend on them.
    const KeptBuffers statistics{block};
    const torch::AutoGradMode with_graph{true};
    variable_list leaves = block.parameters();
    const at::Tensor again = input.detach().requires_grad_(input.requires_grad());
    if (input.requires_grad()) leaves.push_back(again);
    const at::Tensor output = forward_again(unit, again);
    return torch::autograd::grad({output}, leaves, {gradient}, /*retain_graph=*/false, /*create_graph=*/false,
                                 /*allow_unused=*/true);
  }

  at::Tensor forward_again(std::size_t unit, const at::Tensor& input) {
    const MixedPrecision precision{plan_.model.computes_in()};
    return run(blocks_[unit], input);
  }

  /// True if one of them is missing; the first one of the step is remembered.
  bool note_missing(std::size_t unit, const variable_list& gradients) {
    const auto& parameters = units_.flat().layout().units()[unit].parameters;
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      if (k < gradients.size() && gradients[k].defined()) continue;
      if (!missing_) missing_ = parameters[k];
      return true;
    }
    return false;
  }

  ComputationPlan plan_;
  Comm* comm_;
  ZeroOptions options_;
  std::vector<std::shared_ptr<Block>> blocks_;
  ShardedUnits units_;
  std::optional<FlatOptimizer> optimizer_;
  std::vector<std::size_t> order_;  // of the units in forward
  std::vector<bool> reached_;       // by the present backward
  std::optional<std::size_t> missing_;
  Reduction reduction_ = Reduction::later;
  nanoseconds delay_{0};
};

struct UnitReference : torch::CustomClassHolder {
  UnitReference(ZeroUnits& all, std::size_t index) : units(all), unit(index) {}
  ZeroUnits& units;
  std::size_t unit;
};

/// A block as one node. `anchor` needs a gradient and gets none: samples need none either, and without a tensor that
/// does there would be no backward.
struct UnitFunction : torch::autograd::Function<UnitFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const at::Tensor&,
                            const c10::intrusive_ptr<UnitReference>& reference) {
    context->save_for_backward({input});
    context->saved_data["unit"] = c10::IValue::make_capsule(reference);
    return reference->units.forward(reference->unit, input);
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto capsule = context->saved_data["unit"].toCapsule();
    const auto& reference = static_cast<const UnitReference&>(*capsule);
    const auto saved = context->get_saved_variables();
    return {reference.units.backward(reference.unit, saved[0], gradients[0]), {}, {}};
  }
};

class UnitBlock final : public Block {
 public:
  UnitBlock(ZeroUnits& units, std::size_t unit)
      : reference_(c10::make_intrusive<UnitReference>(units, unit)), anchor_(at::zeros({}).requires_grad_()) {}
  at::Tensor forward(const at::Tensor& input) override { return UnitFunction::apply(input, anchor_, reference_); }

 private:
  c10::intrusive_ptr<UnitReference> reference_;
  at::Tensor anchor_;
};

class ComputationInUnits final : public Computation {
 public:
  ComputationInUnits(const ComputationPlan& plan, ZeroUnits& units) : micro_steps_(plan.micro_steps), units_(units) {
    for (std::size_t i = 0; i < plan.model.blocks().size(); ++i)
      model_.add(format("unit{}", i), std::make_shared<UnitBlock>(units, i));
    model_.compute_in(plan.model.computes_in());
    if (plan.model.has_auxiliary())
      model_.add_auxiliary(std::make_shared<UnitBlock>(units, plan.model.blocks().size()));
  }

  Forward forward(const Inputs& inputs, Auxiliary head) override {
    annotate::Span span{Kind::forward, "forward"};
    units_.begin_forward(head);
    return run_forward(model_, inputs, head, [](std::size_t) {});
  }

  Model& model() override {
    units_.begin_forward(Auxiliary::left_out);
    return model_;
  }

  void backward(const Forward& result) override {
    annotate::Span span{Kind::backward, "backward"};
    units_.begin_backward();
    (result.loss / micro_steps_).backward();
  }

 private:
  int micro_steps_;
  ZeroUnits& units_;
  Model model_;  // of units
};

}  // namespace

Result<Zero> make_zero_units(const ComputationPlan& plan, Comm* comm, const ZeroOptions& options) {
  auto units = std::make_unique<ZeroUnits>(plan, comm, options);
  RS_TRY_VOID(units->lay_out());
  auto computation = std::make_unique<ComputationInUnits>(plan, *units);
  return Zero{std::move(units), std::move(computation)};
}

}  // namespace rankscope::trainer
