// Memory of each mode. What is held most is looked for at two moments, in backward and in the update: the larger one
// counts.
#include <algorithm>
#include <numeric>

#include "costs/parts.h"
#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

/// What is held in a step beyond what is always held.
struct Moment {
  std::vector<MemoryCost> held{};

  [[nodiscard]] std::int64_t bytes() const {
    return std::accumulate(held.begin(), held.end(), std::int64_t{0},
                           [](std::int64_t sum, const MemoryCost& cost) { return sum + cost.bytes; });
  }
  void add(std::string what, std::int64_t bytes, std::string formula) {
    if (bytes > 0) held.push_back({std::move(what), bytes, Held::at_most, std::move(formula)});
  }
};

Moment larger(Moment a, Moment b) { return a.bytes() < b.bytes() ? std::move(b) : std::move(a); }

int state_tensors(const OptimizerOptions& options) {
  if (options.kind == OptimizerKind::adamw) return 2;
  return options.momentum > 0 ? 1 : 0;
}

std::string state_formula(const OptimizerOptions& options, const std::string& of) {
  switch (state_tensors(options)) {
    case 0:
      return "sgd without momentum has none";
    case 1:
      return "momentum: as large as " + of;
    default:
      return "two moments: 2 x " + of;
  }
}

/// Tensors as large as a parameter that torch's optimizers make for the time of its update.
int tensors_of_update(const OptimizerOptions& options) {
  if (options.kind == OptimizerKind::adamw) return 2;
  return options.weight_decay > 0 ? 1 : 0;
}

struct Updated {
  std::int64_t bytes = 0;     ///< of what is updated in one go
  std::int64_t gradient = 0;  ///< gone when that is done
};

/// Tensors of the update where they exceed the gradients that are gone by then.
std::int64_t update_space(const std::vector<Updated>& order, const OptimizerOptions& options) {
  std::int64_t most = 0;
  std::int64_t gone = 0;
  for (const Updated& next : order) {
    most = std::max(most, tensors_of_update(options) * next.bytes - gone);
    gone += next.gradient;
  }
  return most;
}

void add_update_space(Moment& update, const std::vector<Updated>& order, const OptimizerOptions& options) {
  update.add("temporaries of the update", update_space(order, options),
             "for one parameter at a time, minus the gradients that are already freed");
}

class MemoryOf {
 public:
  explicit MemoryOf(const RankPart& part) : part_(part), options_(part.options()), width_(part.element_bytes()) {}

  std::vector<MemoryCost> all() {
    const Moment step = [&] {
      if (part_.question.plan.mesh && copies_of(part_.question) > 1) return of_stage_copies();
      switch (options_.mode->zero) {
        case ZeroStage::none:
          return of_whole();
        case ZeroStage::optimizer:
        case ZeroStage::gradients:
          return of_zero_buckets();
        case ZeroStage::parameters:
          break;
      }
      return of_units();
    }();
    always_.insert(always_.end(), step.held.begin(), step.held.end());
    return always_;
  }

 private:
  void add(std::string what, std::int64_t bytes, std::string formula) {
    if (bytes > 0) always_.push_back({std::move(what), bytes, Held::always, std::move(formula)});
  }
  [[nodiscard]] std::int64_t raw_bytes() const {
    std::int64_t bytes = 0;
    for (const auto& blocks : part_.chunks) bytes += parameter_bytes(blocks, width_);
    return bytes;
  }
  [[nodiscard]] std::string raw_formula() const { return format("{} B x {} parameters", width_, raw_bytes() / width_); }
  void add_buffers() {
    std::int64_t bytes = 0;
    for (const auto& blocks : part_.chunks)
      for (const auto& block : blocks) bytes += block.buffer_bytes;
    add("buffers", bytes, "statistics of BatchNorm and their counters");
  }
  void add_state(std::int64_t bytes, const std::string& of) {
    add("optimizer state", state_tensors(options_.optimizer) * bytes, state_formula(options_.optimizer, of));
  }

  /// In mixed precision the gradient of a weight is computed in the type of activations, and then cast; `bytes` are
  /// those it has in the end.
  void add_uncast_gradient(Moment& backward, std::int64_t bytes) const {
    const std::int64_t computed = part_.activation_bytes();
    if (computed != width_) backward.add("a gradient in bf16", bytes / width_ * computed, "before it is cast to f32");
  }
  [[nodiscard]] std::int64_t largest_parameter() const {
    std::size_t most = 0;
    for (const auto& blocks : part_.chunks)
      for (const std::size_t size : parameter_sizes(blocks, width_)) most = std::max(most, size);
    return static_cast<std::int64_t>(most);
  }

