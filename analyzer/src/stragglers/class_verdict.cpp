#include "stragglers/class_verdict.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "math/statistics.h"
#include "rankscope/core/format.h"
#include "rules/severity.h"
#include "stragglers/parts.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

// From which step on a rank is slow to the end (metrics.md 9.5).

constexpr double most_misplaced = 0.1;  // share of the steps that may be slow before, or not slow after

std::vector<bool> slow_steps(const OwnTimes& times, std::size_t peer, double ratio) {
  std::vector<bool> slow;
  std::vector<std::int64_t> in_step(times.size());
  for (std::size_t step = 0; step < times.front().size(); ++step) {
    for (std::size_t i = 0; i < times.size(); ++i) in_step[i] = times[i][step];
    const auto usual = static_cast<double>(median(without(in_step, peer)));
    slow.push_back(static_cast<double>(in_step[peer]) > usual * (1 + (ratio - 1) / 2));
  }
  return slow;
}

/// The steps from which on the rank needs more than its peers by half of what `ratio` says, up to the last one; nothing
/// where slow and usual steps are mixed.
std::optional<StepBlock> slow_end(const OwnTimes& times, std::size_t peer, double ratio) {
  const std::vector<bool> slow = slow_steps(times, peer, ratio);
  // With the first slow step at `first`: slow ones before it and others from it on stand on the wrong side.
  auto misplaced = static_cast<std::size_t>(std::ranges::count(slow, false));
  std::size_t least = misplaced;
  std::size_t first = 0;
  for (std::size_t i = 0; i < slow.size(); ++i) {
    slow[i] ? ++misplaced : --misplaced;
    if (misplaced < least) least = misplaced, first = i + 1;
  }
  if (static_cast<double>(least) > most_misplaced * static_cast<double>(slow.size())) return std::nullopt;
  return StepBlock{first, slow.size() - first};
}

// metrics.md 9.4.
constexpr double stall_sigmas = 3.5;
constexpr double stall_share = 0.10;
constexpr double most_of_steps = 0.50;
constexpr double least_of_wall = 0.02;
constexpr std::int64_t beyond_peers = 3;
constexpr std::size_t least_stalls = 2;
constexpr std::size_t least_stalls_of_few_peers = 3;
constexpr double least_of_wall_of_few_peers = 0.05;

/// excess[peer][step]: own time beyond the rank's own median, less what the step cost the other ranks too.
OwnTimes excesses(const OwnTimes& times) {
  OwnTimes distances = times;
  for (auto& own : distances) {
    const std::int64_t usual = median(own);
    for (std::int64_t& value : own) value -= usual;
  }
  OwnTimes excess = distances;
  std::vector<std::int64_t> in_step(times.size());
  for (std::size_t step = 0; step < times.front().size(); ++step) {
    for (std::size_t peer = 0; peer < times.size(); ++peer) in_step[peer] = distances[peer][step];
    for (std::size_t peer = 0; peer < times.size(); ++peer) {
      excess[peer][step] -= median(without(in_step, peer));
    }
  }
  return excess;
}

/// max(3.5 s, 10 %) of 9.4, with s from all ranks and steps.
std::int64_t stall_threshold(const OwnTimes& times, const OwnTimes& excess) {
  std::vector<std::int64_t> all;
  std::vector<std::int64_t> usual;
  for (const auto& own : excess) all.insert(all.end(), own.begin(), own.end());
  for (const auto& own : times) usual.push_back(median(own));
  const auto centre = static_cast<double>(median(usual));
  const double sigma = std::max(robust_sigma(all), least_sigma * centre);
  return static_cast<std::int64_t>(std::max(stall_sigmas * sigma, stall_share * centre));
}

/// The distance of the stalls, if it is always the same but for one step.
std::optional<std::size_t> period_of(std::span<const std::size_t> steps) {
  if (steps.size() < least_stalls) return std::nullopt;
  std::size_t least = steps[1] - steps[0];
  std::size_t most = least;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    least = std::min(least, steps[i] - steps[i - 1]);
    most = std::max(most, steps[i] - steps[i - 1]);
  }
  if (least < 2 || most - least > 1) return std::nullopt;
  return (steps.back() - steps.front() + (steps.size() - 1) / 2) / (steps.size() - 1);
}

