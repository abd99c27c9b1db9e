#include "split/parts.h"

#include <algorithm>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rules/severity.h"
#include "split/row_sums.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

bool is_graph_launch(std::string_view name) {
  return name.starts_with("cudaGraphLaunch") || name.starts_with("cuGraphLaunch") || name.starts_with("hipGraphLaunch");
}

/// Those that use graphs are not told to.
bool uses_graphs(const Run& run) {
  return std::ranges::any_of(run.spans(), [&run](const Span& span) {
    return span.kind == SpanKind::graph || (span.kind == SpanKind::runtime && is_graph_launch(run.text(span.name)));
  });
}

std::int64_t sum_of(const std::vector<IdleShare>& shares, auto is_meant) {
  std::int64_t ns = 0;
  for (const IdleShare& share : shares)
    if (is_meant(share)) ns += share.ns;
  return ns;
}

/// Where most of it is the time of a host that is late.
std::string advice_for_late_host(const Run& run, const TimeSplit& split, const std::vector<IdleShare>& shares) {
  const auto starts_graph = [](const IdleShare& share) {
    return share.detail == IdleDetail::launching && is_graph_launch(share.call);
  };
  if (2 * sum_of(shares, starts_graph) > split.idle_ns_of(IdleCause::host))
    return "Graphs start long after they were launched: the first launch of a graph uploads it (cudaGraphUpload does "
           "that ahead of time), and a graph that is instantiated again is uploaded again.";
  return format(
      "The host launches too late (WHY NOTHING RAN shows in which operators): larger batches, {}fewer small operations "
      "help.",
      uses_graphs(run) ? "graphs of more of the step or " : "CUDA graphs, torch.compile or ");
}

std::string advice_for_idle(const Run& run, const TimeSplit& split, const std::vector<IdleShare>& shares) {
  const auto most = [&split](IdleCause cause) {
    return 2 * split.idle_ns_of(cause) > split.idle_ns - split.idle_ns_of(IdleCause::data);
  };
  const auto nothing_followed = [](const IdleShare& share) { return share.detail == IdleDetail::nothing_followed; };
  if (2 * sum_of(shares, nothing_followed) > split.idle_ns)
    return "Most of it is time in which nothing more was launched: the program did something else, or had finished "
           "before the profiler stopped.";
  if (most(IdleCause::sync)) return "Remove blocking synchronizations from the step (.item(), barriers, joins).";
  if (most(IdleCause::kernel_gap))
    return format("There are many short kernels: {}fused kernels or larger batches close the gaps.",
                  uses_graphs(run) ? "" : "CUDA graphs, ");
  if (most(IdleCause::host) && !shares.empty()) return advice_for_late_host(run, split, shares);
  if (most(IdleCause::other) && !shares.empty()) {
    const auto first = std::ranges::find(shares, IdleCause::other, &IdleShare::cause);
    if (first->detail == IdleDetail::no_launch_record)
      return "Record launch calls to see what the host did during this time: torch.profiler with activities=[CPU, "
             "CUDA], nsys with --trace=cuda,nvtx.";
    if (first->detail == IdleDetail::inside_graph)
      return "The gaps lie inside launches of graphs: their kernels wait for each other, for copies or for host nodes, "
             "or not all of them were recorded.";
    if (first->detail == IdleDetail::waits_for_event)
      return "Streams wait for each other: look at what the other stream does at that time, and check whether that "
             "order is needed.";
    return "The work was launched in time but started late: look at these gaps in the timeline.";
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
    causes += format("{}{} due to {}", causes.empty() ? "" : ", ", duration_text(usual.mean(total.idle_ns_of(cause))),
                     words_of(cause));
  }
  const auto most =
      std::ranges::find_if(usual.idle_shares, [](const IdleShare& share) { return share.cause != IdleCause::data; });
  if (most != usual.idle_shares.end())
    causes += format("; largest part: {}{}{}, {}{}", words_of(*most), most->range.empty() ? "" : " in ", most->range,
                     duration_text(usual.mean(most->ns)), usual.steps > usual.ranks ? once_text(*most) : "");
  findings.push_back({"idle", severity, format("{} of the time, nothing runs", percent_of(usual.share(rest))),
                      usual.steps > 0 ? "per step and rank: " + causes
                                      : "over the whole recording, start-up and shut-down included: " + causes,
                      advice_for_idle(context.run, total, usual.idle_shares), usual.per_step(rest), std::nullopt,
                      std::nullopt});
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
       format("{} of the time, the profiler held the job up", percent_of(usual.share(ns))),
       format("nothing ran for {} {} during the profiler's own work", duration_text(usual.mean(ns)),
              usual.steps > 0 ? "per step and rank" : "per rank"),
       "Profile fewer steps, after one warm-up step of the profiler, with fewer details (stacks, memory).", 0,
       std::nullopt, std::nullopt});
}

Usual all_but_named(const RuleContext& context, std::span<const Finding> findings, std::string_view id) {
  std::vector<RankId> left_out = context.stragglers;
  for (const Finding& finding : findings)
    if (finding.id == id && finding.rank) left_out.push_back(*finding.rank);
  if (left_out.size() == context.stragglers.size()) return context.all_but_stragglers;
  return sum_ranks(context.report.rank_rows, context.options, left_out);
}

}  // namespace rankscope::analyzer
