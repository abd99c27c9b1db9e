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
  const std::string what =
      slow.to.is_set() ? format("the connection from rank {} to rank {} is slow", slow.from.value, slow.to.value)
                       : format("rank {} sends slowly on its connections", slow.from.value);
  return format("{}: data waits for the network {} of the time", what, percent_text(slow.backlog_share));
}

std::string evidence_of(const SlowTcpLink& slow) {
  const std::string speed =
      slow.gbps ? format("sent at {} while data waited; ", speed_text(*slow.gbps)) : std::string{};
  return format("TCP; {}on {}, data waits {} of the time{}", speed,
                counted(static_cast<std::int64_t>(slow.compared), "other connection"), percent_text(slow.usual_share),
                slow.compared > 1 ? " (median)" : "");
}

std::string subject_of(const SlowTcpLink& slow) {
  return slow.to.is_set() ? format("tcp {} {}", slow.from.value, slow.to.value) : format("tcp {}", slow.from.value);
}

}  // namespace

/// metrics.md 6.10
void judge_tcp_links(const RuleContext& context, std::vector<Finding>& findings) {
  const Report& report = context.report;
  if (!report.tcp_links || context.everybody.steps == 0) return;
  const auto step_ns = static_cast<double>(context.everybody.per_step(context.everybody.total.window_ns));
  if (step_ns <= 0) return;
  for (const SlowTcpLink& slow : report.tcp_links->slow) {
    Finding finding;
    finding.id = "slow_tcp_link";
    finding.severity = severity_of(static_cast<double>(slow.cost_ns) / step_ns, gain_limits);
    if (finding.severity == FindingSeverity::info) continue;
    finding.title = title_of(slow);
    finding.evidence = evidence_of(slow);
    finding.advice =
        "Check the network between the hosts: a port or cable with reduced speed or errors, the wrong interface "
        "(GLOO_SOCKET_IFNAME, NCCL_SOCKET_IFNAME), or other traffic on the same path.";
    finding.gain_ns_per_step = slow.cost_ns;
    finding.rank = slow.from;
    finding.subject = subject_of(slow);
    findings.push_back(std::move(finding));
  }
}

}  // namespace rankscope::analyzer
