#include "alignment/align.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include "alignment/domains.h"
#include "alignment/edges.h"
#include "alignment/observations.h"
#include "alignment/shared_clock.h"
#include "alignment/solve.h"
#include "clocks/clock_trust.h"
#include "math/statistics.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/run_builder.h"

namespace rankscope::analyzer {
namespace {

using namespace clocks;

// Which member of an operation leaves first may be a matter of wiring. Ends on one host differ by up to 27 us in public
// recordings, and metrics.md 6.9 assumes 30 us; the 20 us of 7.4 would be too few for one of them (22 us).
constexpr std::int64_t exit_order_ns = 30'000;
constexpr double agreement_ns = 50'000;  // metrics.md 7.1

Shown shown_by(const Run& run, const Clock& clock) {
  Shown shown{farthest_ns, -farthest_ns};
  for (const std::uint32_t row : clock.ranks) {
    const TimeRange& recorded = run.process_of(run.ranks()[row]).recorded;
    shown.begin_ns = std::min(shown.begin_ns, std::clamp(ns_of(recorded.begin), -farthest_ns, farthest_ns));
    shown.end_ns = std::max(shown.end_ns, std::clamp(ns_of(recorded.end), -farthest_ns, farthest_ns));
  }
  return shown;
}

/// Ranks of one host whose device times lie apart by more than the order of exits explains.
std::vector<bool> clocks_to_take_apart(const Observations& all, const Domains& domains) {
  const std::vector<RankResidual> residuals = rank_residuals(all, domains);
  std::vector<bool> apart;
  for (const Clock& clock : domains.clocks) {
    double lowest = 0;
    double highest = 0;
    double noise = 0;
    for (const std::uint32_t row : clock.ranks) {
      if (residuals[row].operations < least_operations) continue;
      lowest = std::min(lowest, residuals[row].late_ns);
      highest = std::max(highest, residuals[row].late_ns);
      noise = std::max(noise, residuals[row].sigma_ns / std::sqrt(static_cast<double>(residuals[row].operations)));
    }
    apart.push_back(highest - lowest > agreement_ns + 6 * noise);
  }
  return apart;
}

ClockRow row_of(const Run& run, const Clock& clock) {
  ClockRow row;
  row.name = row.reference = clock.name;
  for (const std::uint32_t rank : clock.ranks) row.ranks.push_back(run.ranks()[rank]);
  return row;
}

/// Files may name their hosts and still not say when their clocks started.
bool names_hosts(const Run& run) {
  return std::ranges::any_of(run.processes(), [&](const Process& process) { return !run.text(process.host).empty(); });
}

/// How far two clocks are apart: in the median as they are, and by what one gains on the other.
bool agree_as_they_are(const Edge& edge, const EdgeEstimate& estimate) {
  std::vector<std::int64_t> apart;
  for (const Shared& operation : edge.operations) apart.push_back(std::abs(operation.end_b - operation.end_a));
  return static_cast<double>(median(apart)) <= agreement_ns &&
         std::abs(estimate.rate) * static_cast<double>(estimate.half_span_ns) <= agreement_ns;
}

/// Farthest that any two clocks, the first one with them, are apart while one of them was read.
double farthest_apart_ns(std::span<const Position> positions, std::span<const Shown> shown) {
  double lowest = 0;
  double highest = 0;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const ClockMap& map = positions[i].map;
    for (const std::int64_t time : {shown[i].begin_ns, shown[i].end_ns}) {
      const double ahead = static_cast<double>(map.ahead.count()) + map.ahead_fine_ns +
                           map.rate * static_cast<double>(time - ns_of(map.pivot));
      lowest = std::min(lowest, ahead);
      highest = std::max(highest, ahead);
    }
  }
  return highest - lowest;
}

class Aligner {
 public:
  explicit Aligner(const Run& run) : run_(run) {
    result_.clock = run.info().clock;
    result_.section.recorded_method = run.info().clock.method;
  }

