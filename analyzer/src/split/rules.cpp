#include "split/parts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rules/severity.h"
#include "split/idle_parts.h"
#include "split/row_sums.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

constexpr std::string_view profile_less =
    "Profile fewer steps, after one warm-up step of the profiler, with fewer details (stacks, memory).";

constexpr std::int64_t least_samples = 5;  // of a line of Python code that is named

bool is_graph_launch(std::string_view name) {
  return name.starts_with("cudaGraphLaunch") || name.starts_with("cuGraphLaunch") || name.starts_with("hipGraphLaunch");
}

/// Those that use graphs are not told to.
bool uses_graphs(const Run& run) {
  return std::ranges::any_of(run.spans(), [&run](const Span& span) {
    return span.kind == SpanKind::graph || (span.kind == SpanKind::runtime && is_graph_launch(run.text(span.name)));
  });
}

/// Where most of this time is the launch of graphs, another advice holds.
bool waits_for_graphs(const Usual& usual, std::int64_t late_ns) {
  std::int64_t ns = 0;
  for (const IdleShare& share : usual.idle_shares)
    if (share.detail == IdleDetail::launching && is_graph_launch(share.call)) ns += share.ns - share.outside_ns;
  return 2 * ns > late_ns;
}

/// A line of Python code outside of operators: of a mean rank, with the samples of all.
struct HostLine {
  std::string_view function;
  std::string_view file;
  std::int64_t line = 0;
  std::int64_t samples = 0;
  std::int64_t ns_per_step = 0;
};
/// Slow ranks, which are named with their own code, are left out.
std::optional<HostLine> longest_host_line(const RuleContext& context) {
  if (!context.report.python_stacks) return std::nullopt;
  std::map<std::tuple<std::string_view, std::string_view, std::int64_t>, HostLine> sums;
  std::int64_t ranks = 0;
  for (const RankCode& code : context.report.python_stacks->ranks) {
    if (std::ranges::find(context.stragglers, code.rank) != context.stragglers.end()) continue;
    ++ranks;
    for (const CodeLine& line : code.lines) {
      if (line.phase != CodePhase::host) continue;
      HostLine& sum = sums[{line.file, line.function, line.line}];
      sum = {line.function, line.file, line.line, sum.samples + line.samples, sum.ns_per_step + code.per_step(line.ns)};
    }
  }
  const auto longest = std::ranges::max_element(sums, {}, [](const auto& sum) { return sum.second.ns_per_step; });
  if (longest == sums.end() || longest->second.samples < least_samples) return std::nullopt;
  longest->second.ns_per_step /= ranks;
  return longest->second;
}

/// The line in which the ranks spend at least a quarter of the time that is lost because the host launched late, or
/// did what was not recorded.
std::optional<HostLine> line_of_idle(const RuleContext& context, const Usual& usual,
                                     const std::vector<IdlePartSum>& parts) {
  std::int64_t by_host = 0;
  for (const IdlePartSum& sum : parts)
    if (sum.part == IdlePart::late_launch || sum.part == IdlePart::outside_spans) by_host += sum.ns;
  std::optional<HostLine> line = longest_host_line(context);
  if (by_host <= 0 || !line || 4 * line->ns_per_step < usual.mean(by_host)) return std::nullopt;
  return line;
}

/// "hf.py:8 (<module>)"
std::string place_text(const HostLine& line) { return format("{}:{} ({})", line.file, line.line, line.function); }

/// "; of the Python code outside of operators, hf.py:8 (<module>) takes longest: 21.7 ms per step"
std::string host_line_text(const std::optional<HostLine>& line) {
  if (!line) return {};
  return format("; of the Python code outside of operators, {} takes longest: {} per step", place_text(*line),
                duration_text(line->ns_per_step));
}

