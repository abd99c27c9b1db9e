#include "clocks/align.h"

#include <algorithm>
#include <cmath>

#include "clocks/domains.h"
#include "clocks/edges.h"
#include "clocks/feasible.h"
#include "clocks/observations.h"
#include "clocks/residuals.h"
#include "clocks/solve.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run_builder.h"

namespace rankscope::analyzer {
namespace {

using namespace clocks;

// Which member of an operation leaves first may be a matter of wiring. Ends on one host differ by up to 27 us in public
// recordings, and metrics.md 6.9 assumes 30 us; the 20 us of 7.4 would be too few for one of them (22 us).
constexpr std::int64_t exit_order_ns = 30'000;
constexpr std::int64_t host_times_error_ns = 1'000;    // metrics.md 7.4
constexpr std::int64_t device_times_error_ns = 5'000;  // metrics.md 7.4
constexpr double agreement_ns = 50'000;                // metrics.md 7.1
constexpr std::int64_t farthest_ns = std::int64_t{1} << 60;

std::int64_t same_clock_error(const Run& run) {
  const bool on_device = std::ranges::any_of(run.ranks(), [&](RankId rank) { return run.has_accelerator(rank); });
  return on_device ? device_times_error_ns : host_times_error_ns;
}

/// True if the recording itself says that all its times lie on one axis.
bool is_stated(const Run& run) { return run.info().clock.method != "none" && run.info().clock.method != "wall_clock"; }

/// Files of other profilers that do not say when their clocks started count from their own first event, whatever host
/// they are from.
bool has_no_common_zero(const Run& run) {
  return run.info().clock.method == "none" && run.info().source != "rankscope";
}

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
      if (residuals[row].units < least_units) continue;
      lowest = std::min(lowest, residuals[row].late_ns);
      highest = std::max(highest, residuals[row].late_ns);
      noise = std::max(noise, residuals[row].sigma_ns / std::sqrt(static_cast<double>(residuals[row].units)));
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

class Aligner {
 public:
  explicit Aligner(const Run& run) : run_(run) {
    result_.clock = run.info().clock;
    result_.section.recorded_method = run.info().clock.method;
  }

  Alignment align() && {
    domains_ = has_no_common_zero(run_) ? by_rank(run_) : by_host(run_);
    if (is_stated(run_) && run_.info().clock.method != "same_host") return as_recorded();
    if (run_.ranks().size() < 2) return as_recorded();
    all_ = observe(run_);
    take_apart();
    if (is_stated(run_) && !split_) return as_recorded();
    if (domains_.clocks.size() < 2) return as_recorded();
    measure();
    if (ends_agree()) return assumed_shared();
    move();
    return std::move(result_);
  }

 private:
  /// One clock, or nothing that could be done about several.
  Alignment as_recorded() {
    const bool one = is_stated(run_);
    if (one) domains_ = {{Clock{.name = "all hosts", .ranks = {}, .host_known = true}}, {}};
    if (one)
      for (std::uint32_t row = 0; row < run_.ranks().size(); ++row) domains_.clocks[0].ranks.push_back(row);
    for (const Clock& clock : domains_.clocks) result_.section.clocks.push_back(row_of(run_, clock));
    return std::move(result_);
  }

  void take_apart() {
    const std::vector<bool> apart = clocks_to_take_apart(all_, domains_);
    for (std::size_t i = 0; i < apart.size(); ++i) {
      if (!apart[i]) continue;
      split_ = true;
      result_.quality.add(Counter::clock_split_host, domains_.clocks[i].ranks.size());
      result_.section.notes.push_back(format(
          "The device times of the ranks on {} do not share a clock: each rank has its own.", domains_.clocks[i].name));
    }
    if (split_) domains_ = taken_apart(run_, domains_, apart);
  }

  void measure() {
    edges_ = edges_between(all_, domains_);
    for (const Clock& clock : domains_.clocks) shown_.push_back(shown_by(run_, clock));
    if (all_.by_call_order) {
      result_.section.notes.emplace_back(
          "Operations carry no sequence numbers, so which ends belong together is not sure enough to set clocks by.");
      return;
    }
    std::size_t useless = 0;
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      if (edges_[i].units.size() < least_units) continue;
      Measured measured{i, estimate(edges_[i].units)};
      const Shown& shown = shown_[edges_[i].a];
      if (measured.estimate.error_ns(shown.begin_ns, shown.end_ns) < useless_error_ns)
        measured_.push_back(std::move(measured));
      else
        ++useless;
    }
    if (useless == 0) return;
    result_.section.notes.push_back(
        format("{} of clocks could not be brought together to within 10 ms.", counted(useless, "measured pair")));
    result_.quality.add(Counter::clock_low, useless);
  }