  /// Each parameter has a gradient of its own and is updated by itself. Where our reducer averages them, gradients are
  /// views of its buckets then, and their own memory is free again.
  Moment of_whole() {
    const std::int64_t parameters = raw_bytes();
    const std::int64_t copies = options_.mode->devices == DeviceUse::replicas ? options_.devices : 1;
    add("parameters", parameters, raw_formula());
    add_buffers();
    add_state(parameters, "the parameters");
    if (averages_in_buckets()) add("buckets", parameters, "for reducing gradients: as large as the gradients");
    if (copies > 1) {
      std::int64_t replica = 0;
      for (const MemoryCost& cost : always_)
        if (cost.what != "optimizer state") replica += cost.bytes;
      add("replicas", (copies - 1) * replica, format("{} x parameters and buffers", copies - 1));
    }
    Moment step;
    step.add("gradients", copies * parameters,
             copies > 1 ? format("{} x as large as the parameters", copies) : "as large as the parameters");
    Moment backward = step;
    add_uncast_gradient(backward, largest_parameter());
    std::int64_t terms = 0;  // of the stage that has most
    for (const auto& blocks : part_.chunks) terms = std::max(terms, elements_with_terms(blocks));
    backward.add("sums of gradients", terms * width_,
                 format("{} B x {} elements, packed for one all-reduce", width_, terms));
    const bool in_buckets = averages_in_buckets() && options_.ddp.implementation == DdpImplementation::own;
    Moment update = in_buckets ? Moment{} : std::move(step);
    add_update_space(update, updates_of_parameters(), options_.optimizer);
    return larger(std::move(backward), std::move(update));
  }
  [[nodiscard]] bool averages_in_buckets() const {
    return options_.mode->averages_whole() && options_.mode->zero == ZeroStage::none && part_.question.ranks > 1;
  }
  [[nodiscard]] std::vector<Updated> updates_of_parameters() const {
    std::vector<Updated> order;
    for (const auto& blocks : part_.chunks)
      for (const std::size_t size : parameter_sizes(blocks, width_))
        order.push_back({static_cast<std::int64_t>(size), static_cast<std::int64_t>(size)});
    return order;
  }

  /// What parameters take that lie in flat units, and a rank's part of it.
  void add_flat(std::int64_t padded, std::int64_t held, std::int64_t own) {
    add("parameters", held * width_,
        format(
            "{} B x {} elements{}", width_, held,
            padded > raw_bytes() / width_ ? format(", padding of all shards: {}", padded - raw_bytes() / width_) : ""));
    add_buffers();
    add_state(own * width_, own == held ? "the parameters" : "this rank's shards");
  }

  Moment of_zero_buckets() {
    const int ranks = copies_of(part_.question);
    const FlatLayout layout = bucket_layout(part_.chunks.front(), part_.question, ranks);
    const std::int64_t padded = padded_elements(layout);
    add_flat(padded, padded, padded / ranks);
    const bool keeps = options_.mode->zero == ZeroStage::optimizer;
    Moment update;
    update.add("gradients", (keeps ? padded : padded / ranks) * width_,
               keeps ? "all buckets" : "this rank's shards of all buckets");
    add_update_space(update, updates_of_shards(layout, keeps), options_.optimizer);
    return larger(filling(layout, keeps), std::move(update));
  }
  [[nodiscard]] std::vector<Updated> updates_of_shards(const FlatLayout& layout, bool whole_gradients) const {
    std::vector<Updated> order;
    for (std::size_t i = 0; i < layout.units().size(); ++i) {
      const std::int64_t shard = layout.shard_size(i) * width_;
      order.push_back({shard, whole_gradients ? shard * layout.ranks() : shard});
    }
    return order;
  }
  // Gradients come one by one and are copied into their bucket. Stage 2 reduces a bucket while the next one fills.
  [[nodiscard]] Moment filling(const FlatLayout& layout, bool keeps) const {
    const std::vector<std::size_t> sizes = parameter_sizes(part_.chunks.front(), width_);
    std::int64_t shards = !keeps && options_.accumulate > 1 ? padded_elements(layout) / layout.ranks() * width_ : 0;
    std::int64_t open = 0;
    Moment most;
    const auto see = [&](std::int64_t arriving) {
      Moment now;
      now.add("gradients", shards, "this rank's shards");
      now.add("buckets", open, keeps ? "for all gradients" : "one is being reduced while the next is filled");
      now.add("a gradient", arriving, "before it is copied into its bucket");
      add_uncast_gradient(now, arriving);
      most = larger(std::move(most), std::move(now));
    };
    const auto settle = [&](std::size_t bucket) {
      if (options_.accumulate == 1) shards += layout.shard_size(bucket) * width_;
      see(0);
      open -= layout.units()[bucket].padded * width_;
    };
    for (std::size_t i = 0; i < layout.units().size(); ++i) {
      open += layout.units()[i].padded * width_;
      for (const std::size_t parameter : layout.units()[i].parameters) see(static_cast<std::int64_t>(sizes[parameter]));
      if (!keeps && i > 0) settle(i - 1);
    }
    if (!keeps) settle(layout.units().size() - 1);
    return most;
  }