  Alignment align() && {
    domains_ = domains_of(run_);
    if (has_stated_clock(run_) && run_.info().clock.method != "same_host") return as_recorded();
    if (run_.ranks().size() < 2) return as_recorded();
    all_ = observe(run_);
    if (run_.info().source != "rankscope") take_apart();  // the recorder reads both clocks of each process side by side
    if (has_stated_clock(run_) && !split_) return as_recorded();
    if (domains_.clocks.size() < 2) return on_one_clock();
    measure();
    if (ends_agree()) return measured_as_shared();
    if (const auto error_ns = possible_error_ns()) return possibly_shared(*error_ns);
    move();
    return std::move(result_);
  }

 private:
  /// What the recording says holds.
  Alignment as_recorded() {
    if (has_stated_clock(run_)) {
      domains_ = {{Clock{.name = "all hosts", .ranks = {}, .kind = Clock::Kind::host}}, {}};
      for (std::uint32_t row = 0; row < run_.ranks().size(); ++row) domains_.clocks[0].ranks.push_back(row);
    }
    for (const Clock& clock : domains_.clocks) result_.section.clocks.push_back(row_of(run_, clock));
    return std::move(result_);
  }

  /// All ranks are from one host, or from one file.
  Alignment on_one_clock() {
    for (const Clock& clock : domains_.clocks) result_.section.clocks.push_back(row_of(run_, clock));
    result_.model = {.of_rank = domains_.of_rank,
                     .clocks = {{0, 0}},
                     .same_clock_error_ns = same_clock_error_ns(run_),
                     .allowance_ns = 0};
    return std::move(result_);
  }

  void take_apart() {
    const std::vector<bool> apart = clocks_to_take_apart(all_, domains_);
    for (std::size_t i = 0; i < apart.size(); ++i) {
      if (!apart[i]) continue;
      split_ = true;
      result_.quality.add(Counter::clock_split_host, domains_.clocks[i].ranks.size());
      result_.section.notes.push_back(format(
          "The device times of the ranks on {} come from different clocks; each rank is treated as having its own "
          "clock.",
          domains_.clocks[i].name));
    }
    if (split_) domains_ = taken_apart(run_, domains_, apart);
  }

  void measure() {
    edges_ = edges_between(all_, domains_);
    for (const Clock& clock : domains_.clocks) shown_.push_back(shown_by(run_, clock));
    too_inexact_.resize(domains_.clocks.size());
    std::size_t useless = 0;
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      const Edge& edge = edges_[i];
      if (edge.operations.size() < least_operations) continue;
      Measured measured{i, estimate(edge.operations)};
      if (error_over(measured.estimate, shown_[edge.a], shown_[edge.b]) < useless_error_ns) {
        measured_.push_back(std::move(measured));
      } else {
        ++useless;
        too_inexact_[edge.a] = too_inexact_[edge.b] = true;
      }
    }
    if (useless > 0)
      result_.section.notes.push_back(
          format("{} of clocks could not be aligned to within 10 ms.", counted(useless, "measured pair")));
  }

  /// metrics.md 7.1: of hosts that are not known it is assumed that they are one if all ends agree as they are.
  [[nodiscard]] bool ends_agree() {
    const bool known =
        std::ranges::any_of(domains_.clocks, [](const Clock& one) { return one.kind == Clock::Kind::host; });
    if (known || split_ || measured_.empty()) return false;
    const auto agrees = [&](const Measured& one) { return agree_as_they_are(edges_[one.edge], one.estimate); };
    if (!std::ranges::all_of(measured_, agrees)) return false;
    positions_ = solve(edges_, measured_, shown_);
    return std::ranges::all_of(positions_, [](const Position& position) { return position.reference == 0; });
  }

  /// Of two pairs, because any two clocks are apart by what each is from the first.
  [[nodiscard]] double unsureness_ns() const {
    double first = 0;
    double second = 0;
    for (const Measured& measured : measured_) {
      const double own = measured.estimate.ahead_error_ns + measured.estimate.wander_ns;
      second = std::max(second, std::min(first, own));
      first = std::max(first, own);
    }
    return first + second;
  }

  Alignment measured_as_shared() {
    const std::int64_t error =
        std::llround(farthest_apart_ns(positions_, shown_) + unsureness_ns()) + same_clock_error_ns(run_);
    fill_rows(std::vector<ClockMap>(positions_.size()));
    return assumed_shared(error, "operations end on all ranks at the same time");
  }