constexpr double least_rotating_ratio = 1.05;   // metrics.md 9.4
constexpr double least_few_peers_ratio = 1.15;  // 9.3
constexpr double arrival_chance = 0.01;         // 9.4: Binomial tail below 0.01 / n
constexpr std::size_t least_late_steps = 10;
constexpr double worth_explaining = 0.1;  // share of the lag from which on the unexplained rest is printed

OwnTimeComparison compared(std::int64_t own_ns, std::int64_t peers_ns) {
  const double ratio = peers_ns > 0 ? static_cast<double>(own_ns) / static_cast<double>(peers_ns) : 1;
  return {.own_ns = own_ns, .peers_ns = peers_ns, .ratio = ratio, .flagged = true};
}

std::vector<std::int64_t> medians_over(const OwnTimes& times, std::span<const std::size_t> steps) {
  std::vector<std::int64_t> medians;
  for (const auto& own : times) {
    std::vector<std::int64_t> values;
    for (const std::size_t step : steps) values.push_back(own[step]);
    medians.push_back(median(values));
  }
  return medians;
}

/// The medians of the rank and of its peers over these steps.
OwnTimeComparison comparison_over(const OwnTimes& times, std::span<const std::size_t> steps, std::size_t peer) {
  const std::vector<std::int64_t> medians = medians_over(times, steps);
  return compared(medians[peer], median(without(medians, peer)));
}

std::vector<std::size_t> steps_of(const StepBlock& block) {
  std::vector<std::size_t> steps(block.count);
  std::iota(steps.begin(), steps.end(), block.first);
  return steps;
}

std::vector<std::size_t> all_steps(const OwnTimes& times) { return steps_of({0, times.front().size()}); }

/// How much faster the job would be: up to the next slowest rank.
std::int64_t gain_of(std::span<const std::int64_t> medians, std::size_t peer) {
  return std::max<std::int64_t>(0, medians[peer] - std::ranges::max(without(medians, peer)));
}

std::string unexplained_text(const Excess& excess, std::int64_t lag) {
  const auto rest = static_cast<double>(excess.unexplained_ns);
  if (std::abs(rest) < worth_explaining * static_cast<double>(lag)) return {};
  return format("; {} of the difference is unexplained", duration_text(excess.unexplained_ns));
}

std::string step_list(const std::vector<std::int64_t>& counted, std::span<const std::size_t> steps) {
  constexpr std::size_t most = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(steps.size(), most); ++i) {
    text += format("{}{}", i == 0 ? "" : ", ", counted[steps[i]]);
  }
  return steps.size() > most ? text + ", ..." : text;
}

}  // namespace

std::vector<Stalls> find_stalls(const OwnTimes& times, std::int64_t wall_ns) {
  if (times.size() < 2 || times.front().empty()) return {};
  const OwnTimes excess = excesses(times);
  const std::int64_t threshold = stall_threshold(times, excess);
  std::vector<std::int64_t> largest;
  for (const auto& own : excess) largest.push_back(std::ranges::max(own));
  std::vector<Stalls> found;
  for (std::size_t peer = 0; peer < times.size(); ++peer) {
    const std::int64_t of_peers = std::ranges::max(without(largest, peer));
    Stalls stalls;
    stalls.peer = peer;
    for (std::size_t step = 0; step < excess[peer].size(); ++step) {
      if (excess[peer][step] <= std::max(threshold, beyond_peers * of_peers)) continue;
      stalls.steps.push_back(step);
      stalls.excess_ns += excess[peer][step];
    }
    const auto steps = static_cast<double>(excess[peer].size());
    const bool seldom = static_cast<double>(stalls.steps.size()) < most_of_steps * steps;
    const bool few_peers = times.size() < firm_peers;
    const double least_share = few_peers ? least_of_wall_of_few_peers : least_of_wall;
    const bool matters = static_cast<double>(stalls.excess_ns) >= least_share * static_cast<double>(wall_ns);
    const bool again = stalls.steps.size() >= (few_peers ? least_stalls_of_few_peers : least_stalls);
    if (!again || !seldom || !matters) continue;
    stalls.period = period_of(stalls.steps);
    found.push_back(std::move(stalls));
  }
  return found;
}

