// Ranks that differ clearly from their peers in what waiting for others does not change, for runs without recorded
// collectives (metrics.md 9.8).
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "math/statistics.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rules/severity.h"
#include "split/communication.h"
#include "split/peers.h"
#include "stragglers/code.h"
#include "stragglers/crowded_hosts.h"
#include "stragglers/kind.h"
#include "stragglers/own_time_windows.h"
#include "stragglers/parts.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

constexpr double least_excess = 0.05;  // of a mean step
constexpr double clear_sigmas = 3.5;   // of the other ranks
constexpr std::int64_t steps_of_three = 2;
constexpr double least_cpu_points = 25;
constexpr double least_cpu_ratio = 1.25;
constexpr std::int64_t least_missing_steps = 2;
constexpr double least_missing_share = 0.05;

/// Times of a step that are a rank's own.
struct Quantity {
  std::string_view id;
  std::string_view title;  ///< after "rank 2"
  std::int64_t (*of)(const TimeSplit& split);
  std::optional<StragglerKind> kind;  ///< whose lines of code show where the time goes
  bool may_be_waiting;                ///< of two or three ranks the healthy ones may have more of it
  std::string_view advice;
};

constexpr std::array quantities{
    Quantity{finding_id::unequal_data_wait, "waits longer than its peers for its data",
             [](const TimeSplit& split) { return part_of(split, Component::data); }, StragglerKind::data, false,
             data_loader_advice},
    Quantity{finding_id::unequal_host_time, "spends more host time outside recorded work than its peers",
             [](const TimeSplit& split) { return part_of(split, Component::host); }, StragglerKind::host, true,
             "Check what delays the rank's host thread between operations: CPU binding, other jobs on the host, "
             "logging, blocking calls."},
    Quantity{"unequal.step_time", "has longer steps than its peers",
             [](const TimeSplit& split) { return split.window_ns; }, std::nullopt, false,
             "Compare the device, the host and the work of this rank with those of its peers."},
};

/// What is looked at, and where findings go.
struct Unequal {
  const RuleContext& context;
  const CodeOfRanks& code;
  const CrowdedHosts& crowded;
  const PeerClass& peers;
  std::size_t steps = 0;
  std::vector<Finding>& findings;
  std::set<RankId> named{};
};

Certainty certainty_of(const Unequal& unequal) {
  if (unequal.steps < least_steps) return Certainty::few_steps;
  if (unequal.peers.size() == 2) return Certainty::of_two;
  return unequal.peers.size() == 3 ? Certainty::of_three : Certainty::fact;
}

/// Without waits, the rank that has more of something need not be the one that delays the others.
std::string_view doubt_of(Certainty certainty) {
  return certainty == Certainty::of_two ? "; two ranks always differ, and nothing shows which one is abnormal"
                                        : doubt_about(certainty);
}

void add(Unequal& unequal, Finding finding) {
  if (!finding.certainty) finding.certainty = certainty_of(unequal);
  if (unequal.steps < least_steps) finding.severity = capped(finding.severity, FindingSeverity::minor);
  finding.evidence += doubt_of(*finding.certainty);
  if (!unequal.peers.caveat.empty()) finding.evidence += "; caveat: " + unequal.peers.caveat;
  finding.why_no_gain = format("{}, so it is not known how long the other ranks wait for this rank",
                               cause_alone(unequal.context.report.why_not_compared));
  unequal.named.insert(*finding.rank);
  unequal.findings.push_back(std::move(finding));
}

OwnTimes times_of(const Unequal& unequal, const Quantity& quantity) {
  OwnTimes times;
  for (const RankRow* row : unequal.peers.rows) {
    std::vector<std::int64_t>& own = times.emplace_back();
    for (const TimeSplit& split : row->per_step) own.push_back(quantity.of(split));
  }
  return times;
}

