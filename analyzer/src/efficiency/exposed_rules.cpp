// Time in which only communication runs (metrics.md 20), beside the factors that judge the same time.
#include <algorithm>

#include "efficiency/exposed_operation.h"
#include "efficiency/parts.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rules/severity.h"
#include "split/row_sums.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

/// What most of the exposed communication is.
enum class Exposed : std::uint8_t {
  moving,
  waiting_for_straggler,
  waiting_for_slow_connection,
  waiting_for_changing_ranks,
  ranks_missing,
  unmatched
};

/// `hiding`: how the operation with most of it is hidden.
std::string advice_for(Exposed exposed, std::string_view hiding) {
  switch (exposed) {
    case Exposed::moving:
      return std::string{hiding};
    case Exposed::waiting_for_straggler:
      return "Fix the slow rank first: most of this is waiting for it.";
    case Exposed::waiting_for_slow_connection:
      return "Fix the slow connection first: ranks that it delays arrive late.";
    case Exposed::waiting_for_changing_ranks:
      return "Find out who arrives last (--only blame shows it) and even out the work before the collectives.";
    case Exposed::ranks_missing:
      return format("{}, unless this is mostly waiting for ranks that were not recorded.",
                    hiding.substr(0, hiding.rfind('.')));
    case Exposed::unmatched:
      return "It is not known how much of this is waiting, because operations were not matched: see why with --only "
             "collectives.";
  }
  return {};
}

/// What was not split is unknown, not 0.
std::string parts_of_exposed(const Usual& usual) {
  const TimeSplit& total = usual.total;
  const std::int64_t known = total.exposed_wait_ns + total.exposed_transfer_ns;
  if (known == 0) return " (it is not known how much of it is waiting and how much is transfer)";
  std::string text = format(": {} waiting, {} transfer", duration_text(usual.per_step(total.exposed_wait_ns)),
                            duration_text(usual.per_step(total.exposed_transfer_ns)));
  if (const std::int64_t either = total.exposed_comm_ns - known; either != 0)
    text += format(", {} either waiting or transfer", duration_text(usual.per_step(either)));
  return text;
}

std::string hidden_part(const Usual& usual) {
  if (usual.total.overlapped_comm_ns == 0) return "no communication is hidden behind compute";
  return format("another {} is hidden behind compute", duration_text(usual.per_step(usual.total.overlapped_comm_ns)));
}

/// Whom the others mostly waited for, in the end.
std::string most_blamed(const Report& report) {
  if (!report.blame || report.blame->rows.empty()) return {};
  const BlameRow& row = report.blame->rows.front();
  const double share = static_cast<double>(row.cost_ns()) / static_cast<double>(report.blame->total_ns);
  if (share < 0.5) return {};
  return format("; {} of the waiting is due to rank {} ({})", percent_of(share), row.rank.value,
                name_of(row.largest_part()));
}

/// "most of it is all-reduce, 8.20 ms per step and rank"; empty if no operation has most of it.
std::string cause_of(const Usual& usual, const ExposedOperation& most) {
  if (most.name.empty() || 2 * most.exposed_ns <= usual.total.exposed_comm_ns) return {};
  return format("most of it is {}, {} per step and rank", most.name, duration_text(usual.per_step(most.exposed_ns)));
}

/// True if what slow connections cost is a good part of the waiting.
bool is_due_to_slow_connection(const Report& report, const Usual& usual) {
  if (!report.tcp_links) return false;
  std::int64_t cost_ns = 0;
  for (const SlowTcpLink& slow : report.tcp_links->slow) cost_ns = std::max(cost_ns, slow.cost_ns.value_or(0));
  return cost_ns > 0 && 4 * cost_ns >= usual.per_step(usual.total.exposed_wait_ns);
}

}  // namespace

void judge_exposed_communication(const RuleContext& context, std::vector<Finding>& findings) {
  const Report& report = context.report;
  const Usual& usual = context.everybody;
  if (usual.steps == 0) return;  // a whole recording holds start-up and shut-down
  const TimeSplit& total = usual.total;
  const double share = usual.share(total.exposed_comm_ns);
  // What the others wait for a slow rank, or for ranks with more work, is a finding of its own: said once.
  const bool straggler = report.stragglers && !report.stragglers->rows.empty();
  const bool slow_connection = is_due_to_slow_connection(report, usual);
  const bool explained = straggler || slow_connection || imbalance_of(context) != FindingSeverity::info;
  Finding finding;
  finding.severity =
      severity_of(usual.share(total.exposed_comm_ns - (explained ? total.exposed_wait_ns : 0)), exposed_comm_limits);
  if (finding.severity == FindingSeverity::info) return;
  const bool waiting = 2 * total.exposed_wait_ns > total.exposed_comm_ns;
  finding.id = "exposed_communication";
  finding.title = format("{} of the time, only communication runs{}", percent_of(share),
                         waiting ? ", mostly waiting for other ranks" : "");
  finding.evidence =
      format("{} of exposed communication per step and rank{}; {}",
             duration_text(usual.per_step(total.exposed_comm_ns)), parts_of_exposed(usual), hidden_part(usual));
  if (waiting) finding.evidence += most_blamed(report);
  const bool unknown = 2 * (total.exposed_wait_ns + total.exposed_transfer_ns) < total.exposed_comm_ns;
  const bool missing = report.world_size > std::ssize(report.ranks);
  Exposed moves = Exposed::moving;
  if (unknown) moves = missing ? Exposed::ranks_missing : Exposed::unmatched;
  Exposed waits = Exposed::waiting_for_changing_ranks;
  if (slow_connection) waits = Exposed::waiting_for_slow_connection;
  if (straggler) waits = Exposed::waiting_for_straggler;
  const ExposedOperation most = report.overlap ? most_exposed(*report.overlap) : ExposedOperation{};
  finding.advice = advice_for(waiting ? waits : moves, advice_to_hide(most.use));
  if (!waiting) finding.cause = cause_of(usual, most);
  // Headroom of metrics.md 3.4; waiting is given back by fixing whoever is late, which is said there.
  const std::int64_t uncovered_compute = total.compute_ns - total.overlapped_comm_ns;
  finding.gain_ns_per_step = usual.per_step(std::min(total.exposed_transfer_ns, uncovered_compute));
  findings.push_back(std::move(finding));
}

}  // namespace rankscope::analyzer