ClassVerdict::ClassVerdict(const PeerClass& peers, const StepsSection& steps, const CollectiveFacts& facts)
    : peers_(peers),
      steps_(steps),
      arrivals_(facts.arrivals),
      facts_(facts),
      times_(own_times(peers)),
      counted_(counted_steps(steps)),
      windows_(compare_windows(times_)) {}

Straggler ClassVerdict::row_for(std::size_t peer, Persistence persistence) const {
  Straggler row;
  row.rank = peers_.rows[peer]->rank;
  row.persistence = persistence;
  if (counted_.size() < least_steps) row.certainty = Certainty::few_steps;
  if (peers_.size() == 2) row.certainty = Certainty::of_two;
  if (peers_.size() == 3) row.certainty = Certainty::of_three;
  return row;
}

/// metrics.md 20 with the caps of 9.1 and 9.3.
void ClassVerdict::grade(Straggler& row, double ratio) const {
  const bool few_peers = peers_.size() < firm_peers;
  row.severity = worse(severity_of(ratio, few_peers ? straggler_limits_few : straggler_limits),
                       severity_of(steps_.share_of_step(row.gain_ns_per_step), gain_limits));
  if (few_peers || counted_.size() < few_steps) row.severity = capped(row.severity, FindingSeverity::major);
}

/// What slow steps cost, and why they are slow; `where` tells which steps these are.
Straggler ClassVerdict::row_over(std::size_t peer, std::span<const std::size_t> steps, const OwnTimeComparison& size,
                                 std::string_view where) const {
  Straggler row = row_for(peer, Persistence::persistent);
  row.slowdown = size.ratio;
  row.lag_ns_per_step = size.own_ns - size.peers_ns;
  row.gain_ns_per_step = gain_of(medians_over(times_, steps), peer);
  const Excess excess = explain_excess(peers_, peer, steps, row.lag_ns_per_step);
  row.kind = excess.kind;
  if (is_alone_with_it(excess, size.peers_ns)) row.certainty = Certainty::fact;
  row.evidence = format("{}; own time {}, its peers {} (median), {:.2f} x, {}{}", describe_excess(row.rank, excess),
                        duration_text(size.own_ns), duration_text(size.peers_ns), size.ratio, where,
                        unexplained_text(excess, row.lag_ns_per_step));
  return row;
}

/// Where a rank that windows flagged was slow: from the first of them on if the slowness has a clear begin, and to the
/// last of them only in runs long enough to tell that it went away.
StepBlock ClassVerdict::part_of(std::size_t peer, double slowdown) const {
  const auto& own = windows_.comparisons[peer];
  const StepBlock all{0, times_.front().size()};
  const auto first = static_cast<std::size_t>(std::ranges::find(own, true, &OwnTimeComparison::flagged) - own.begin());
  std::size_t last = own.size() - 1;
  while (!own[last].flagged) --last;
  const bool ended = own.size() > consecutive_windows && last + 1 < own.size();
  const std::size_t end = ended ? windows_.blocks[last].first + windows_.blocks[last].count : all.count;
  if (first == 0) return {0, end};
  const auto clear = ended ? std::nullopt : slow_end(times_, peer, slowdown);
  if (all.count < few_steps) return clear && clear->count >= least_late_steps ? *clear : all;
  const std::size_t begin = clear ? clear->first : windows_.blocks[first].first;
  return {begin, end - begin};
}

/// Names the part of the run, unless it is all of it, and spreads its gain over the run.
void ClassVerdict::limit(Straggler& row, const StepBlock& part) const {
  const std::size_t steps = counted_.size();
  if (part.count == steps) return;
  row.since_step = counted_[part.first];
  if (part.first + part.count < steps) row.until_step = counted_[part.first + part.count - 1];
  for (std::size_t i = part.first; i < part.first + part.count; ++i)
    row.step_ns_while_slow += std::ranges::lower_bound(steps_.steps, counted_[i], {}, &Step::index)->wall_ns;
  row.slow_steps = static_cast<std::int64_t>(part.count);
  row.step_ns_while_slow /= row.slow_steps;
  row.gain_ns_while_slow = row.gain_ns_per_step;
  row.gain_ns_per_step = row.gain_ns_while_slow * row.slow_steps / static_cast<std::int64_t>(steps);
}

