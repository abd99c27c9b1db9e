#include "scaling/monte_carlo.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

namespace rankscope::analyzer::scaling {
namespace {

/// Way from the begin to the end of a step with nothing but this rank's own work.
double own_time(const StepSystem& system) {
  const StepSystem* const one = &system;
  const double factor = 1;
  const std::vector<std::int64_t> no_transfers(system.units.size(), 0);
  return static_cast<double>(step_length({&one, 1}, {&factor, 1}, no_transfers));
}

double sigma_of(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

/// Systems of the most frequent row of collectives.
std::vector<StepSystem> most_frequent(std::vector<StepSystem> systems) {
  std::map<std::vector<std::pair<std::uint32_t, std::int64_t>>, std::vector<std::size_t>> kinds;
  for (std::size_t i = 0; i < systems.size(); ++i) {
    std::vector<std::pair<std::uint32_t, std::int64_t>> key;
    for (const StepUnit& unit : systems[i].units) key.emplace_back(unit.op.value, unit.bytes);
    kinds[key].push_back(i);
  }
  const auto best = std::ranges::max_element(kinds, {}, [](const auto& kind) { return kind.second.size(); });
  std::vector<StepSystem> kept;
  for (const std::size_t i : best->second) kept.push_back(std::move(systems[i]));
  return kept;
}

void add_noise(Pool& pool) {
  std::map<std::uint32_t, std::vector<double>> by_rank;
  double sum = 0;
  for (const StepSystem& system : pool.systems) {
    by_rank[system.rank].push_back(own_time(system));
    sum += by_rank[system.rank].back();
  }
  const double mean = sum / static_cast<double>(pool.systems.size());
  if (mean <= 0) return;
  std::vector<double> means;
  std::vector<double> rests;
  for (const auto& [rank, times] : by_rank) {
    means.push_back(std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size()));
    for (const double time : times) rests.push_back(time - means.back());
  }
  pool.between_ranks = sigma_of(means) / mean;
  pool.within_ranks = sigma_of(rests) / mean;
}

void add_links(const replay::Graph& graph, Pool& pool, std::int64_t ranks) {
  const std::size_t units = pool.systems.front().units.size();
  std::map<std::uint32_t, std::vector<Transfer>> by_op;
  for (const StepSystem& system : pool.systems)
    for (std::size_t unit = 0; unit < units; ++unit)
      by_op[system.units[unit].op.value].push_back(
          {std::max<std::int64_t>(0, system.units[unit].bytes), static_cast<double>(system.transfers_ns[unit])});
  for (std::size_t unit = 0; unit < units; ++unit) {
    const StepUnit& own = pool.systems.front().units[unit];
    const Ring ring = ring_of(own.op.is_set() ? graph.run->text(own.op) : "", ranks).value_or(Ring{1, 0});
    pool.rings.push_back(ring);
    pool.links.push_back(fit_link(by_op[own.op.value], ring));
    const double fitted = std::max(1.0, pool.links.back().ns(ring, std::max<std::int64_t>(0, own.bytes)));
    auto& shares = pool.shares.emplace_back();
    for (const StepSystem& system : pool.systems)
      shares.push_back(static_cast<double>(system.transfers_ns[unit]) / fitted);
  }
}

class Drawing {
 public:
  Drawing(const Pool& pool, std::int64_t measured_ranks, const Draw& draw, std::uint64_t seed)
      : pool_(pool), draw_(draw), random_(seed) {
    for (const StepSystem& system : pool.systems) by_rank_[system.rank].push_back(&system);
    for (const auto& [rank, systems] : by_rank_) ranks_.push_back(rank);
    // Beyond what was measured the largest of the samples would stay the largest: then noise is drawn as normal.
    smooth_ = draw.ranks > static_cast<std::int64_t>(pool.systems.size());
    const double grown = static_cast<double>(draw.ranks);
    const double before = static_cast<double>(measured_ranks);
    for (std::size_t unit = 0; unit < pool.rings.size(); ++unit) {
      const Ring& ring = pool.rings[unit];
      const bool grows = draw.growing_comm && ring.rounds > 0;
      const double share = ring.share > 0 && ring.share < 1.999 && before > 1
                               ? ring.share * (grown - 1) / grown * before / (before - 1)
                               : ring.share;
      rings_.push_back(grows ? Ring{ring.rounds * (grown - 1) / (before - 1), share} : ring);
    }
  }

  std::vector<std::int64_t> lengths() {
    std::vector<std::int64_t> all;
    for (int i = 0; i < draws; ++i) all.push_back(one());
    std::ranges::sort(all);
    return all;
  }

 private:
  std::size_t below(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_); }

  std::int64_t one() {
    systems_.clear();
    factors_.clear();
    const std::int64_t ranks = draw_.noise ? draw_.ranks : 1;
    for (std::int64_t i = 0; i < ranks; ++i) {
      const auto& own = by_rank_[ranks_[below(ranks_.size())]];
      systems_.push_back(draw_.noise ? own[below(own.size())] : typical());
      double factor = draw_.work;
      if (draw_.noise && smooth_) {
        systems_.back() = typical();
        factor *= std::max(0.1, 1 + pool_.between_ranks * normal_(random_) + pool_.within_ranks * normal_(random_));
      }
      factors_.push_back(factor);
    }
    transfers_.clear();
    for (std::size_t unit = 0; unit < rings_.size(); ++unit) {
      const std::int64_t bytes = std::max<std::int64_t>(0, pool_.systems.front().units[unit].bytes);
      const auto& shares = pool_.shares[unit];
      transfers_.push_back(
          static_cast<std::int64_t>(pool_.links[unit].ns(rings_[unit], bytes) * shares[below(shares.size())]));
    }
    return step_length(systems_, factors_, transfers_);
  }

  /// The system of median own time.
  const StepSystem* typical() {
    if (typical_ != nullptr) return typical_;
    std::vector<std::pair<double, const StepSystem*>> times;
    for (const StepSystem& system : pool_.systems) times.emplace_back(own_time(system), &system);
    std::ranges::sort(times, {}, &std::pair<double, const StepSystem*>::first);
    typical_ = times[times.size() / 2].second;
    return typical_;
  }

  const Pool& pool_;
  const Draw& draw_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_{0, 1};
  std::map<std::uint32_t, std::vector<const StepSystem*>> by_rank_;
  std::vector<std::uint32_t> ranks_;
  bool smooth_ = false;
  std::vector<Ring> rings_;
  const StepSystem* typical_ = nullptr;
  std::vector<const StepSystem*> systems_;
  std::vector<double> factors_;
  std::vector<std::int64_t> transfers_;
};

}  // namespace

Pool pool_of(const replay::Graph& graph, std::vector<StepSystem> systems, std::int64_t ranks) {
  Pool pool;
  pool.systems = most_frequent(std::move(systems));
  add_noise(pool);
  add_links(graph, pool, ranks);
  return pool;
}

std::vector<std::int64_t> drawn_steps(const Pool& pool, std::int64_t measured_ranks, const Draw& draw,
                                      std::uint64_t seed) {
  return Drawing(pool, measured_ranks, draw, seed).lengths();
}

}  // namespace rankscope::analyzer::scaling
