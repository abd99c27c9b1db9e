#include "alignment/solve.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <queue>
#include <span>
#include <vector>

#include "math/statistics.h"

namespace rankscope::analyzer::clocks {
namespace {

// Positions that agree best with weighted differences between them.

/// A measured difference: position of b minus position of a.
struct Difference {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  double value = 0;
  double weight = 1;
};

using Vector = std::vector<double>;

/// The normal equations: a sparse symmetric matrix, never written out, so that thousands of clocks cost little.
class Normal {
 public:
  Normal(std::span<const Difference> differences, const std::vector<bool>& fixed)
      : differences_(differences), fixed_(fixed), diagonal_(fixed.size(), 0) {
    for (const Difference& one : differences) {
      diagonal_[one.a] += one.weight;
      diagonal_[one.b] += one.weight;
    }
  }
  [[nodiscard]] Vector right_side() const {
    Vector result(fixed_.size(), 0);
    for (const Difference& one : differences_) {
      result[one.a] -= one.weight * one.value;
      result[one.b] += one.weight * one.value;
    }
    return free_of_fixed(std::move(result));
  }
  [[nodiscard]] Vector times(const Vector& x) const {
    Vector result(fixed_.size(), 0);
    for (const Difference& one : differences_) {
      const double pull = one.weight * (x[one.b] - x[one.a]);
      result[one.a] -= pull;
      result[one.b] += pull;
    }
    return free_of_fixed(std::move(result));
  }
  /// A coarse inverse (of the diagonal).
  [[nodiscard]] Vector eased(const Vector& x) const {
    Vector result = x;
    for (std::size_t i = 0; i < x.size(); ++i) result[i] = diagonal_[i] > 0 ? x[i] / diagonal_[i] : 0;
    return result;
  }

 private:
  [[nodiscard]] Vector free_of_fixed(Vector x) const {
    for (std::size_t i = 0; i < x.size(); ++i)
      if (fixed_[i]) x[i] = 0;
    return x;
  }
  std::span<const Difference> differences_;
  const std::vector<bool>& fixed_;
  Vector diagonal_;
};

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void add(Vector& to, double factor, const Vector& more) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * more[i];
}

/// Minimizes the weighted squares of what the positions leave of the differences. A position that is `fixed` is 0;
/// each set of connected ones needs one.
// Conjugate gradients: exact after as many rounds as there are positions, in practice after a few.
std::vector<double> positions_of(std::span<const Difference> differences, const std::vector<bool>& fixed) {
  const Normal normal{differences, fixed};
  Vector x(fixed.size(), 0);
  Vector rest = normal.right_side();
  Vector eased = normal.eased(rest);
  Vector direction = eased;
  double size = dot(rest, eased);
  const double enough = 1e-24 * size;
  for (std::size_t round = 0; round < 2 * fixed.size() + 10 && size > enough; ++round) {
    const Vector pulled = normal.times(direction);
    const double bend = dot(direction, pulled);
    if (!(bend > 0) || !std::isfinite(bend)) break;
    const double step = size / bend;
    add(x, step, direction);
    add(rest, -step, pulled);
    eased = normal.eased(rest);
    const double next = dot(rest, eased);
    for (std::size_t i = 0; i < direction.size(); ++i) direction[i] = eased[i] + next / size * direction[i];
    size = next;
  }
  return x;
}

constexpr double timer_noise_ns = 1000;  // metrics.md 7.3: no edge is better than that

/// Everything known about the edges, by clock.
class Network {
 public:
  Network(std::span<const Edge> edges, std::span<const Measured> measured, std::size_t clocks)
      : edges_(edges), measured_(measured), at_(clocks) {
    for (std::size_t i = 0; i < measured.size(); ++i) {
      at_[a(i)].push_back(i);
      at_[b(i)].push_back(i);
    }
  }
  [[nodiscard]] std::size_t size() const { return measured_.size(); }
  [[nodiscard]] std::uint32_t a(std::size_t i) const { return edges_[measured_[i].edge].a; }
  [[nodiscard]] std::uint32_t b(std::size_t i) const { return edges_[measured_[i].edge].b; }
  [[nodiscard]] const EdgeEstimate& estimate(std::size_t i) const { return measured_[i].estimate; }
  [[nodiscard]] const std::vector<std::size_t>& at(std::uint32_t clock) const { return at_[clock]; }
  [[nodiscard]] std::uint32_t other(std::size_t i, std::uint32_t clock) const { return a(i) == clock ? b(i) : a(i); }

