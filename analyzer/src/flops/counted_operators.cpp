#include "flops/counted_operators.h"

#include <algorithm>
#include <array>
#include <set>

#include "kernels/kernel_names.h"
#include "rankscope/core/model/run.h"
#include "steps/window_time.h"
#include "words/keys.h"

namespace rankscope::analyzer {
namespace {

StringId first_known(const Run& run, std::string_view kineto, std::string_view own) {
  const StringId id = run.strings().find(kineto);
  return id.is_set() || own.empty() ? id : run.strings().find(own);
}

KernelTraits traits_of(std::string_view kernel) {
  constexpr std::array<std::string_view, 8> parts{"gemm", "Gemm", "GEMM", "fmha", "conv2d", "fprop", "Cijk_", "wgrad"};
  const TensorCores use = tensor_cores_of(kernel);
  const bool named =
      std::ranges::any_of(parts, [&](std::string_view part) { return kernel.find(part) != std::string_view::npos; });
  return {use, use == TensorCores::yes || named};
}

/// A computation of an accelerator and the call of the host that launched it.
struct Launched {
  SpanId from;
  std::size_t activity = 0;
};

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

class Walk {
 public:
  Walk(const Run& run, FlopCache& cache, RankId rank, const CountedWindows& windows)
      : run_(run),
        cache_(cache),
        windows_(windows),
        accelerator_(run.has_accelerator(rank)),
        graph_node_(run.strings().find(keys::graph_node_id)) {
    if (accelerator_) take_activities(rank, windows);
  }

  void over(const Lane& lane) {
    auto next = std::ranges::lower_bound(launched_, SpanId{lane.first_span}, {}, &Launched::from);
    for (const Span& span : run_.spans_of(lane)) {
      const SpanId id = run_.id_of(span);
      const bool launches = next != launched_.end() && next->from == id;
      if (span.kind != SpanKind::op && !launches) continue;
      close_until(span.time.begin);
      if (span.kind == SpanKind::op) open(id, span);
      for (; next != launched_.end() && next->from == id; ++next)
        if (!open_.empty()) work_.push_back(next->activity);
    }
    close_until(RunTime::max());
  }

  CountedOperators finish() && {
    for (std::size_t i = 0; i < activities_.size(); ++i)
      if (activities_[i].kind == ActivityClass::compute) part(parts_[i]) += activities_[i].exclusive_ns;
    return std::move(result_);
  }

 private:
  struct Open {
    SpanId id;
    TimeRange time;
    const FlopResult* flops = nullptr;  // null: it has no formula
    std::size_t first_work = 0;         // of work_
    bool handled = false;               // an inner call was counted or is lost
    std::int64_t deferred = 0;          // inner calls that cannot be told, in whose place this one may be counted
    NotCountable why_deferred = NotCountable::no_shapes;
  };

  std::int64_t& part(ComputeTime what) { return result_.compute_parts[static_cast<std::size_t>(what)]; }

  void take_activities(RankId rank, const CountedWindows& windows) {
    activities_ = device_work(run_, rank, windows).activities;
    parts_.assign(activities_.size(), ComputeTime::no_operator);
    std::set<std::int32_t> devices;
    for (std::size_t i = 0; i < activities_.size(); ++i) {
      if (activities_[i].kind != ActivityClass::compute) continue;
      const Span& span = run_.span(activities_[i].span);
      devices.insert(run_.lane(span.lane).device);
      const auto links = run_.links_to(LinkKind::launch, activities_[i].span);
      if (!links.empty()) launched_.push_back({links.front().from, i});
      parts_[i] = part_without_operator(activities_[i].span, links.empty() ? SpanId{} : links.front().from);
    }
    std::ranges::stable_sort(launched_, {}, &Launched::from);
    result_.devices = std::max<std::int64_t>(1, static_cast<std::int64_t>(devices.size()));
  }