std::optional<Straggler> ClassVerdict::persistent_by_windows(std::size_t peer) const {
  if (!windows_.is_persistent(peer)) return std::nullopt;
  std::vector<std::int64_t> own;
  std::vector<std::int64_t> peers_own;
  std::vector<std::size_t> flagged_steps;
  for (std::size_t i = 0; i < windows_.blocks.size(); ++i) {
    const OwnTimeComparison& comparison = windows_.comparisons[peer][i];
    if (!comparison.flagged) continue;
    own.push_back(comparison.own_ns);
    peers_own.push_back(comparison.peers_ns);
    for (std::size_t k = 0; k < windows_.blocks[i].count; ++k) flagged_steps.push_back(windows_.blocks[i].first + k);
  }
  const OwnTimeComparison flagged = compared(median(own), median(peers_own));
  const StepBlock part = part_of(peer, flagged.ratio);
  const std::vector<std::size_t> part_steps = steps_of(part);
  const OwnTimeComparison over_part = comparison_over(times_, part_steps, peer);
  // Flagged windows alone overstate what chance adds to some of them; but a rank can be slow in half of the steps only.
  const bool is_slow_throughout = over_part.ratio > (1 + flagged.ratio) / 2;
  const std::string windows = format("in {} of {}", own.size(), text_of(windows_.blocks));
  Straggler row = is_slow_throughout
                      ? row_over(peer, part_steps, over_part,
                                 own.size() == windows_.blocks.size()
                                     ? windows + " across the run"
                                     : format("over {}; above the limit {}", counted(part.count, "step"), windows))
                      : row_over(peer, flagged_steps, flagged, windows + " across the run");
  limit(row, part);
  grade(row, row.slowdown);
  return row;
}

/// metrics.md 9.5: too late for three windows, but clearly slow from some step to the end.
std::optional<Straggler> ClassVerdict::persistent_since(std::size_t peer) const {
  if (windows_.blocks.empty() || !windows_.comparisons[peer].back().flagged) return std::nullopt;
  const auto part = slow_end(times_, peer, windows_.comparisons[peer].back().ratio);
  if (!part || part->first == 0 || part->count < least_late_steps) return std::nullopt;
  const OwnTimeComparison size = compare_chosen(times_, *part, peer);
  if (!size.flagged) return std::nullopt;
  Straggler row = row_over(peer, steps_of(*part), size,
                           format("from step {} on, in the last {} of {}", counted_[part->first], part->count,
                                  counted(counted_.size(), "step")));
  limit(row, *part);
  grade(row, row.slowdown);
  return row;
}

/// metrics.md 9.4, second form: the same rank keeps arriving last.
std::optional<Straggler> ClassVerdict::persistent_by_arrivals(std::size_t peer) const {
  const auto n = static_cast<double>(peers_.size());
  const std::int64_t hits = arrivals_.times_last(peers_.rows[peer]->rank);
  if (peers_.size() < firm_peers || hits == 0 || arrivals_.by_operation) return std::nullopt;
  const double share = static_cast<double>(hits) / static_cast<double>(arrivals_.trials);
  if (share < std::max(0.5, 3 / n) || binomial_tail(hits, arrivals_.trials, 1 / n) >= arrival_chance / n)
    return std::nullopt;
  const std::vector<std::size_t> steps = all_steps(times_);
  const std::vector<std::int64_t> medians = medians_over(times_, steps);
  const OwnTimeComparison size = compared(medians[peer], median(without(medians, peer)));
  if (size.ratio < least_rotating_ratio) return std::nullopt;
  Straggler row = row_for(peer, Persistence::persistent);
  row.slowdown = size.ratio;
  row.lag_ns_per_step = size.own_ns - size.peers_ns;
  row.gain_ns_per_step = gain_of(medians, peer);
  const Excess excess = explain_excess(peers_, peer, steps, row.lag_ns_per_step);
  row.kind = excess.kind;
  row.evidence =
      format("{}; {}; own time {}, its peers {} (median), {:.2f} x{}", describe_excess(row.rank, excess),
             arrived_last_text("this rank", hits, counted(arrivals_.trials, "step"), true), duration_text(size.own_ns),
             duration_text(size.peers_ns), size.ratio, unexplained_text(excess, row.lag_ns_per_step));
  grade(row, size.ratio);
  return row;
}

