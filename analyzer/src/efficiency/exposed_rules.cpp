// Time in which only communication runs (metrics.md 20), beside the factors that judge the same time.
#include <algorithm>

#include "blame/parts.h"
#include "efficiency/exposed_operation.h"
#include "efficiency/parts.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rules/severity.h"
#include "split/row_sums.h"
#include "tcp_links/parts.h"
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

/// `hiding`: how the operation with most of it is hidden. `late`: the rank that causes most of the waiting; null:
/// several do.
std::string advice_for(Exposed exposed, std::string_view hiding, const BlameRow* late) {
  switch (exposed) {
    case Exposed::moving:
      return std::string{hiding};
    case Exposed::waiting_for_straggler:
      return "Fix the slow rank first: most of the exposed communication is waiting for that rank.";
    case Exposed::waiting_for_slow_connection:
      return "Fix the slow connection first: the ranks that it delays arrive late.";
    case Exposed::waiting_for_changing_ranks:
      if (late != nullptr)
        return format(
            "Find out why rank {} arrives late (mainly {}; --only blame shows all causes), and even out the work "
            "before the collectives.",
            late->rank.value, words_of(late->largest_part()));
      return "Find out which ranks arrive last (--only blame shows them) and even out the work before the collectives.";
    case Exposed::ranks_missing:
      return format("{}, unless most of the exposed communication is waiting for ranks that were not recorded.",
                    hiding.substr(0, hiding.rfind('.')));
    case Exposed::unmatched:
      return "It is not known how much of the exposed communication is waiting, because operations were not matched "
             "across ranks: --only collectives shows why.";
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

double share_of_waiting(const BlameSection& blame, const BlameRow& row) {
  return blame.total_ns > 0 ? static_cast<double>(row.cost_ns()) / static_cast<double>(blame.total_ns) : 0;
}

/// Whom the others mostly waited for, in the end; null if no rank causes half of the waiting.
const BlameRow* most_blamed(const Report& report) {
  if (!report.blame || report.blame->rows.empty()) return nullptr;
  const BlameRow& row = report.blame->rows.front();
  return share_of_waiting(*report.blame, row) < 0.5 ? nullptr : &row;
}

/// "83 % of the waiting is due to rank 2 (mainly compute)"
std::string blame_text(const BlameSection& blame, const BlameRow& row) {
  return format("{} of the waiting is due to rank {} (mainly {})", percent_of(share_of_waiting(blame, row)),
                row.rank.value, words_of(row.largest_part()));
}

/// "most of it is all-reduce, 8.20 ms per step and rank"; empty if no operation has most of it.
std::string cause_of(const Usual& usual, const ExposedOperation& most) {
  if (most.name.empty() || 2 * most.exposed_ns <= usual.total.exposed_comm_ns) return {};
  return format("most of it is {}, {} per step and rank", most.name, duration_text(usual.per_step(most.exposed_ns)));
}

/// What the others waited for ranks that were late since their own transfers took long, at the end of a slow
/// connection.
std::int64_t waited_for_ends(const TcpLinksSection& links, const BlameSection& blame) {
  std::int64_t ns = 0;
  for (const BlameRow& row : blame.rows) {
    const auto ends_at = [&](const SlowTcpLink& slow) { return is_at_end(links, slow, row.rank); };
    if (std::ranges::any_of(links.slow, ends_at)) ns += row.of(DelayPart::network);
  }
  return ns;
}

/// What slow connections cost in all steps and ranks.
std::int64_t cost_of_connections(const Report& report, const Usual& usual) {
  if (!report.tcp_links) return 0;
  std::int64_t cost_ns = 0;
  for (const SlowTcpLink& slow : report.tcp_links->slow) cost_ns = std::max(cost_ns, slow.cost_ns.value_or(0));
  const std::int64_t waited_ns = report.blame ? waited_for_ends(*report.tcp_links, *report.blame) : 0;
  return std::max(cost_ns * usual.steps, waited_ns);
}

/// What the others waited for the ranks that are named as slow. Without blame nobody knows for whom they waited.
std::int64_t cost_of_stragglers(const RuleContext& context) {
  const Report& report = context.report;
  if (context.stragglers.empty()) return 0;
  if (!report.blame) return context.everybody.total.exposed_wait_ns;
  std::int64_t cost_ns = 0;
  for (const BlameRow& row : report.blame->rows)
    if (std::ranges::find(context.stragglers, row.rank) != context.stragglers.end()) cost_ns += row.cost_ns();
  return cost_ns;
}

/// What the others wait for the rank that computes most, if that is a finding of its own.
std::int64_t cost_of_imbalance(const RuleContext& context) {
  if (imbalance_of(context) == FindingSeverity::info) return 0;
  const EfficiencyFactors& run = context.report.efficiency->run;
  return (run.most_compute_ns - run.compute_ns / run.ranks) * context.everybody.ranks;
}

/// Waiting that other findings are about, by what they say.
struct Explained {
  std::int64_t by_stragglers_ns = 0;
  std::int64_t by_connections_ns = 0;
  std::int64_t all_ns = 0;  ///< at most all waiting; a slow rank may be the one that computes most
};

Explained explained_waiting(const RuleContext& context) {
  Explained explained{cost_of_stragglers(context), cost_of_connections(context.report, context.everybody)};
  const std::int64_t by_ranks = std::max(explained.by_stragglers_ns, cost_of_imbalance(context));
  explained.all_ns = std::min(context.everybody.total.exposed_wait_ns, by_ranks + explained.by_connections_ns);
  return explained;
}

Exposed kind_of_waiting(const Explained& explained, std::int64_t waiting_ns) {
  if (2 * explained.by_stragglers_ns > waiting_ns) return Exposed::waiting_for_straggler;
  const bool connection = explained.by_connections_ns > 0 && 4 * explained.by_connections_ns >= waiting_ns;
  return connection ? Exposed::waiting_for_slow_connection : Exposed::waiting_for_changing_ranks;
}

/// Work that is shared evenly takes its mean; one rank as fast as its peers may save more than that.
ReplayedGain gain_without_waiting(const Section<WhatIfSection>& replay) {
  ReplayedGain gain = replayed_gain(replay, &WhatIfSection::ideal_ns);
  if (!gain.why_unknown.empty()) return gain;
  for (const RankReplay& rank : replay->ranks)
    if (rank.without_rank_ns)
      gain.ns_per_step = std::max(gain.ns_per_step, replay->replayed_ns - *rank.without_rank_ns);
  return gain;
}

}  // namespace

void judge_exposed_communication(const RuleContext& context, std::vector<Finding>& findings) {
  const Report& report = context.report;
  const Usual& usual = context.everybody;
  if (usual.steps == 0) return;  // a whole recording holds start-up and shut-down
  const TimeSplit& total = usual.total;
  const double share = usual.share(total.exposed_comm_ns);
  // What the others wait for a slow rank, or for ranks with more work, is a finding of its own: said once.
  const Explained explained = explained_waiting(context);
  Finding finding;
  finding.severity = severity_of(usual.share(total.exposed_comm_ns - explained.all_ns), exposed_comm_limits);
  if (finding.severity == FindingSeverity::info) return;
  const bool waiting = 2 * total.exposed_wait_ns > total.exposed_comm_ns;
  finding.id = finding_id::exposed_communication;
  finding.title = format("{} of the time, only communication runs{}", percent_of(share),
                         waiting ? ", mostly waiting for other ranks" : "");
  finding.evidence =
      format("{} of exposed communication per step and rank{}; {}",
             duration_text(usual.per_step(total.exposed_comm_ns)), parts_of_exposed(usual), hidden_part(usual));
  const BlameRow* const late = waiting ? most_blamed(report) : nullptr;
  if (late != nullptr) finding.evidence += "; " + blame_text(*report.blame, *late);
  const bool unknown = 2 * (total.exposed_wait_ns + total.exposed_transfer_ns) < total.exposed_comm_ns;
  const bool missing = report.world_size > std::ssize(report.ranks);
  Exposed moves = Exposed::moving;
  if (unknown) moves = missing ? Exposed::ranks_missing : Exposed::unmatched;
  const Exposed waits = kind_of_waiting(explained, total.exposed_wait_ns);
  const ExposedOperation most = report.overlap ? most_exposed(*report.overlap) : ExposedOperation{};
  finding.advice = advice_for(waiting ? waits : moves, advice_to_hide(most.use), late);
  if (!waiting) finding.cause = cause_of(usual, most);
  if (waits == Exposed::waiting_for_changing_ranks && late != nullptr) finding.cause = blame_text(*report.blame, *late);
  // The waits for a slow rank or connection are saved by that finding; here it is what the transfers take.
  const bool evened_out = waiting && waits == Exposed::waiting_for_changing_ranks;
  ReplayedGain gain = evened_out ? gain_without_waiting(report.what_if)
                                 : replayed_gain(report.what_if, &WhatIfSection::ideal_network_ns);
  finding.gain_ns_per_step = gain.ns_per_step;
  finding.why_no_gain = std::move(gain.why_unknown);
  findings.push_back(std::move(finding));
}

}  // namespace rankscope::analyzer
