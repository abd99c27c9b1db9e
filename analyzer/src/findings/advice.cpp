#include "findings/advice.h"

#include <algorithm>

#include "rankscope/core/format.h"

namespace rankscope::analyzer {

std::string advice_for(StragglerKind kind, Persistence persistence) {
  switch (kind) {
    case StragglerKind::compute:
      return "Compare clocks, power and temperature of its device and other load on its host; if its operations are "
             "larger, even out the work.";
    case StragglerKind::host:
      return persistence == Persistence::transient ? "Look for pauses of the host process in these steps: garbage "
                                                     "collection (collect on all ranks at the same step), "
                                                     "checkpoints, logging, other jobs."
                                                   : "Look at what its host thread does between operations: CPU "
                                                     "binding, other jobs on the host, logging, blocking calls.";
    case StragglerKind::data:
      return "Look at its loader: storage path, number of workers, CPU share of its host; prefetch deeper.";
    case StragglerKind::network:
      return "Look at its network interface and communication thread: link speed and errors, CPU binding, proxy "
             "settings.";
    case StragglerKind::memory:
      return "Look at its copies and allocations: pinned memory, allocator retries, memory of other processes.";
    case StragglerKind::mixed:
      return "Several parts of its step are slower: look for other load on its host first.";
  }
  return {};
}

std::string advice_for(SlowDevice cause) {
  switch (cause) {
    case SlowDevice::too_hot:
      return "Cool its GPU: fans, airflow and what its neighbours give off (nvidia-smi -q -d TEMPERATURE,PERFORMANCE); "
             "until then leave it out.";
    case SlowDevice::power_limit:
      return "Compare its power limit with that of the others and raise it (nvidia-smi -q -d POWER); if they are "
             "equal, "
             "this GPU needs more power for the same clock: replace it.";
    case SlowDevice::hardware:
      return "Its hardware brakes it: look at power supply and cooling of its server (nvidia-smi -q -d PERFORMANCE), "
             "and leave it out until then.";
    case SlowDevice::clocks_set:
      return "Somebody has set its clocks: reset them (nvidia-smi -rac, -rgc), or set all GPUs alike.";
    case SlowDevice::low_clock:
      return "Compare its clocks, power limit and temperature with those of the others (nvidia-smi -q -d "
             "CLOCK,POWER,PERFORMANCE).";
  }
  return {};
}

std::string advice_for(Exposed exposed) {
  switch (exposed) {
    case Exposed::moving:
      return "Overlap it with compute: smaller or earlier buckets, asynchronous handles; or move fewer bytes (lower "
             "precision, gradient accumulation).";
    case Exposed::waiting_for_straggler:
      return "Fix the slow rank first: most of this is waiting for it.";
    case Exposed::waiting_for_changing_ranks:
      return "Find out who arrives last (the groups below) and even out the work before the collectives.";
  }
  return {};
}

LoaderSums sum_loaders(const Report& report) {
  LoaderSums sums;
  if (!report.data_loading) return sums;
  for (const DataLoadingRow& row : report.data_loading->rows) {
    sums.own_thread = sums.own_thread || row.kind == LoaderWorkers::none;
    if (row.kind != LoaderWorkers::recorded) continue;
    sums.waiting_ns += row.waiting_ns;
    sums.all_busy_ns += row.all_busy_ns;
    sums.some_busy_ns += row.some_busy_ns;
    sums.none_busy_ns += row.none_busy_ns;
    sums.workers = std::max(sums.workers, row.workers);
    sums.needed = std::max(sums.needed, workers_needed(row).value_or(0));
  }
  return sums;
}

std::string advice_for_data(const LoaderSums& sums) {
  if (sums.waiting_ns > 0 && 2 * sums.all_busy_ns > sums.waiting_ns)
    return format(
        "Workers cannot keep up: add some{} or make loading cheaper (storage, decoding, augmentation); prefetching "
        "deeper does not help.",
        sums.needed > sums.workers ? format(" (about {} would load as fast as the steps need it)", sums.needed) : "");
  if (sums.waiting_ns > 0 && 2 * sums.none_busy_ns > sums.waiting_ns)
    return "The workers had nothing to do meanwhile, more of them do not help: look at what the training thread does "
           "to a batch itself (collating, pinning, copying), and prefetch deeper.";
  if (sums.waiting_ns > 0)
    return "Some workers were idle while others held the loop up: prefetch deeper, and even out what loading a batch "
           "takes.";
  if (sums.own_thread)
    return "The training thread loads its batches itself: give the DataLoader workers (num_workers=4 or more) and "
           "pin_memory=True.";
  return "Use more loader workers or prefetch deeper; move decoding and augmentation out of the step. The workers were "
         "not recorded: that they are busy all the time (top, py-spy) tells that they are too few.";
}

std::string advice_for_idle(const TimeSplit& split, const std::vector<IdleShare>& shares) {
  const auto most = [&split](IdleCause cause) {
    return 2 * split.idle_ns_of(cause) > split.idle_ns - split.idle_ns_of(IdleCause::data);
  };
  const auto nothing_more = [&] {
    return !shares.empty() && shares.front().detail == IdleDetail::nothing_followed &&
           2 * shares.front().ns > split.idle_ns;
  };
  if (nothing_more())
    return "Nothing was launched any more in most of it: the program did something else, or was done before the "
           "profiler stopped.";
  if (most(IdleCause::sync)) return "Remove blocking synchronizations from the step (.item(), barriers, joins).";
  if (most(IdleCause::kernel_gap))
    return "Kernels are short and many: CUDA graphs, fused kernels or larger batches close the gaps.";
  if (most(IdleCause::host) && !shares.empty())
    return "The host launches too late: see in which operators (WHY NOTHING RAN); larger batches, CUDA graphs, "
           "torch.compile or fewer small operations help.";
  if (most(IdleCause::other) && !shares.empty()) {
    const auto first = std::ranges::find(shares, IdleCause::other, &IdleShare::cause);
    if (first->detail == IdleDetail::no_launch_record)
      return "Record launch calls to see what the host did meanwhile: torch.profiler with activities=[CPU, CUDA], nsys "
             "with "
             "--trace=cuda,nvtx.";
    if (first->detail == IdleDetail::waits_for_event)
      return "Streams wait for each other: look at what the other stream does then, and whether that order is needed.";
    return "The work was launched in time and began late: look at these gaps in the timeline.";
  }
  return "Look at what the host does between operations in the timeline; larger batches or fewer small operations "
         "help.";
}

}  // namespace rankscope::analyzer