  /// metrics.md 7.8: of ranks that compute on CPUs, whose hosts are not known.
  [[nodiscard]] std::optional<std::int64_t> possible_error_ns() const {
    const auto on_device = [this](RankId rank) { return run_.has_accelerator(rank); };
    if (names_hosts(run_) || !measured_.empty() || run_.info().clock.method != "wall_clock" ||
        std::ranges::any_of(run_.ranks(), on_device))
      return std::nullopt;
    return shared_clock_error_ns(crossings_of(run_), run_.ranks().size(), run_.extent());
  }

  Alignment possibly_shared(std::int64_t error_ns) {
    for (const Clock& clock : domains_.clocks) result_.section.clocks.push_back(row_of(run_, clock));
    return assumed_shared(error_ns,
                          "the recorded times do not contradict this: no rank ends an operation before all ranks that "
                          "it waits for have started the operation");
  }

  Alignment assumed_shared(std::int64_t error_ns, std::string_view why) {
    result_.section.assumed_shared = true;
    result_.section.notes.push_back(
        format("{}; one shared clock is assumed, because {}.",
               names_hosts(run_) ? "The files do not say when their clocks started" : "The hosts are not known", why));
    result_.clock = {"assumed_shared", nanoseconds{error_ns}};
    result_.model = {.of_rank = domains_.of_rank,
                     .clocks = std::vector<ClockStanding>(domains_.clocks.size()),
                     .same_clock_error_ns = same_clock_error_ns(run_),
                     .allowance_ns = error_ns};
    return std::move(result_);
  }

  void move() {
    positions_ = solve(edges_, measured_, shown_);
    keep_possible(edges_, positions_);
    std::vector<ClockMap> own_maps;
    for (const Position& position : positions_) own_maps.push_back(position.map);
    fill_rows(own_maps);
    fill_model();
    const bool any = std::ranges::any_of(result_.section.clocks, &ClockRow::aligned);
    if (any) result_.clock = {"unit_ends", nanoseconds{largest_error()}};
    explain_what_is_left();
    count_low();
    std::vector<ClockMap> maps;
    for (const Process& process : run_.processes()) maps.push_back(map_of(process));
    if (!std::ranges::all_of(maps, &ClockMap::is_identity)) result_.moved = RunBuilder::retimed(run_, maps);
  }

  /// Processes without a rank go with their host or file.
  [[nodiscard]] ClockMap map_of(const Process& process) const {
    const auto found = std::ranges::lower_bound(run_.ranks(), process.rank);
    if (found != run_.ranks().end() && *found == process.rank)
      return positions_[domains_.of_rank[static_cast<std::size_t>(found - run_.ranks().begin())]].map;
    const auto clock = clock_of(run_, domains_, process);
    return clock ? positions_[*clock].map : ClockMap{};
  }

  /// `maps` are what times were moved by.
  void fill_rows(std::span<const ClockMap> maps) {
    auto residuals = residuals_of(all_, domains_, maps);
    std::vector<bool> is_used(positions_.size(), false);
    for (std::uint32_t i = 0; i < positions_.size(); ++i)
      if (positions_[i].reference != i) is_used[i] = is_used[positions_[i].reference] = true;
    for (std::size_t i = 0; i < positions_.size(); ++i) {
      const Position& position = positions_[i];
      ClockRow row = row_of(run_, domains_.clocks[i]);
      row.reference = domains_.clocks[position.reference].name;
      row.aligned = is_used[i];
      row.ahead_ns = static_cast<double>(position.map.ahead.count()) + position.map.ahead_fine_ns;
      row.drift_ppm = 1e6 * position.map.rate;
      row.drift_known = position.rate_known;
      row.error_ns = std::llround(position.error_ns);
      row.noise_ns = std::llround(position.sigma_ns);
      row.operations = static_cast<std::int64_t>(position.operations);
      row.doubt = position.doubt;
      row.why_apart = why_apart(static_cast<std::uint32_t>(i));
      row.residuals = std::move(residuals[i]);
      result_.section.clocks.push_back(std::move(row));
    }
  }

