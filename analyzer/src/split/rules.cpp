#include "rules.h"

#include <algorithm>

#include "findings/advice.h"
#include "split/idle_words.h"
#include "findings/severity.h"
#include "rankscope/core/format.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

/// Without steps nobody knows which part of a host's time was meant to be work.
bool tells_idle_time(const Usual& usual) { return usual.steps > 0 || usual.on_accelerators; }

/// "; in 93 % of it all 2 workers of a rank were busy"
std::string workers_text(const LoaderSums& sums) {
  if (sums.waiting_ns <= 0) return {};
  const auto share = [&](std::int64_t part) {
    return percent_of(static_cast<double>(part) / static_cast<double>(sums.waiting_ns));
  };
  return format("; while the loop waited, all {} were busy in {} of the time, some in {}, none in {}",
                counted(sums.workers, "loader worker"), share(sums.all_busy_ns), share(sums.some_busy_ns),
                share(sums.none_busy_ns));
}

/// What happened once is no habit: ", 97 % of it in step 5 alone".
std::string once_text(const IdleShare& share) {
  if (!share.most_in_step || 2 * share.most_ns <= share.ns) return {};
  return format(", {} of it in step {} alone",
                percent_of(static_cast<double>(share.most_ns) / static_cast<double>(share.ns)), *share.most_in_step);
}

}  // namespace

void judge_data_loading(const RuleContext& context, std::vector<Finding>& findings) {
  const Usual& usual = context.all_but_stragglers;
  if (!tells_idle_time(usual)) return;
  const std::int64_t data = usual.total.idle_ns_of(IdleCause::data);
  const auto severity = severity_of(usual.share(data), data_limits);
  if (severity == FindingSeverity::info) return;
  const LoaderSums loaders = sum_loaders(context.report);
  findings.push_back(
      {"data_loading", severity, format("{} of the time the ranks wait for data", percent_of(usual.share(data))),
       format("{} {} inside data-loading spans{}", duration_text(usual.mean(data)),
              usual.steps > 0 ? "per step and rank" : "per rank in the whole recording", workers_text(loaders)),
       advice_for_data(loaders), usual.per_step(data), std::nullopt, std::nullopt});
}

void judge_idle(const RuleContext& context, std::vector<Finding>& findings) {
  const Usual& usual = context.all_but_stragglers;
  if (!tells_idle_time(usual)) return;
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