  /// What a kernel is if no operator around its launch says more.
  [[nodiscard]] ComputeTime part_without_operator(SpanId kernel, SpanId launch) const {
    const Span& span = run_.span(kernel);
    if (span.kind == SpanKind::graph) return ComputeTime::graph;
    if (launch.is_set() && contains(run_.text(run_.span(launch).name), "GraphLaunch")) return ComputeTime::graph;
    if (graph_node_.is_set()) {
      const auto node = run_.attributes_of(kernel).find(graph_node_);
      if (node && node->kind == AttributeKind::number && node->number != 0) return ComputeTime::graph;
    }
    return run_.text(span.name).starts_with("triton_") ? ComputeTime::generated : ComputeTime::no_operator;
  }

  void open(SpanId id, const Span& span) {
    const FlopResult* const flops = cache_.has_formula(span.name) ? &cache_.of(id) : nullptr;
    open_.push_back({id, span.time, flops, work_.size()});
  }

  void close_until(RunTime time) {
    while (!open_.empty() && open_.back().time.end <= time) close_last();
  }

  void close_last() {
    Open last = open_.back();
    open_.pop_back();
    if (last.flops != nullptr) judge(last);
    if (!open_.empty()) {
      open_.back().handled = open_.back().handled || last.handled;
      return;
    }
    for (const std::size_t i : work_)  // no formula
      if (parts_[i] == ComputeTime::no_operator)
        parts_[i] = cache_.kernel(run_.span(activities_[i].span).name).multiplies_matrices ? ComputeTime::matrix_kernel
                                                                                           : ComputeTime::other;
    work_.clear();
  }

  void judge(Open& last) {
    if (last.handled) {
      result_.lost_calls[static_cast<std::size_t>(last.why_deferred)] += last.deferred;
      return;
    }
    if (!*last.flops) {
      const auto outer = std::find_if(open_.rbegin(), open_.rend(), [](const Open& other) {
        return other.flops != nullptr && *other.flops && !other.handled;
      });
      if (outer != open_.rend()) {
        ++outer->deferred;
        outer->why_deferred = last.flops->error();
        return;
      }
    }
    last.handled = true;
    const std::span<const std::size_t> own = std::span{work_}.subspan(last.first_work);
    if (accelerator_ && own.empty()) {
      if (windows_.counts(last.time.begin)) ++result_.calls_without_work;
      return;
    }
    if (*last.flops) {
      count(last, own);
    } else if (begins_in_windows(last, own)) {
      ++result_.lost_calls[static_cast<std::size_t>(last.flops->error())];
    }
    for (const std::size_t i : own) parts_[i] = *last.flops ? ComputeTime::counted : ComputeTime::not_countable;
    work_.resize(last.first_work);
  }

  [[nodiscard]] bool begins_in_windows(const Open& call, std::span<const std::size_t> own) const {
    if (!accelerator_) return windows_.counts(call.time.begin);
    return activities_[std::ranges::min(own)].counted;  // activities ascend by their begin
  }

  void count(const Open& last, std::span<const std::size_t> own) {
    CountedCall call{.call = last.id, .flops = **last.flops};
    call.in_windows = begins_in_windows(last, own);
    call.recomputed = is_recomputed(call.flops);
    if (accelerator_) {
      call.cores = cores_of(own);
      for (const std::size_t i : own) {
        call.kernels_ns += activities_[i].time.length().count();
        call.exclusive_ns += activities_[i].exclusive_ns;
      }
    } else {
      call.kernels_ns = last.time.length().count();
      call.exclusive_ns = windows_.length_ns(last.time);
    }
    result_.calls.push_back(call);
  }

  /// Yes if any kernel says so, else as the longest one says.
  [[nodiscard]] TensorCores cores_of(std::span<const std::size_t> own) const {
    TensorCores longest = TensorCores::unknown;
    nanoseconds length{-1};
    for (const std::size_t i : own) {
      const TensorCores use = cache_.kernel(run_.span(activities_[i].span).name).tensor_cores;
      if (use == TensorCores::yes) return use;
      if (activities_[i].time.length() <= length) continue;
      longest = use;
      length = activities_[i].time.length();
    }
    return longest;
  }