  /// Why the times of a clock are not compared with those of the first; empty: they are.
  [[nodiscard]] std::string why_apart(std::uint32_t clock) const {
    if (positions_[clock].reference == 0) return {};
    const std::string& first = domains_.clocks.front().name;
    if (all_.only_guessed)
      return "it can only be guessed which calls on different ranks belong to the same operation, because operations "
             "have no sequence numbers";
    if (positions_[clock].too_far || too_inexact_[clock])
      return format("no alignment with {} to within 10 ms was found", first);
    return format("fewer than {} operations are shared with {}, directly or through other clocks", least_operations,
                  first);
  }

  void fill_model() {
    result_.model.of_rank = domains_.of_rank;
    for (const Position& position : positions_)
      result_.model.clocks.push_back({position.reference, std::llround(position.error_ns)});
    result_.model.same_clock_error_ns = same_clock_error_ns(run_);
    result_.model.allowance_ns = result_.section.allowance_ns = exit_order_ns;
  }

  /// Between two clocks that may be compared, by the two worst of each set.
  [[nodiscard]] std::int64_t largest_error() const {
    std::vector<std::pair<double, double>> worst(positions_.size());
    double largest = 0;
    for (const Position& position : positions_) {
      auto& [first, second] = worst[position.reference];
      second = std::max(second, std::min(first, position.error_ns));
      first = std::max(first, position.error_ns);
      largest = std::max(largest, first + second);
    }
    return std::llround(largest) + exit_order_ns;
  }

  /// What programs with torch.profiler can do about it.
  [[nodiscard]] std::string_view how_to_get_clocks() const {
    if (!all_.only_guessed || run_.info().source != "kineto") return {};
    if (names_hosts(run_)) return " Recordings of `rankscope record` have them.";
    return " If all ranks ran on one host, let their traces name it: profiler.add_metadata(\"host_name\", "
           "socket.gethostname()). Recordings of `rankscope record` have both.";
  }

  void explain_what_is_left() {
    std::map<std::string_view, std::size_t> reasons;
    for (const ClockRow& row : result_.section.clocks)
      if (!row.why_apart.empty()) ++reasons[row.why_apart];
    for (const auto& [why, count] : reasons) {
      result_.section.clocks_apart += static_cast<std::int64_t>(count);
      result_.section.notes.push_back(format("Times on {} of {} cannot be compared with those on {}: {}.{}", count,
                                             counted(positions_.size(), "clock"), domains_.clocks.front().name, why,
                                             how_to_get_clocks()));
    }
  }

  /// Each clock once: those that are doubted, and those that were left apart though it could be told where others
  /// stand.
  void count_low() {
    const bool any = std::ranges::any_of(result_.section.clocks, &ClockRow::aligned);
    std::uint64_t low = 0;
    for (std::uint32_t clock = 0; clock < positions_.size(); ++clock) {
      const bool inexact = positions_[clock].too_far || too_inexact_[clock];
      if (!positions_[clock].doubt.empty() || (positions_[clock].reference != 0 && (any || inexact))) ++low;
    }
    if (low > 0) result_.quality.add(Counter::clock_low, low);
  }

  const Run& run_;
  Alignment result_;
  Domains domains_;
  Observations all_;
  std::vector<Edge> edges_;
  std::vector<Measured> measured_;
  std::vector<Shown> shown_;
  std::vector<Position> positions_;
  std::vector<bool> too_inexact_;  // by clock: a pair of it told too little
  bool split_ = false;
};

}  // namespace

Alignment align_clocks(const Run& run) {
  TimeMatching collectives = match_by_ends(run);
  TimeMatching pairs = match_pairs(collectives.run ? *collectives.run : run);
  if (!pairs.run) pairs.run = std::move(collectives.run);
  Alignment aligned = Aligner(pairs.run ? *pairs.run : run).align();
  if (!aligned.moved) aligned.moved = std::move(pairs.run);
  for (std::string* note : {&collectives.note, &pairs.note})
    if (!note->empty()) aligned.section.notes.push_back(std::move(*note));
  return aligned;
}

}  // namespace rankscope::analyzer
