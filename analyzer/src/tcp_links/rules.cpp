#include <algorithm>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/words.h"
#include "rules/severity.h"
#include "split/row_sums.h"
#include "tcp_links/parts.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

std::string title_of(const SlowTcpLink& slow) {
  std::string what = format("the connections to rank {} are slow", slow.to.value);
  if (slow.from.is_set())
    what = slow.to.is_set() ? format("the connection from rank {} to rank {} is slow", slow.from.value, slow.to.value)
                            : format("rank {} sends slowly on its connections", slow.from.value);
  return format("{}: data waits for the network {} of the time", what, percent_text(slow.backlog_share));
}

std::string evidence_of(const SlowTcpLink& slow) {
  const std::string speed =
      slow.gbps ? format("data was sent at {} while more data waited; ", speed_text(*slow.gbps)) : std::string{};
  return format("TCP: {}on {}, data waits {} of the time{}", speed,
                counted(static_cast<std::int64_t>(slow.compared), "other connection"), percent_text(slow.usual_share),
                slow.compared > 1 ? " (median)" : "");
}

/// A rank that is late for a reason of its own also takes its data late, which looks like a slow network to its
/// senders.
bool leads_to_slow_rank(const Report& report, const SlowTcpLink& slow) {
  return slow.to.is_set() && report.stragglers &&
         std::ranges::any_of(report.stragglers->rows, [&](const Straggler& row) {
           return row.rank == slow.to && row.kind != StragglerKind::network;
         });
}

FindingSeverity severity_of_link(const RuleContext& context, const SlowTcpLink& slow) {
  const auto step_ns = static_cast<double>(context.everybody.per_step(context.everybody.total.window_ns));
  const bool known = slow.cost_ns && step_ns > 0;
  const double lost = known ? static_cast<double>(*slow.cost_ns) / step_ns : slow.backlog_share - slow.usual_share;
  const bool few = std::ssize(context.report.ranks) < ranks_for_critical;
  return capped(severity_of(lost, gain_limits), known && !few ? FindingSeverity::critical : FindingSeverity::major);
}

}  // namespace

std::string subject_of(const SlowTcpLink& slow) {
  const auto end = [](RankId rank) { return rank.is_set() ? format("{}", rank.value) : std::string{"any"}; };
  return slow.to.is_set() ? format("tcp {} {}", end(slow.from), end(slow.to)) : format("tcp {}", slow.from.value);
}

bool is_at_end(const TcpLinksSection& section, const SlowTcpLink& slow, RankId rank) {
  if (slow.from == rank || slow.to == rank) return true;
  return (!slow.to.is_set() || !slow.from.is_set()) && std::ranges::any_of(section.links, [&](const TcpLink& link) {
           return slow.from.is_set() ? link.from == slow.from && link.to == rank
                                     : link.to == slow.to && link.from == rank;
         });
}

/// metrics.md 6.10
void judge_tcp_links(const RuleContext& context, std::vector<Finding>& findings) {
  const Report& report = context.report;
  if (!report.tcp_links) return;
  for (const SlowTcpLink& slow : report.tcp_links->slow) {
    if (leads_to_slow_rank(report, slow)) continue;
    Finding finding;
    finding.id = finding_id::slow_tcp_link;
    finding.severity = severity_of_link(context, slow);
    if (finding.severity == FindingSeverity::info) continue;
    finding.title = title_of(slow);
    finding.evidence = evidence_of(slow);
    finding.advice =
        "Check the network between the hosts: a port or cable with reduced speed or errors, the wrong interface "
        "(GLOO_SOCKET_IFNAME, NCCL_SOCKET_IFNAME), or other traffic on the same path.";
    finding.gain_ns_per_step = slow.cost_ns.value_or(0);
    if (!slow.cost_ns) finding.why_no_gain = cost_is_unknown;
    finding.rank = slow.from.is_set() ? slow.from : slow.to;
    finding.subject = subject_of(slow);
    findings.push_back(std::move(finding));
  }
}

}  // namespace rankscope::analyzer