/// metrics.md 9.4, third form: nearly all waiting is for this rank.
std::optional<Straggler> ClassVerdict::persistent_by_collectives(std::size_t peer) const {
  const std::vector<std::size_t> steps = all_steps(times_);
  const std::int64_t peers_ns = median(without(medians_over(times_, steps), peer));
  const double least_ratio = peers_.size() < firm_peers ? least_few_peers_ratio : least_rotating_ratio;
  const auto long_ns = static_cast<std::int64_t>((least_ratio - 1) * static_cast<double>(peers_ns));
  const auto evidence = evidence_against(peers_, peer, facts_, long_ns);
  if (!evidence) return std::nullopt;
  const OwnTimeComparison size = compared(peers_ns + evidence->lag_ns, peers_ns);
  if (size.ratio < least_ratio) return std::nullopt;
  Straggler row = row_for(peer, Persistence::persistent);
  if (!evidence->lasts && row.certainty == Certainty::fact) row.certainty = Certainty::few_steps;
  row.slowdown = size.ratio;
  row.on_average = true;
  row.lag_ns_per_step = evidence->lag_ns;
  row.gain_ns_per_step = evidence->lag_ns;
  if (!evidence->of_steps) row.evidence_units = evidence->units;
  row.kind = evidence->kind;
  row.evidence = evidence->text();
  grade(row, row.slowdown);
  return row;
}

Straggler ClassVerdict::transient_row(const Stalls& stalls) const {
  Straggler row = row_for(stalls.peer, Persistence::transient);
  const OwnTimeComparison size = comparison_over(times_, stalls.steps, stalls.peer);
  row.slowdown = size.ratio;
  row.lag_ns_per_step = size.own_ns - size.peers_ns;
  row.gain_ns_per_step = stalls.excess_ns / static_cast<std::int64_t>(counted_.size());
  if (stalls.steps.back() - stalls.steps.front() + 1 == stalls.steps.size()) {  // not now and then, but in one piece
    row.since_step = counted_[stalls.steps.front()];
    if (stalls.steps.back() + 1 < counted_.size()) row.until_step = counted_[stalls.steps.back()];
  }
  const Excess excess = explain_excess(peers_, stalls.peer, stalls.steps, row.lag_ns_per_step);
  row.kind = excess.kind;
  const std::string period = stalls.period ? format(", every {}", counted(*stalls.period, "step")) : std::string{};
  row.evidence = format("this rank is slow in {} of {} steps ({}{}); in these steps, {}; the rank loses {} in total",
                        stalls.steps.size(), counted_.size(), step_list(counted_, stalls.steps), period,
                        describe_excess(row.rank, excess), duration_text(stalls.excess_ns));
  const double mean_ratio = compared(size.peers_ns + row.gain_ns_per_step, size.peers_ns).ratio;
  grade(row, mean_ratio);
  return row;
}

std::vector<Straggler> ClassVerdict::transient() const {
  std::vector<Straggler> rows;
  std::int64_t wall = 0;
  for (const Step& step : steps_.steps) {
    if (steps_.counted(step.index)) wall += step.wall_ns;
  }
  for (const Stalls& stalls : find_stalls(times_, wall)) rows.push_back(transient_row(stalls));
  return rows;
}

std::vector<Straggler> ClassVerdict::stragglers() const {
  std::vector<Straggler> rows;
  std::vector<Straggler> stalling = transient();
  for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
    const auto stalls = std::ranges::find(stalling, peers_.rows[peer]->rank, &Straggler::rank);
    std::optional<Straggler> row = persistent_by_windows(peer);
    if (!row) row = persistent_by_arrivals(peer);
    if (!row) row = persistent_since(peer);
    if (!row && stalls != stalling.end()) row = std::move(*stalls);
    if (!row) row = persistent_by_collectives(peer);
    if (row) rows.push_back(std::move(*row));
  }
  std::erase_if(rows, [](const Straggler& row) { return row.severity == FindingSeverity::info; });
  return rows;
}

}  // namespace rankscope::analyzer