/// In how many steps the rank is above the others by half of the excess or more.
std::int64_t steps_above(const OwnTimes& times, std::size_t peer, std::int64_t excess) {
  std::int64_t above = 0;
  std::vector<std::int64_t> in_step(times.size());
  for (std::size_t step = 0; step < times[peer].size(); ++step) {
    for (std::size_t i = 0; i < times.size(); ++i) in_step[i] = times[i][step];
    if (times[peer][step] >= median(without(in_step, peer)) + excess / 2) ++above;
  }
  return above;
}

bool is_clear(double excess, std::span<const std::int64_t> others) {
  return excess >= clear_sigmas * robust_sigma(others);
}

Finding finding_on(RankId rank, std::string_view id, FindingSeverity severity) {
  Finding finding;
  finding.id = id;
  finding.severity = severity;
  finding.rank = rank;
  return finding;
}

std::string code_of(const Unequal& unequal, const Quantity& quantity, RankId rank, std::int64_t excess_ns) {
  if (!quantity.kind) return {};
  Straggler row{.rank = rank, .kind = *quantity.kind, .lag_ns_per_step = excess_ns, .evidence = {}};
  unequal.code.explain(unequal.peers, row);
  return code_text(row);
}

void judge_time(Unequal& unequal, const Quantity& quantity, const OwnTimes& times, std::size_t peer) {
  std::vector<std::int64_t> medians;
  for (const auto& own : times) medians.push_back(median(own));
  const std::vector<std::int64_t> others = without(medians, peer);
  const std::int64_t usual = median(others);
  const std::int64_t excess = medians[peer] - usual;
  const double share = unequal.context.report.steps->share_of_step(excess);
  if (share < least_excess || !is_clear(static_cast<double>(excess), others)) return;
  const RankId rank = unequal.peers.rows[peer]->rank;
  if (share < crowded_slowdown - 1 && unequal.crowded.have(rank)) return;  // 9.10
  const auto steps = static_cast<std::int64_t>(unequal.steps);
  const std::int64_t above = steps_above(times, peer, excess);
  if (3 * above < steps_of_three * steps) return;
  const bool few = times.size() < firm_peers;
  const FindingSeverity most = few && quantity.may_be_waiting ? FindingSeverity::minor : FindingSeverity::major;
  Finding finding = finding_on(rank, quantity.id, capped(severity_of(share, data_limits), most));
  finding.title = format("rank {} {}: {} per step compared with {}", rank.value, quantity.title,
                         duration_text(medians[peer]), duration_text(usual));
  finding.evidence =
      format("medians over {}, compared with {}; the time of this rank is clearly longer in {} of these steps",
             counted(steps, "step"), counted(times.size() - 1, "peer"), above);
  if (few && quantity.may_be_waiting)
    finding.evidence +=
        "; it is not known whether the rank itself is slow, or spends this time waiting for a rank that is slow in "
        "another part of the step";
  finding.evidence += code_of(unequal, quantity, rank, excess);
  finding.advice = quantity.advice;
  if (few && !quantity.may_be_waiting && usual == 0 && unequal.steps >= least_steps)
    finding.certainty = Certainty::fact;  // as of 9.3: it alone has such time
  add(unequal, std::move(finding));
}

/// First what nothing else explains; time outside of work may be waiting for a rank that is named already.
void judge_times(Unequal& unequal) {
  for (const Quantity& quantity : quantities) {
    const bool explained = quantity.may_be_waiting && unequal.peers.size() < firm_peers && !unequal.named.empty();
    if (explained || (quantity.may_be_waiting && !unequal.peers.caveat.empty())) continue;
    const OwnTimes times = times_of(unequal, quantity);
    const std::set<RankId> named = unequal.named;
    for (std::size_t peer = 0; peer < times.size(); ++peer)
      if (!named.contains(unequal.peers.rows[peer]->rank)) judge_time(unequal, quantity, times, peer);
  }
}