 private:
  std::span<const Edge> edges_;
  std::span<const Measured> measured_;
  std::vector<std::vector<std::size_t>> at_;
};

/// Finds who is connected with whom, and how far each clock is ahead of its reference in whole nanoseconds.
void place_coarsely(const Network& network, std::vector<Position>& positions) {
  std::vector<bool> placed(positions.size(), false);
  for (std::uint32_t first = 0; first < positions.size(); ++first) {
    if (placed[first]) continue;
    positions[first].reference = first;
    placed[first] = true;
    std::queue<std::uint32_t> open;
    for (open.push(first); !open.empty(); open.pop()) {
      const std::uint32_t from = open.front();
      for (const std::size_t i : network.at(from)) {
        const std::uint32_t to = network.other(i, from);
        if (placed[to]) continue;
        const std::int64_t step = network.a(i) == from ? network.estimate(i).ahead_ns : -network.estimate(i).ahead_ns;
        const nanoseconds ahead = positions[from].map.ahead + nanoseconds{step};
        if (std::abs(static_cast<double>(ahead.count())) > static_cast<double>(farthest_ns))
          continue;  // nor is any so far off
        positions[to].reference = first;
        positions[to].map.ahead = ahead;
        placed[to] = true;
        open.push(to);
      }
    }
  }
}

/// By reference: the middle of the shared operations, as the reference shows it.
std::vector<std::int64_t> middles(const Network& network, std::span<const Position> positions) {
  std::vector<std::vector<std::int64_t>> all(positions.size());
  for (std::size_t i = 0; i < network.size(); ++i) {
    const Position& a = positions[network.a(i)];
    all[a.reference].push_back(network.estimate(i).middle_ns - a.map.ahead.count());
  }
  std::vector<std::int64_t> result;
  for (const auto& of_reference : all) result.push_back(median(of_reference));
  return result;
}

/// Edges that both lie in one set; a coarse step that went too far leaves some between two.
bool is_inside(const Network& network, std::span<const Position> positions, std::size_t i) {
  return positions[network.a(i)].reference == positions[network.b(i)].reference;
}

/// By edge: how far its own measure lies from the positions.
using Leftovers = std::vector<double>;

Leftovers place_finely(const Network& network, std::vector<Position>& positions) {
  std::vector<bool> fixed(positions.size());
  for (std::uint32_t clock = 0; clock < positions.size(); ++clock) fixed[clock] = positions[clock].reference == clock;
  std::vector<Difference> rates;
  std::vector<Difference> offsets;
  for (std::size_t i = 0; i < network.size(); ++i) {
    const EdgeEstimate& edge = network.estimate(i);
    if (!is_inside(network, positions, i)) continue;
    const Position& a = positions[network.a(i)];
    const Position& b = positions[network.b(i)];
    const auto since = static_cast<double>(ns_of(a.map.pivot) - edge.middle_ns);
    const auto coarse = static_cast<double>(edge.ahead_ns - (b.map.ahead - a.map.ahead).count());
    const double noise = edge.sigma_ns * edge.sigma_ns + timer_noise_ns * timer_noise_ns;
    const double rate_noise = edge.rate_error * edge.rate_error + 1e-16;
    offsets.push_back({network.a(i), network.b(i), coarse + edge.ahead_fine_ns + edge.rate * since,
                       static_cast<double>(edge.operations) / noise * timer_noise_ns * timer_noise_ns});
    rates.push_back({network.a(i), network.b(i), std::log1p(edge.rate), 1e-16 / rate_noise});
  }
  const std::vector<double> fine = positions_of(offsets, fixed);
  const std::vector<double> rate = positions_of(rates, fixed);
  for (std::size_t clock = 0; clock < positions.size(); ++clock) {
    positions[clock].map.ahead_fine_ns = fine[clock];
    positions[clock].map.rate = std::expm1(rate[clock]);
  }
  Leftovers leftovers(network.size(), 0);
  std::size_t next = 0;
  for (std::size_t i = 0; i < network.size(); ++i) {
    if (!is_inside(network, positions, i)) continue;
    const Difference& offset = offsets[next++];
    leftovers[i] = std::abs(offset.value - (fine[offset.b] - fine[offset.a]));
  }
  return leftovers;
}

constexpr std::size_t no_edge = SIZE_MAX;

/// Errors add up along the edges between a clock and its reference; of several ways the best one counts. Returns the
/// last edge of that way by clock.
std::vector<std::size_t> add_errors(const Network& network, std::span<const double> errors,
                                    std::vector<Position>& positions) {
  std::vector<std::size_t> last_edges(positions.size(), no_edge);
  constexpr double unreached = std::numeric_limits<double>::infinity();
  using Reached = std::pair<double, std::uint32_t>;
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> open;
  for (std::uint32_t clock = 0; clock < positions.size(); ++clock) {
    positions[clock].error_ns = positions[clock].reference == clock ? 0 : unreached;
    if (positions[clock].reference == clock) open.emplace(0, clock);
  }
  while (!open.empty()) {
    const auto [error, from] = open.top();
    open.pop();
    if (error > positions[from].error_ns) continue;
    for (const std::size_t i : network.at(from)) {
      const std::uint32_t to = network.other(i, from);
      if (!is_inside(network, positions, i) || error + errors[i] >= positions[to].error_ns) continue;
      positions[to].error_ns = error + errors[i];
      last_edges[to] = i;
      open.emplace(positions[to].error_ns, to);
    }
  }
  return last_edges;
}

/// Errors only grow along a way, so that what lies behind a clock that is too far off is, too.
void refuse_too_far(std::vector<Position>& positions) {
  for (std::uint32_t clock = 0; clock < positions.size(); ++clock) {
    if (positions[clock].error_ns < useless_error_ns) continue;
    positions[clock].reference = clock;
    positions[clock].map = {};
    positions[clock].error_ns = 0;
    positions[clock].too_far = true;
  }
}

void describe(const Network& network, std::span<const std::size_t> last_edges, std::vector<Position>& positions) {
  for (std::size_t i = 0; i < network.size(); ++i) {
    const EdgeEstimate& edge = network.estimate(i);
    for (const std::uint32_t clock : {network.a(i), network.b(i)}) {
      positions[clock].sigma_ns = std::max(positions[clock].sigma_ns, edge.sigma_ns);
      positions[clock].operations = std::max(positions[clock].operations, edge.operations);
      positions[clock].rate_known = positions[clock].rate_known || edge.rate_known;
    }
  }
  // A pair is doubtful if one of its clocks is, which other pairs tell: only that counts which the position rests on.
  for (std::size_t clock = 0; clock < positions.size(); ++clock)
    if (last_edges[clock] != no_edge) positions[clock].doubt = network.estimate(last_edges[clock]).doubt;
}

}  // namespace

double error_over(const EdgeEstimate& edge, const Shown& a, const Shown& b) {
  return edge.error_ns(std::min(a.begin_ns, b.begin_ns - edge.ahead_ns), std::max(a.end_ns, b.end_ns - edge.ahead_ns));
}

std::vector<Position> solve(std::span<const Edge> edges, std::span<const Measured> measured,
                            std::span<const Shown> shown) {
  std::vector<Position> positions(shown.size());
  const Network network{edges, measured, shown.size()};
  place_coarsely(network, positions);
  const std::vector<std::int64_t> middle = middles(network, positions);
  for (Position& position : positions) position.map.pivot = at(middle[position.reference]) + position.map.ahead;
  std::vector<double> errors = place_finely(network, positions);
  for (std::size_t i = 0; i < network.size(); ++i)
    errors[i] += error_over(network.estimate(i), shown[network.a(i)], shown[network.b(i)]);
  describe(network, add_errors(network, errors, positions), positions);
  refuse_too_far(positions);
  return positions;
}

}  // namespace rankscope::analyzer::clocks