  Moment of_units() {
    const int ranks = copies_of(part_.question);
    const FlatLayout layout = unit_layout(part_.chunks.front(), ranks);
    const std::int64_t padded = padded_elements(layout);
    add_flat(padded, padded / ranks, padded / ranks);
    Moment update;
    update.add("gradients", padded / ranks * width_, "this rank's shards of all units");
    add_update_space(update, updates_of_shards(layout, false), options_.optimizer);
    return larger(backward_of_units(layout), std::move(update));
  }
  // Backward goes through the units in reverse: one computes, the next one arrives, the one before is reduced.
  [[nodiscard]] Moment backward_of_units(const FlatLayout& layout) const {
    const auto& units = layout.units();
    const bool alone = layout.ranks() == 1;  // what is gathered then is the shard itself
    std::int64_t shards = options_.accumulate > 1 ? padded_elements(layout) / layout.ranks() * width_ : 0;
    std::int64_t reducing = 0;
    Moment most;
    for (std::size_t i = units.size(); i-- > 0;) {
      const std::int64_t gradients = units[i].used * width_;
      const std::int64_t next = alone || i == 0 ? 0 : units[i - 1].padded * width_;
      const std::int64_t own = alone ? 0 : units[i].padded * width_;
      const auto see = [&](std::int64_t gathered, std::int64_t reduced) {
        Moment now;
        now.add("gradients", shards, "this rank's shards");
        now.add("gathered units", gathered, "one in use, the next one being gathered");
        now.add("gradients of a unit", gradients, "before they are copied for the reduction");
        add_uncast_gradient(now, largest_parameter());
        now.add("reductions", reduced, "gradients of a unit that are being reduced");
        most = larger(std::move(most), std::move(now));
      };
      see(own + next, reducing);
      if (reducing > 0 && options_.accumulate == 1) shards += layout.shard_size(i + 1) * width_;
      see(next, reducing);
      reducing = units[i].padded * width_;
      see(next, reducing);
    }
    return most;
  }

  /// Of each stage all gradients are there before they are copied into buckets one by one.
  Moment of_stage_copies() {
    const int ranks = copies_of(part_.question);
    const bool sharded = options_.mesh.zero1;
    std::int64_t padded = 0;
    std::vector<FlatLayout> layouts;
    for (const auto& blocks : part_.chunks) {
      layouts.push_back(bucket_layout(blocks, part_.question, ranks));
      padded += padded_elements(layouts.back());
    }
    const std::int64_t state = sharded ? padded / ranks : raw_bytes() / width_;
    add_flat(padded, padded, state);
    std::int64_t gradients = 0;
    std::int64_t copied = 0;
    std::int64_t terms = 0;
    for (std::size_t i = 0; i < layouts.size(); ++i) {
      for (const FlatUnit& unit : layouts[i].units()) copied = std::max(copied, unit.padded);
      terms = std::max(terms, elements_with_terms(part_.chunks[i]));
    }
    gradients = padded + (sharded ? padded / ranks : 0);
    const char* formula = sharded ? "in buckets, plus this rank's shards of them" : "in buckets";
    Moment backward;
    backward.add("gradients", raw_bytes(), "as large as the parameters");
    add_uncast_gradient(backward, largest_parameter());
    backward.add("a bucket", std::max(copied, terms) * width_, "into which gradients are copied");
    Moment update;
    update.add("gradients", gradients * width_, formula);
    add_update_space(update, sharded ? updates_of_copies(layouts) : updates_of_parameters(), options_.optimizer);
    return larger(std::move(backward), std::move(update));
  }
  [[nodiscard]] std::vector<Updated> updates_of_copies(const std::vector<FlatLayout>& layouts) const {
    std::vector<Updated> order;
    for (const FlatLayout& layout : layouts) {
      const auto shards = updates_of_shards(layout, false);
      order.insert(order.end(), shards.begin(), shards.end());
    }
    return order;
  }

  const RankPart& part_;
  const TrainOptions& options_;
  std::int64_t width_;
  std::vector<MemoryCost> always_;
};

}  // namespace

std::vector<MemoryCost> memory_of(const RankPart& part) { return MemoryOf{part}.all(); }

}  // namespace rankscope::trainer