std::string advice_for_late_host(const RuleContext& context, const Usual& usual, std::int64_t late_ns) {
  if (waits_for_graphs(usual, late_ns))
    return "Graphs start long after they were launched: the first launch of a graph uploads it (cudaGraphUpload does "
           "that ahead of time), and a graph that is instantiated again is uploaded again.";
  const bool graphs = uses_graphs(context.run);
  if (!context.report.uses_pytorch)
    return format("The host launches work too late (--only ranks shows where). {}, or use fewer, larger kernels.",
                  graphs ? "Capture more of the program in CUDA graphs" : "Use CUDA graphs");
  return format(
      "The host launches work too late (--only ranks shows in which operators). Use larger batches or fewer small "
      "operations, or {}.",
      graphs ? "capture more of the step in CUDA graphs" : "use CUDA graphs or torch.compile");
}

std::string advice_for(const RuleContext& context, const Usual& usual, const IdlePartSum& largest,
                       const std::optional<HostLine>& line) {
  switch (largest.part) {
    case IdlePart::late_launch:
      return advice_for_late_host(context, usual, largest.ns);
    case IdlePart::sync:
      return format("Remove blocking synchronizations from the step ({}barriers, joins).",
                    context.report.uses_pytorch ? ".item(), " : "");
    case IdlePart::short_gaps:
      return format("There are many short kernels: {}fused kernels or larger batches close the gaps.",
                    uses_graphs(context.run) ? "" : "CUDA graphs, ");
    case IdlePart::outside_spans:
      if (line) return format("Look at {} first: the ranks spend most of this time there.", place_text(*line));
      return "Look in the timeline at what the host does between operations; larger batches or fewer small operations "
             "help.";
    case IdlePart::other_stream:
      return "Streams wait for each other: look in the timeline at what the other stream does during these gaps, and "
             "whether its work must come first.";
    case IdlePart::inside_graph:
      return "The gaps lie inside launches of graphs: the kernels of a graph wait for each other, for copies or for "
             "host nodes, or some kernels were not recorded.";
    case IdlePart::profiler:
      return std::string{profile_less};
    case IdlePart::nothing_launched:
      return "Nothing more was launched: check whether the program did something else in this time, or had finished "
             "before the profiler stopped.";
    case IdlePart::no_launch_record:
      return "Record launch calls to see what the host did during this time: torch.profiler with activities=[CPU, "
             "CUDA], nsys with --trace=cuda,nvtx.";
    case IdlePart::began_late:
      return "The work was queued in time but started late: look at these gaps in the timeline. Kernels may be missing "
             "from the trace, or the device was busy with something that was not recorded.";
  }
  return {};
}

std::int64_t sum_of(const std::vector<IdlePartSum>& parts) {
  std::int64_t sum = 0;
  for (const IdlePartSum& part : parts) sum += part.ns;
  return sum;
}

/// The advice on the largest part, and how much that is if it is not nearly all.
std::string advice_for_idle(const RuleContext& context, const Usual& usual, const std::vector<IdlePartSum>& parts,
                            const std::optional<HostLine>& line) {
  const std::int64_t rest = sum_of(parts);
  const IdlePartSum& largest = parts.front();
  std::string text = advice_for(context, usual, largest, line);
  if (10 * largest.ns < 9 * rest)
    text += format(" This applies to {} of the {} of idle time.", duration_text(usual.mean(largest.ns)),
                   duration_text(usual.mean(rest)));
  const auto late = std::ranges::find(parts, IdlePart::began_late, &IdlePartSum::part);
  if (late != parts.end() && late != parts.begin() && 10 * late->ns >= rest)
    text += format(
        " In the {} of idle time before work that was already queued, kernels may be missing from the trace, or the "
        "device was busy with something that was not recorded.",
        duration_text(usual.mean(late->ns)));
  return text;
}

/// What happened once is no habit: ", 97 % of it in step 5 alone".
std::string once_text(const IdleShare& share) {
  if (!share.most_in_step || 2 * share.most_ns <= share.ns) return {};
  return format(", {} of it in step {} alone",
                percent_of(static_cast<double>(share.most_ns) / static_cast<double>(share.ns)), *share.most_in_step);
}

