#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "bandwidth/parts.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rules/severity.h"
#include "split/row_sums.h"
#include "steps/crowded_cpus.h"

namespace rankscope::analyzer {
namespace {

bool has(const SlowPath& path, RankId rank) { return std::ranges::find(path.ranks, rank) != path.ranks.end(); }

/// A rank that is late with its communication is reported as such, with the path.
bool explained_by_straggler(const Report& report, const SlowPath& path) {
  return path.ranks.size() <= 2 && report.stragglers &&
         std::ranges::any_of(report.stragglers->rows, [&](const Straggler& row) {
           return row.kind == StragglerKind::network && has(path, row.rank);
         });
}

/// A slow connection on the same path is reported with how long data waited for it.
bool is_on_path(const SlowTcpLink& slow, const SlowPath& path) {
  const auto is_at = [](RankId end, RankId rank) { return !end.is_set() || end == rank; };
  switch (path.kind) {
    case SlowPath::Kind::link:
      return is_at(slow.from, path.ranks[0]) && is_at(slow.to, path.ranks[1]);
    case SlowPath::Kind::sender:
      return slow.from == path.ranks[0] && !slow.to.is_set();
    case SlowPath::Kind::receiver:
      return slow.to == path.ranks[0] && !slow.from.is_set();
    case SlowPath::Kind::group:
      return path.ranks.size() == 2 && (!slow.from.is_set() || has(path, slow.from)) &&
             (!slow.to.is_set() || has(path, slow.to));
  }
  return false;
}

bool explained_by_tcp_link(const Report& report, const SlowPath& path) {
  return report.tcp_links &&
         std::ranges::any_of(report.tcp_links->slow, [&](const SlowTcpLink& slow) { return is_on_path(slow, path); });
}

/// By its ranks: names of groups may differ from run to run.
std::string paths_of_finding(const SlowPath& path) {
  std::string text{name_of(path.kind)};
  for (const RankId rank : path.ranks) text += format(" {}", rank.value);
  return text;
}

/// What the ranks of a path run on; the rank at the other end of a sender's or receiver's path may be any.
struct Surroundings {
  bool accelerators = false;  ///< used by at least one of its ranks
  bool one_host = false;      ///< all data stays on it
  std::string crowded{};      ///< that a rank without an accelerator needs CPUs that its host does not have
};

using CrowdedCpus = std::map<StringId, double>;

Surroundings surroundings_of(const Run& run, const SlowPath& path, const CrowdedCpus& crowded) {
  const auto is_recorded = [&run](RankId rank) { return std::ranges::find(run.ranks(), rank) != run.ranks().end(); };
  const std::span<const RankId> ends = path.ranks.size() > 1 ? std::span{path.ranks} : run.ranks();
  std::set<std::string_view> hosts;
  for (const RankId rank : ends) hosts.insert(is_recorded(rank) ? run.text(run.process_of(rank).host) : "");
  Surroundings around;
  around.one_host = hosts.size() == 1 && !hosts.contains("");
  for (const RankId rank : path.ranks) {
    if (!is_recorded(rank)) continue;
    around.accelerators |= run.has_accelerator(rank);
    const auto host = crowded.find(run.process_of(rank).host);
    if (host != crowded.end() && !run.has_accelerator(rank))
      around.crowded = crowded_text(run.text(host->first), host->second);
  }
  return around;
}

std::string_view advice_for_group(const Surroundings& around) {
  if (!around.accelerators)
    return "Compare the links between these ranks with those between other ranks: look for link errors and "
           "congested network ports, and check which network interface the job uses.";
  if (around.one_host)
    return "Compare the links between these ranks with those between other ranks: check the topology (nvidia-smi "
           "topo -m), link errors, and how NCCL connects the devices (NCCL_DEBUG=INFO).";
  return "Compare the links between these ranks with those between other ranks: check the topology (nvidia-smi "
         "topo -m), link errors, congested network ports, and NCCL's choice of interface (NCCL_DEBUG=INFO).";
}

std::string_view advice_for(SlowPath::Kind kind, const Surroundings& around) {
  if (!around.crowded.empty())
    return "Give every rank enough CPUs: run fewer ranks, threads or other programs on its host. Then record again.";
  if (around.one_host && !around.accelerators)
    return "The data stays on one host: check which other programs used the CPUs and memory of that host at the time.";
  switch (kind) {
    case SlowPath::Kind::group:
      return advice_for_group(around);
    case SlowPath::Kind::link:
      return "Check the link between the two ranks for errors, a reduced speed, and other traffic on the same path.";
    case SlowPath::Kind::sender:
    case SlowPath::Kind::receiver:
      return around.one_host
                 ? "Check the links of that rank's device for errors, a reduced speed, and other jobs that use them."
                 : "Check the network port of that rank's host for errors, a reduced speed, and other jobs that use "
                   "it.";
  }
  return "";
}

/// A low speed alone is not critical: what it costs counts, too.
FindingSeverity severity_of(const SlowPath& path) {
  return capped(severity_of(1 - path.ratio, lost_speed_limits), severity_of(path.share, gain_limits));
}

/// Paths of one kind that became slow in the same step have one cause, probably.
constexpr std::size_t most_alike = 3;
struct AlikePaths {
  std::size_t count = 0;
  std::size_t last_reported = 0;  ///< row of the findings
};

}  // namespace

/// metrics.md 9.7 and 20. Of a path that is slow in several operations or sizes the one that costs most is said.
void judge_slow_paths(const RuleContext& context, std::vector<Finding>& findings) {
  const Report& report = context.report;
  if (!report.bandwidth || context.everybody.steps == 0) return;
  std::vector<std::pair<SlowPath::Kind, std::vector<RankId>>> reported;
  std::map<std::pair<SlowPath::Kind, std::int64_t>, AlikePaths> alike;
  const CrowdedCpus crowded = crowded_cpus(context.run, report.steps ? *report.steps : StepsSection{});
  for (const SlowPath& path : report.bandwidth->slow) {
    const std::pair what{path.kind, path.ranks};
    if (explained_by_straggler(report, path) || explained_by_tcp_link(report, path)) continue;
    if (std::ranges::find(reported, what) != reported.end()) continue;
    reported.push_back(what);
    Finding finding;
    finding.id = path.kind == SlowPath::Kind::group ? "slow_group" : "slow_link";
    finding.severity = severity_of(path);
    if (finding.severity == FindingSeverity::info) continue;
    finding.title = title_of(path);
    finding.evidence = evidence_of(path);
    const Surroundings around = surroundings_of(context.run, path, crowded);
    if (!around.crowded.empty())
      finding.evidence += format("; {}, so these ranks may be slow because they wait for CPUs", around.crowded);
    finding.advice = advice_for(path.kind, around);
    finding.gain_ns_per_step = path.cost_ns * context.everybody.ranks / context.everybody.steps;
    if (path.ranks.size() == 1) finding.rank = path.ranks.front();
    finding.subject = paths_of_finding(path);
    finding.step = path.since_step;
    if (path.since_step) {
      AlikePaths& same = alike[{path.kind, *path.since_step}];
      if (++same.count > most_alike) continue;
      same.last_reported = findings.size();
    }
    findings.push_back(std::move(finding));
  }
  for (const auto& [what, same] : alike)
    if (same.count > most_alike)
      findings[same.last_reported].evidence +=
          format("; {} also became slow in step {} (--only bandwidth shows them)",
                 counted(same.count - most_alike, format("more {}", name_of(what.first))), what.second);
}

}  // namespace rankscope::analyzer
