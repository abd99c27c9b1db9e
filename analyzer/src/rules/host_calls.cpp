// Calls of the host that make an accelerator run dry.
#include <algorithm>
#include <numeric>

#include "analyses/severity.h"
#include "rankscope/core/format.h"
#include "rules/rules.h"
#include "units.h"

namespace rankscope::analyzer {
namespace {

bool is_copy(std::string_view call) {
  return call.find("Memcpy") != std::string_view::npos || call.find("Memset") != std::string_view::npos;
}

/// Time in which nothing ran because the host waited in calls of one kind.
std::int64_t idle_in(const Usual& usual, bool copies) {
  std::int64_t ns = 0;
  for (const IdleShare& share : usual.idle_shares)
    if (share.cause == IdleCause::sync && is_copy(share.call) == copies) ns += share.ns;
  return ns;
}

std::string place_of(const HostCallRow& row) {
  const std::string& where = row.op.empty() ? row.range : row.op;
  return where.empty() ? row.call : format("{} in {}", row.call, where);
}

std::int64_t time_of(const std::vector<HostCallRow>& rows) {
  return std::accumulate(rows.begin(), rows.end(), std::int64_t{0},
                         [](std::int64_t sum, const HostCallRow& row) { return sum + row.ns; });
}

/// "3.10 ms of 412 calls per step and rank; most time in cudaStreamSynchronize in aten::item (2.90 ms)"
std::string calls_text(const Usual& usual, const std::vector<HostCallRow>& rows) {
  std::int64_t calls = 0;
  for (const HostCallRow& row : rows) calls += row.count;
  const auto most = std::ranges::max_element(rows, {}, &HostCallRow::ns);
  return format("{} of {} {}; most time in {} ({})", duration_text(usual.mean(time_of(rows))),
                counted(usual.mean(calls), "call"), usual.steps > 0 ? "per step and rank" : "per rank", place_of(*most),
                duration_text(usual.mean(most->ns)));
}

/// The gain is the time in which the device had nothing to do meanwhile, at most that of the calls: an upper bound,
/// since the host may be late anyway.
void judge_waits(const RuleContext& context, std::string_view id, std::string_view title, bool copies,
                 const std::vector<HostCallRow>& rows, std::string_view advice, std::vector<Finding>& findings) {
  const Usual& usual = context.everybody;
  const std::int64_t idle = std::min(idle_in(usual, copies), time_of(rows));
  const FindingSeverity severity = severity_of(usual.share(idle), gain_limits);
  if (severity == FindingSeverity::info || rows.empty()) return;
  findings.push_back({std::string{id}, severity, format("{} of the time {}", percent_of(usual.share(idle)), title),
                      calls_text(usual, rows), std::string{advice}, usual.per_step(idle), std::nullopt, std::nullopt});
}

}  // namespace

void judge_synchronizations(const RuleContext& context, std::vector<Finding>& findings) {
  if (!context.report.copies) return;
  judge_waits(context, "synchronizations", "devices have nothing to do, because the host waited for them", false,
              context.report.copies->synchronizations,
              "Read results of the device (.item(), .cpu(), print) once in many steps, and leave out explicit "
              "synchronizations: the host then runs ahead.",
              findings);
}

void judge_blocking_copies(const RuleContext& context, std::vector<Finding>& findings) {
  if (!context.report.copies) return;
  judge_waits(context, "blocking_copies", "devices have nothing to do, because a copy held the host up", true,
              context.report.copies->blocking_copies,
              "Copy from pinned memory (pin_memory=True) and without blocking (non_blocking=True), one batch ahead.",
              findings);
}

void judge_allocations(const RuleContext& context, std::vector<Finding>& findings) {
  if (!context.report.copies || context.report.copies->allocations.empty()) return;
  const Usual& usual = context.everybody;
  const std::vector<HostCallRow>& rows = context.report.copies->allocations;
  const std::int64_t ns = time_of(rows);
  const FindingSeverity severity = severity_of(usual.share(ns), gain_limits);
  if (severity == FindingSeverity::info) return;
  findings.push_back(
      {"allocations", severity,
       format("{} of the time the host allocates or frees device memory", percent_of(usual.share(ns))),
       calls_text(usual, rows),
       "The caching allocator gives memory back and takes it again: leave out empty_cache(), keep shapes alike, or "
       "set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.",
       usual.per_step(ns), std::nullopt, std::nullopt});
}

}  // namespace rankscope::analyzer