/// "; longest within the largest part: the host was late in aten::mm, 29.6 ms"; empty where the part says as much.
std::string longest_within(IdlePart part, const Usual& usual) {
  const IdleShare* largest = nullptr;
  const auto length = [](const IdleShare& share) { return share.ns - share.outside_ns; };
  for (const IdleShare& share : usual.idle_shares)
    if (share.cause != IdleCause::data && part_of(share) == part &&
        (largest == nullptr || length(share) > length(*largest)))
      largest = &share;
  if (largest == nullptr) return {};
  const std::string& where = largest->range.empty() ? largest->call : largest->range;
  const std::string once = usual.steps > usual.ranks ? once_text(*largest) : std::string{};
  if (where.empty() && once.empty()) return {};
  const std::string_view what = words_of(*largest);
  return format("; longest within the largest part: {}{}{}{}, {}{}", what.starts_with("host") ? "the " : "", what,
                where.empty() ? "" : " in ", where, duration_text(usual.mean(length(*largest))), once);
}

/// "147 ms idle per step and rank: 143 ms because the host launched late, 4.33 ms in short gaps (≤ 10 µs)"
std::string idle_text(const Usual& usual, const std::vector<IdlePartSum>& parts, std::int64_t rest) {
  std::string text = format("{} idle per {}:", duration_text(usual.mean(rest)), usual.mean_of());
  for (const IdlePartSum& sum : parts)
    text +=
        format("{}{} {}", &sum == &parts.front() ? " " : ", ", duration_text(usual.mean(sum.ns)), words_of(sum.part));
  text += longest_within(parts.front().part, usual);
  if (usual.steps == 0)
    text += format("; not counted: {} before the first device work and {} after the last",
                   duration_text(usual.mean(usual.before_work_ns)), duration_text(usual.mean(usual.after_work_ns)));
  return text;
}

}  // namespace

void judge_idle(const RuleContext& context, std::vector<Finding>& findings) {
  const Usual usual = all_but_named(context, findings, finding_id::unequal_host_time);
  if (!usual.shows_idle_time()) return;
  const std::vector<IdlePartSum> parts = idle_parts(usual);
  const std::int64_t rest = sum_of(parts);
  const FindingSeverity severity = severity_of(usual.share_of_work(rest), idle_limits);
  if (severity == FindingSeverity::info) return;
  const std::optional<HostLine> line = line_of_idle(context, usual, parts);
  Finding finding{std::string{finding_id::idle},
                  severity,
                  format("{} of the time{}, nothing runs", percent_of(usual.share_of_work(rest)), usual.which_time()),
                  idle_text(usual, parts, rest) + host_line_text(line),
                  advice_for_idle(context, usual, parts, line),
                  usual.per_step(parts.front().ns),
                  std::nullopt,
                  std::nullopt};
  finding.cause =
      format("largest part: {} (out of {} of idle time per {}) {}", duration_text(usual.mean(parts.front().ns)),
             duration_text(usual.mean(rest)), usual.mean_of(), words_of(parts.front().part)) +
      host_line_text(line);
  finding.why_no_gain = why_no_gain(parts.front().part);
  if (!finding.why_no_gain.empty()) finding.gain_ns_per_step = 0;
  findings.push_back(std::move(finding));
}

/// Inside the cause `other`.
void judge_profiler_overhead(const RuleContext& context, std::vector<Finding>& findings) {
  const Usual& usual = context.everybody;
  std::int64_t ns = 0;
  for (const IdleShare& share : usual.idle_shares)
    if (share.detail == IdleDetail::profiler_overhead) ns += share.ns;
  const auto severity = severity_of(usual.share(ns), profiler_limits);
  if (severity == FindingSeverity::info) return;
  findings.push_back({"profiler_overhead", severity,
                      format("{} of the time, the job waits for the profiler", percent_of(usual.share(ns))),
                      format("nothing ran for {} per {} during the profiler's own work", duration_text(usual.mean(ns)),
                             usual.mean_of()),
                      std::string{profile_less}, 0, std::nullopt, std::nullopt});
}

Usual all_but_named(const RuleContext& context, std::span<const Finding> findings, std::string_view id) {
  std::vector<RankId> left_out = context.stragglers;
  for (const Finding& finding : findings)
    if (finding.id == id && finding.rank) left_out.push_back(*finding.rank);
  if (left_out.size() == context.stragglers.size()) return context.all_but_stragglers;
  return sum_ranks(context.report.rank_rows, context.options, left_out);
}

}  // namespace rankscope::analyzer
