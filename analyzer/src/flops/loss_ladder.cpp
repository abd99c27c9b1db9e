#include "flops/loss_ladder.h"

#include <algorithm>

#include "rankscope/core/format.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

/// What is lost before a kernel computes.
void add_losses(const TimeSplit& split, std::vector<LadderPart>& parts) {
  parts.push_back({LadderStep::idle_host, split.idle_ns_of(IdleCause::host)});
  parts.push_back({LadderStep::idle_sync, split.idle_ns_of(IdleCause::sync)});
  parts.push_back({LadderStep::idle_data, split.idle_ns_of(IdleCause::data)});
  parts.push_back({LadderStep::idle_kernel_gap, split.idle_ns_of(IdleCause::kernel_gap)});
  parts.push_back({LadderStep::idle_other, split.idle_ns_of(IdleCause::other)});
  parts.push_back({LadderStep::memory, split.memory_ns});
  parts.push_back(
      {LadderStep::exposed_unsplit, split.exposed_comm_ns - split.exposed_wait_ns - split.exposed_transfer_ns});
  parts.push_back({LadderStep::exposed_wait, split.exposed_wait_ns});
  parts.push_back({LadderStep::exposed_transfer, split.exposed_transfer_ns});
}

struct Kernels {
  std::int64_t compute_ns = 0;
  std::int64_t counted_ns = 0;  // exclusive time of counted operators
  std::int64_t at_peak_ns = 0;
  bool all_accelerators = true;
};

Kernels kernels_of(const std::vector<RankFlops>& ranks) {
  Kernels sum;
  for (const RankFlops& rank : ranks) {
    sum.compute_ns += rank.compute_ns;
    sum.counted_ns += rank.compute_parts[static_cast<std::size_t>(ComputeTime::counted)];
    sum.at_peak_ns += rank.at_peak_ns.value_or(0);
    sum.all_accelerators = sum.all_accelerators && rank.accelerator;
  }
  return sum;
}

/// What the compute time holds beyond the time at the peak. Where the counted kernels took less than that beside others
/// that ran with them, the two losses are one.
void add_kernels(const Kernels& kernels, std::vector<LadderPart>& parts) {
  const bool apart = kernels.all_accelerators && kernels.counted_ns >= kernels.at_peak_ns;
  if (apart) {
    parts.push_back({LadderStep::kernels_not_counted, kernels.compute_ns - kernels.counted_ns});
    parts.push_back({LadderStep::kernels_below_peak, kernels.counted_ns - kernels.at_peak_ns});
  } else {
    parts.push_back({LadderStep::kernels, kernels.compute_ns - kernels.at_peak_ns});
  }
  parts.push_back({LadderStep::model, kernels.at_peak_ns});
}

/// Nobody computes faster than the peak: neither a rank in its compute time, nor its counted kernels while they ran.
std::string why_impossible(const std::vector<RankFlops>& ranks) {
  for (const RankFlops& rank : ranks) {
    const std::int64_t at_peak = rank.at_peak_ns.value_or(0);
    if (at_peak > rank.compute_ns)
      return format(
          "the FLOP count or the peak is wrong: at the peak, the counted FLOPs of rank {} would take {}, but "
          "its compute time is only {}",
          rank.rank.value, duration_text(at_peak), duration_text(rank.compute_ns));
    if (!rank.stated_by_user && rank.sums.calls > 0 && at_peak > rank.sums.kernels_ns)
      return format(
          "the FLOP count or the peak is wrong: at the peak, the counted FLOPs of rank {} would take {}, but "
          "the kernels that computed them took only {}",
          rank.rank.value, duration_text(at_peak), duration_text(rank.sums.kernels_ns));
  }
  return {};
}

}  // namespace

Section<Ladder> loss_ladder(const std::vector<RankFlops>& ranks, const std::vector<TimeSplit>& splits,
                            const std::string& why_no_peak) {
  TimeSplit sum;
  for (const TimeSplit& split : splits) sum += split;
  if (sum.window_ns <= 0) return unavailable("empty window");
  if (std::string why = why_impossible(ranks); !why.empty()) return unavailable(std::move(why));
  Ladder ladder;
  ladder.whole_ns = sum.window_ns;
  ladder.why_at_compute = why_no_peak;
  add_losses(sum, ladder.parts);
  if (why_no_peak.empty()) {
    add_kernels(kernels_of(ranks), ladder.parts);
  } else {
    ladder.parts.push_back({LadderStep::compute, sum.compute_ns});
  }
  return ladder;
}

std::string_view name_of(LadderStep step) {
  switch (step) {
    case LadderStep::idle_host:
      return "idle_host";
    case LadderStep::idle_sync:
      return "idle_sync";
    case LadderStep::idle_data:
      return "idle_data";
    case LadderStep::idle_kernel_gap:
      return "idle_kernel_gap";
    case LadderStep::idle_other:
      return "idle_other";
    case LadderStep::memory:
      return "memory";
    case LadderStep::exposed_unsplit:
      return "exposed_unsplit";
    case LadderStep::exposed_wait:
      return "exposed_wait";
    case LadderStep::exposed_transfer:
      return "exposed_transfer";
    case LadderStep::kernels_not_counted:
      return "kernels_not_counted";
    case LadderStep::kernels_below_peak:
      return "kernels_below_peak";
    case LadderStep::kernels:
      return "kernels";
    case LadderStep::model:
      return "model";
    case LadderStep::compute:
      return "compute";
  }
  return "?";
}

}  // namespace rankscope::analyzer