/// Of two or three ranks only the one that uses more: it may be the one that works while the others wait.
void judge_cpu(Unequal& unequal) {
  std::vector<std::int64_t> percents;
  for (const RankRow* row : unequal.peers.rows)
    if (row->cpu_percent) percents.push_back(std::llround(*row->cpu_percent));
  if (percents.size() < unequal.peers.size() || unequal.steps < least_steps || !unequal.peers.caveat.empty()) return;
  const bool explained = unequal.peers.size() < firm_peers && !unequal.named.empty();
  for (std::size_t peer = 0; !explained && peer < percents.size(); ++peer) {
    const std::vector<std::int64_t> others = without(percents, peer);
    const auto usual = static_cast<double>(median(others));
    const auto own = static_cast<double>(percents[peer]);
    const auto [less, more] = std::minmax(own, usual);
    const RankId rank = unequal.peers.rows[peer]->rank;
    if (unequal.crowded.have(rank)) continue;  // 9.10: the scheduler's choice
    if (more - less < least_cpu_points || more < least_cpu_ratio * less || !is_clear(more - less, others)) continue;
    if (unequal.named.contains(rank) || (unequal.peers.size() < firm_peers && own < usual)) continue;
    Finding finding = finding_on(rank, "unequal.cpu_use", FindingSeverity::minor);
    finding.title = format("rank {} uses {} CPU than its peers: {:.0f} % of a core compared with {:.0f} %", rank.value,
                           own > usual ? "more" : "less", own, usual);
    finding.evidence = format("medians of the samples in steps; {}",
                              own > usual ? "the rank may be the one that works while the others wait"
                                          : "the rank waits more than its peers, or is kept from running");
    finding.advice =
        "Compare the rank and its host with the peers and their hosts (py-spy, top): look for more work, other jobs, "
        "and a different CPU binding.";
    add(unequal, std::move(finding));
  }
}

/// That it died says why it has fewer steps.
bool is_lost(const Unequal& unequal, RankId rank) {
  return std::ranges::any_of(unequal.findings, [rank](const Finding& other) {
    return other.rank == rank && (other.id == finding_id::rank_lost || other.id == finding_id::lost_at_start);
  });
}

void judge_step_counts(Unequal& unequal) {
  std::vector<std::int64_t> counts;
  for (const RankRow* row : unequal.peers.rows)
    counts.push_back(std::ssize(windows_of(*unequal.context.report.steps, row->rank)));
  for (std::size_t peer = 0; peer < counts.size(); ++peer) {
    const std::int64_t usual = median(without(counts, peer));
    const std::int64_t missing = usual - counts[peer];
    const bool clear = static_cast<double>(missing) >= least_missing_share * static_cast<double>(usual);
    const RankId rank = unequal.peers.rows[peer]->rank;
    if (missing < least_missing_steps || !clear || is_lost(unequal, rank)) continue;
    Finding finding = finding_on(rank, "unequal.steps", FindingSeverity::minor);
    finding.title = format("rank {} has fewer steps than its peers: {} compared with {}", rank.value,
                           counted(counts[peer], "step"), usual);
    finding.evidence = "the rank fell behind, ended earlier, or was recorded for a shorter time";
    finding.advice =
        "Compare the end time of the rank, and the number of batches in its loader, with those of its peers.";
    add(unequal, std::move(finding));
  }
}

}  // namespace

void judge_unequal_ranks(const RuleContext& context, std::vector<Finding>& findings) {
  const Report& report = context.report;
  if (report.why_not_compared.empty() || !report.steps || !report.rank_rows) return;
  const std::vector<PeerClass> classes = peer_classes(context.run, *report.steps, *report.rank_rows);
  const CodeOfRanks code{context.run, *report.steps};
  const CrowdedHosts crowded{context.run, *report.steps};
  for (const PeerClass& peers : classes) {
    if (peers.size() < 2) continue;
    Unequal unequal{context, code, crowded, peers, peers.rows.front()->per_step.size(), findings};
    const bool alike =
        std::ranges::all_of(peers.rows, [&](const RankRow* row) { return row->per_step.size() == unequal.steps; });
    if (alike) judge_times(unequal);
    judge_cpu(unequal);
    judge_step_counts(unequal);
  }
}

}  // namespace rankscope::analyzer