  /// A forward operator between a call and the node of the backward pass in which it runs: formulas of gradients call
  /// products alone, never aten::linear, forward convolutions or forward attention.
  [[nodiscard]] bool is_recomputed(const Flops& flops) const {
    bool forward = flops.forward && flops.kind != FlopClass::matrix;
    for (auto outer = open_.rbegin(); outer != open_.rend(); ++outer) {
      const std::string_view name = run_.text(run_.span(outer->id).name);
      if (name == "CheckpointFunctionBackward") return true;
      if (name.starts_with("autograd::engine::evaluate_function: ")) return forward;
      forward = forward || name == "aten::linear";
    }
    return false;
  }

  const Run& run_;
  FlopCache& cache_;
  WindowTime windows_;
  bool accelerator_;
  StringId graph_node_;
  std::vector<Activity> activities_;
  std::vector<ComputeTime> parts_;  // of activities_
  std::vector<Launched> launched_;  // by the call
  std::vector<Open> open_;          // innermost last
  std::vector<std::size_t> work_;   // activities launched inside of open_, of which nobody is the owner yet
  CountedOperators result_;
};

}  // namespace

FlopCache::FlopCache(const Run& run)
    : run_(run),
      keys_{first_known(run, keys::input_dims, keys::own_input_dims),
            first_known(run, keys::input_types, keys::own_input_types), first_known(run, keys::concrete_inputs, "")},
      known_(run.strings().size(), 2),
      kernels_(run.strings().size()) {
  learn_convolutions();
}

bool FlopCache::has_formula(StringId name) {
  std::uint8_t& known = known_[name.index()];
  if (known == 2) known = has_flop_formula(run_.text(name)) ? 1 : 0;
  return known == 1;
}

const KernelTraits& FlopCache::kernel(StringId name) {
  std::optional<KernelTraits>& traits = kernels_[name.index()];
  if (!traits) traits = traits_of(run_.text(name));
  return *traits;
}

StringId FlopCache::text_of(SpanId call, StringId key) const {
  if (!key.is_set()) return {};
  const auto value = run_.attributes_of(call).find(key);
  return value && value->kind != AttributeKind::number ? value->text : StringId{};
}

StringId FlopCache::sizes_of(SpanId call) const { return text_of(call, keys_.sizes); }

OperatorInputs FlopCache::inputs_of(SpanId call) const {
  return inputs_from(run_.text(sizes_of(call)), run_.text(text_of(call, keys_.types)),
                     run_.text(text_of(call, keys_.values)));
}

/// Only where a backward pass of convolutions was recorded at all.
void FlopCache::learn_convolutions() {
  std::vector<StringId> names;
  for (const std::string_view name : ConvolutionOutputs::names())
    if (const StringId id = run_.strings().find(name); id.is_set()) names.push_back(id);
  if (names.empty() || !keys_.sizes.is_set()) return;
  std::set<std::pair<StringId, StringId>> seen;
  for (const Span& span : run_.spans()) {
    if (span.kind != SpanKind::op || std::ranges::find(names, span.name) == names.end()) continue;
    const SpanId id = run_.id_of(span);
    if (seen.insert({span.name, sizes_of(id)}).second) convolutions_.learn(run_.text(span.name), inputs_of(id));
  }
}

const FlopResult& FlopCache::of(SpanId call) {
  const StringId name = run_.span(call).name;
  const std::tuple key{name, sizes_of(call), text_of(call, keys_.types), text_of(call, keys_.values)};
  if (const auto found = results_.find(key); found != results_.end()) return found->second;
  return results_.emplace(key, flops_of(run_.text(name), inputs_of(call), convolutions_)).first->second;
}

CountedOperators count_operators(const Run& run, FlopCache& cache, RankId rank, const CountedWindows& windows) {
  Walk walk{run, cache, rank, windows};
  const auto process = run.process_row_of(rank);
  for (const Lane& lane : run.lanes())
    if (lane.process == process && lane.kind == LaneKind::thread) walk.over(lane);
  return std::move(walk).finish();
}

}  // namespace rankscope::analyzer