  /// metrics.md 7.1: of hosts that are not known it is assumed that they are one if all ends agree as they are.
  [[nodiscard]] bool ends_agree() {
    const bool unknown = std::ranges::none_of(domains_.clocks, &Clock::host_known);
    if (!unknown || split_ || measured_.empty()) return false;
    const auto agrees = [](const Measured& measured) {
      return std::abs(static_cast<double>(measured.estimate.ahead_ns) + measured.estimate.ahead_fine_ns) <=
             agreement_ns;
    };
    if (!std::ranges::all_of(measured_, agrees)) return false;
    positions_ = solve(edges_, measured_, shown_);
    return std::ranges::all_of(positions_, [](const Position& position) { return position.reference == 0; });
  }

  Alignment assumed_shared() {
    double farthest = 0;
    for (const Measured& measured : measured_)
      farthest = std::max(farthest, std::abs(static_cast<double>(measured.estimate.ahead_ns)) +
                                        measured.estimate.ahead_error_ns + measured.estimate.wander_ns);
    const std::int64_t error = std::llround(farthest) + same_clock_error(run_);
    for (Position& position : positions_) {
      position.map = {};
      position.error_ns = 0;
    }
    fill_rows();
    result_.section.notes.emplace_back(
        "The hosts are not known; one shared clock is assumed, because all ranks end their operations together.");
    result_.clock = {"assumed_shared", nanoseconds{error}};
    result_.model.of_rank = domains_.of_rank;
    result_.model.clocks.assign(domains_.clocks.size(), {0, 0});
    result_.model.same_clock_error_ns = same_clock_error(run_);
    result_.model.allowance_ns = error;
    return std::move(result_);
  }

  void move() {
    positions_ = solve(edges_, measured_, shown_);
    keep_possible(edges_, positions_);
    fill_rows();
    fill_model();
    const bool any = std::ranges::any_of(result_.section.clocks, &ClockRow::aligned);
    if (any) result_.clock = {"unit_ends", nanoseconds{largest_error()}};
    explain_what_is_left();
    std::vector<ClockMap> maps;
    for (const Process& process : run_.processes()) maps.push_back(map_of(process));
    if (!std::ranges::all_of(maps, &ClockMap::is_identity)) result_.moved = RunBuilder::retimed(run_, maps);
  }

  /// Processes without a rank go with their host.
  [[nodiscard]] ClockMap map_of(const Process& process) const {
    const auto found = std::ranges::lower_bound(run_.ranks(), process.rank);
    if (found != run_.ranks().end() && *found == process.rank)
      return positions_[domains_.of_rank[static_cast<std::size_t>(found - run_.ranks().begin())]].map;
    const std::string_view host = run_.text(process.host);
    for (std::size_t i = 0; i < domains_.clocks.size(); ++i)
      if (domains_.clocks[i].host_known && domains_.clocks[i].name == host) return positions_[i].map;
    return {};
  }

  void fill_rows() {
    std::vector<ClockMap> maps;
    for (const Position& position : positions_) maps.push_back(position.map);
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
      row.units = static_cast<std::int64_t>(position.units);
      row.doubt = position.doubt;
      row.residuals = std::move(residuals[i]);
      result_.section.clocks.push_back(std::move(row));
    }
    const auto doubtful = std::ranges::count_if(positions_, [](const Position& one) { return !one.doubt.empty(); });
    if (doubtful > 0) result_.quality.add(Counter::clock_low, static_cast<std::uint64_t>(doubtful));
  }

  void fill_model() {
    result_.model.of_rank = domains_.of_rank;
    for (const Position& position : positions_)
      result_.model.clocks.push_back({position.reference, std::llround(position.error_ns)});
    result_.model.same_clock_error_ns = same_clock_error(run_);
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

  void explain_what_is_left() {
    for (std::uint32_t i = 0; i < positions_.size(); ++i)
      if (positions_[i].reference != 0) ++result_.section.clocks_apart;
    if (result_.section.clocks_apart == 0) return;
    const bool any = std::ranges::any_of(result_.section.clocks, &ClockRow::aligned);
    result_.section.notes.push_back(
        any ? format("{} of {} share fewer than {} operations with {}: their times are not compared with its.",
                     result_.section.clocks_apart, counted(positions_.size(), "clock"), least_units,
                     domains_.clocks.front().name)
            : format("No two clocks share {} operations that all wait for: times are not compared between them.",
                     least_units));
    if (any) result_.quality.add(Counter::clock_low, static_cast<std::uint64_t>(result_.section.clocks_apart));
  }

  const Run& run_;
  Alignment result_;
  Domains domains_;
  Observations all_;
  std::vector<Edge> edges_;
  std::vector<Measured> measured_;
  std::vector<Shown> shown_;
  std::vector<Position> positions_;
  bool split_ = false;
};

}  // namespace

Alignment align_clocks(const Run& run) { return Aligner(run).align(); }

}  // namespace rankscope::analyzer
