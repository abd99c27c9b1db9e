#include "alignment/edges.h"

#include <algorithm>
#include <unordered_map>

#include "math/statistics.h"

namespace rankscope::analyzer::clocks {
namespace {

constexpr std::size_t most_for_all_pairs = 8;

struct OnClock {
  std::uint32_t clock = 0;
  std::int64_t start = 0;
  std::int64_t end = 0;
};

/// The operation as each clock saw it, by clock.
std::vector<OnClock> on_clocks(std::span<const Part> parts, const Domains& domains) {
  std::vector<OnClock> seen;
  for (const Part& part : parts) seen.push_back({domains.of_rank[part.rank_row], part.start_ns, part.end_ns});
  std::ranges::stable_sort(seen, {}, &OnClock::clock);
  std::vector<OnClock> joined;
  std::vector<std::int64_t> ends;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (i == 0 || seen[i].clock != seen[i - 1].clock) {
      joined.push_back(seen[i]);
      ends.clear();
    }
    ends.push_back(seen[i].end);
    joined.back().start = std::max(joined.back().start, seen[i].start);
    if (i + 1 == seen.size() || seen[i + 1].clock != seen[i].clock) joined.back().end = median(ends);
  }
  return joined;
}

class Collector {
 public:
  void add(std::span<const OnClock> seen) {
    const std::size_t firsts = seen.size() <= most_for_all_pairs ? seen.size() : 1;
    for (std::size_t a = 0; a < firsts; ++a)
      for (std::size_t b = a + 1; b < seen.size(); ++b) add(seen[a], seen[b]);
  }
  std::vector<Edge> take() && {
    for (Edge& edge : edges_) std::ranges::stable_sort(edge.operations, {}, &Shared::end_a);
    std::ranges::sort(edges_, {}, [](const Edge& edge) { return std::pair{edge.a, edge.b}; });
    return std::move(edges_);
  }

 private:
  void add(const OnClock& a, const OnClock& b) {
    const std::uint64_t key = std::uint64_t{a.clock} << 32U | b.clock;
    const auto [place, added] = places_.try_emplace(key, edges_.size());
    if (added) edges_.push_back({a.clock, b.clock, {}});
    edges_[place->second].operations.push_back({a.end, b.end, a.start, b.start});
  }

  std::unordered_map<std::uint64_t, std::size_t> places_;
  std::vector<Edge> edges_;
};

}  // namespace

std::vector<Edge> edges_between(const Observations& all, const Domains& domains) {
  Collector collector;
  for (std::size_t k = 0; k < all.operations(); ++k) collector.add(on_clocks(all.operation(k), domains));
  return std::move(collector).take();
}

}  // namespace rankscope::analyzer::clocks
