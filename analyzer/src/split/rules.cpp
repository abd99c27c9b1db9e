#include "split/parts.h"

#include <algorithm>

#include "rankscope/core/format.h"
#include "rules/severity.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

std::string advice_for_idle(const TimeSplit& split, const std::vector<IdleShare>& shares) {
  const auto most = [&split](IdleCause cause) {
    return 2 * split.idle_ns_of(cause) > split.idle_ns - split.idle_ns_of(IdleCause::data);
  };
  const auto nothing_more = [&] {
    return !shares.empty() && shares.front().detail == IdleDetail::nothing_followed &&
           2 * shares.front().ns > split.idle_ns;
  };
  if (nothing_more())
    return "In most of it nothing more was launched: the program did something else, or had finished before the "
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
             "with --trace=cuda,nvtx.";
    if (first->detail == IdleDetail::waits_for_event)
      return "Streams wait for each other: look at what the other stream does then, and whether that order is needed.";
    return "The work was launched in time and began late: look at these gaps in the timeline.";
  }
  return "Look at what the host does between operations in the timeline; larger batches or fewer small operations "
         "help.";
}

/// What happened once is no habit: ", 97 % of it in step 5 alone".
std::string once_text(const IdleShare& share) {
  if (!share.most_in_step || 2 * share.most_ns <= share.ns) return {};
  return format(", {} of it in step {} alone",
                percent_of(static_cast<double>(share.most_ns) / static_cast<double>(share.ns)), *share.most_in_step);
}

}  // namespace

void judge_idle(const RuleContext& context, std::vector<Finding>& findings) {
  const Usual usual = all_but_named(context, findings, "unequal.host_time");
  if (!usual.shows_idle_time()) return;
  const TimeSplit& total = usual.total;
  const std::int64_t rest = total.idle_ns - total.idle_ns_of(IdleCause::data);
  const FindingSeverity severity = severity_of(usual.share(rest), idle_limits);
  if (severity == FindingSeverity::info) return;
  std::string causes;
  for (const IdleCause cause : {IdleCause::host, IdleCause::sync, IdleCause::kernel_gap, IdleCause::other}) {
    if (total.idle_ns_of(cause) == 0) continue;
    causes += format("{}{} for {}", causes.empty() ? "" : ", ", duration_text(usual.mean(total.idle_ns_of(cause))),
                     words_of(cause));
  }
  const auto most =
      std::ranges::find_if(usual.idle_shares, [](const IdleShare& share) { return share.cause != IdleCause::data; });
  if (most != usual.idle_shares.end())
    causes +=
        format("; most of one kind: {}{}{}, {}{}", words_of(*most), most->range.empty() ? "" : " in ", most->range,
               duration_text(usual.mean(most->ns)), usual.steps > usual.ranks ? once_text(*most) : "");
  findings.push_back({"idle", severity, format("{} of the time nothing runs", percent_of(usual.share(rest))),
                      usual.steps > 0 ? "per step and rank: " + causes
                                      : "over the whole recording, start-up and shut-down included: " + causes,
                      advice_for_idle(total, usual.idle_shares), usual.per_step(rest), std::nullopt, std::nullopt});
}

/// Inside the cause `other`.
void judge_profiler_overhead(const RuleContext& context, std::vector<Finding>& findings) {
  const Usual& usual = context.everybody;
  std::int64_t ns = 0;
  for (const IdleShare& share : usual.idle_shares)
    if (share.detail == IdleDetail::profiler_overhead) ns += share.ns;
  const auto severity = severity_of(usual.share(ns), profiler_limits);
  if (severity == FindingSeverity::info) return;
  findings.push_back(
      {"profiler_overhead", severity,
       format("{} of the time the profiler held the job up", percent_of(usual.share(ns))),
       format("nothing ran for {} {}, inside the profiler's own overhead", duration_text(usual.mean(ns)),
              usual.steps > 0 ? "per step and rank" : "per rank"),
       "Profile fewer steps, after one warm-up step of the profiler, with fewer details (stacks, memory).", 0,
       std::nullopt, std::nullopt});
}

}  // namespace rankscope::analyzer
