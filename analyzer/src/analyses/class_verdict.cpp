#include "analyses/class_verdict.h"

#include <algorithm>
#include <numeric>

#include "analyses/severity.h"
#include "analyses/statistics.h"
#include "rankscope/core/format.h"
#include "units.h"

namespace rankscope::analyzer {
namespace {

constexpr double least_ratio = 1.05;      // metrics.md 9.4
constexpr double arrival_chance = 0.01;   // 9.4: Binomial tail below 0.01 / n
constexpr double worth_explaining = 0.1;  // share of the lag from which on the unexplained rest is printed

double median_ratio(std::vector<double> ratios) {
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::ranges::nth_element(ratios, middle);
  if (ratios.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(ratios.begin(), middle)) / 2;
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

std::vector<std::size_t> all_steps(const OwnTimes& times) {
  std::vector<std::size_t> steps(times.front().size());
  std::iota(steps.begin(), steps.end(), std::size_t{0});
  return steps;
}

/// How much faster the job would be: up to the next slowest rank.
std::int64_t gain_of(std::span<const std::int64_t> medians, std::size_t peer) {
  return std::max<std::int64_t>(0, medians[peer] - std::ranges::max(without(medians, peer)));
}

std::string unexplained_text(const Excess& excess, std::int64_t lag) {
  const auto rest = static_cast<double>(excess.unexplained_ns);
  if (std::abs(rest) < worth_explaining * static_cast<double>(lag)) return {};
  return format("; {} of the difference unexplained", duration_text(excess.unexplained_ns));
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

ClassVerdict::ClassVerdict(const PeerClass& peers, const StepsSection& steps, const Arrivals& arrivals)
    : peers_(peers),
      steps_(steps),
      arrivals_(arrivals),
      times_(own_times(peers)),
      counted_(counted_steps(steps)),
      windows_(compare_windows(times_)) {}

Straggler ClassVerdict::row_for(std::size_t peer, Persistence persistence) const {
  Straggler row;
  row.rank = peers_.rows[peer]->rank;
  row.persistence = persistence;
  if (peers_.size() == 2) row.certainty = Certainty::of_two;
  if (peers_.size() == 3) row.certainty = Certainty::of_three;
  if (counted_.size() < least_steps) row.certainty = Certainty::few_steps;
  return row;
}

/// metrics.md 20 with the caps of 9.1 and 9.3.
void ClassVerdict::grade(Straggler& row, double ratio) const {
  const bool few_peers = peers_.size() < firm_peers;
  const double share =
      steps_.median_ns > 0 ? static_cast<double>(row.gain_ns_per_step) / static_cast<double>(steps_.median_ns) : 0;
  row.severity =
      worse(severity_of(ratio, few_peers ? straggler_limits_few : straggler_limits), severity_of(share, gain_limits));
  if (few_peers || counted_.size() < few_steps) row.severity = capped(row.severity, FindingSeverity::major);
  if (counted_.size() < least_steps) row.severity = capped(row.severity, FindingSeverity::minor);
}

std::optional<Straggler> ClassVerdict::persistent_by_windows(std::size_t peer) const {
  if (!windows_.is_persistent(peer)) return std::nullopt;
  std::vector<double> ratios;
  std::vector<std::int64_t> lags;
  std::vector<std::int64_t> peers_own;
  std::vector<std::size_t> flagged_steps;
  for (std::size_t i = 0; i < windows_.blocks.size(); ++i) {
    const Comparison& comparison = windows_.comparisons[peer][i];
    if (!comparison.flagged) continue;
    ratios.push_back(comparison.ratio);
    lags.push_back(comparison.own_ns - comparison.peers_ns);
    peers_own.push_back(comparison.peers_ns);
    for (std::size_t k = 0; k < windows_.blocks[i].count; ++k) flagged_steps.push_back(windows_.blocks[i].first + k);
  }
  Straggler row = row_for(peer, Persistence::persistent);
  row.slowdown = median_ratio(ratios);
  row.lag_ns_per_step = median(lags);
  row.gain_ns_per_step = gain_of(medians_over(times_, flagged_steps), peer);
  const Excess excess = explain_excess(peers_, peer, flagged_steps, row.lag_ns_per_step);
  row.kind = excess.kind;
  if (is_alone_with_it(excess, median(peers_own))) row.certainty = Certainty::fact;
  const std::int64_t c = median(peers_own);
  row.evidence = format("{}; own time {} against {}, {:.2f} x, in {} of {} windows of {}{}",
                        describe_excess(row.rank, excess), duration_text(c + row.lag_ns_per_step), duration_text(c),
                        row.slowdown, ratios.size(), windows_.blocks.size(),
                        counted(windows_.blocks.front().count, "step"), unexplained_text(excess, row.lag_ns_per_step));
  grade(row, row.slowdown);
  return row;
}

/// metrics.md 9.4, second form: the same rank keeps arriving last.
std::optional<Straggler> ClassVerdict::persistent_by_arrivals(std::size_t peer) const {
  const auto n = static_cast<double>(peers_.size());
  const std::int64_t hits = arrivals_.times_last(peers_.rows[peer]->rank);
  if (peers_.size() < firm_peers || hits == 0 || arrivals_.trials == 0) return std::nullopt;
  const double share = static_cast<double>(hits) / static_cast<double>(arrivals_.trials);
  if (share < std::max(0.5, 3 / n) || binomial_tail(hits, arrivals_.trials, 1 / n) >= arrival_chance / n)
    return std::nullopt;
  const std::vector<std::size_t> steps = all_steps(times_);
  const std::vector<std::int64_t> medians = medians_over(times_, steps);
  const std::int64_t c = median(without(medians, peer));
  const double ratio = c > 0 ? static_cast<double>(medians[peer]) / static_cast<double>(c) : 1;
  if (ratio < least_ratio) return std::nullopt;
  Straggler row = row_for(peer, Persistence::persistent);
  row.slowdown = ratio;
  row.lag_ns_per_step = medians[peer] - c;
  row.gain_ns_per_step = gain_of(medians, peer);
  const Excess excess = explain_excess(peers_, peer, steps, row.lag_ns_per_step);
  row.kind = excess.kind;
  row.evidence =
      format("{}; it came last in {} of {} {}; own time {} against {}, {:.2f} x{}", describe_excess(row.rank, excess),
             hits, arrivals_.trials, arrivals_.by_unit ? "operations (few steps)" : "steps",
             duration_text(medians[peer]), duration_text(c), ratio, unexplained_text(excess, row.lag_ns_per_step));
  grade(row, ratio);
  return row;
}

Straggler ClassVerdict::transient_row(const Stalls& stalls) const {
  Straggler row = row_for(stalls.peer, Persistence::transient);
  const std::vector<std::int64_t> medians = medians_over(times_, stalls.steps);
  const std::int64_t c = median(without(medians, stalls.peer));
  row.slowdown = c > 0 ? static_cast<double>(medians[stalls.peer]) / static_cast<double>(c) : 1;
  row.lag_ns_per_step = medians[stalls.peer] - c;
  row.gain_ns_per_step = stalls.excess_ns / static_cast<std::int64_t>(counted_.size());
  const Excess excess = explain_excess(peers_, stalls.peer, stalls.steps, row.lag_ns_per_step);
  row.kind = excess.kind;
  const std::string period = stalls.period ? format(", every {}", counted(*stalls.period, "step")) : std::string{};
  row.evidence = format("stalls in {} of {} steps ({}{}): there {}; together {} lost", stalls.steps.size(),
                        counted_.size(), step_list(counted_, stalls.steps), period, describe_excess(row.rank, excess),
                        duration_text(stalls.excess_ns));
  const double mean_ratio = c > 0 ? 1 + static_cast<double>(row.gain_ns_per_step) / static_cast<double>(c) : 1;
  grade(row, mean_ratio);
  return row;
}

std::vector<Straggler> ClassVerdict::transient() const {
  std::vector<Straggler> rows;
  if (peers_.size() < firm_peers) return rows;
  std::int64_t wall = 0;
  for (const Step& step : steps_.steps) {
    if (steps_.counted(step.index)) wall += step.wall_ns;
  }
  for (const Stalls& stalls : find_stalls(times_, wall)) rows.push_back(transient_row(stalls));
  return rows;
}

std::vector<Straggler> ClassVerdict::stragglers() const {
  std::vector<Straggler> rows;
  for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
    std::optional<Straggler> row = persistent_by_windows(peer);
    if (!row) row = persistent_by_arrivals(peer);
    if (row) rows.push_back(std::move(*row));
  }
  for (Straggler& row : transient()) {
    const bool known = std::ranges::find(rows, row.rank, &Straggler::rank) != rows.end();
    if (!known) rows.push_back(std::move(row));
  }
  std::erase_if(rows, [](const Straggler& row) { return row.severity == FindingSeverity::info; });
  return rows;
}

}  // namespace rankscope::analyzer
