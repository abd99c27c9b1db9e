#include "scaling/monte_carlo.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "math/statistics.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer::scaling {
namespace {

constexpr double spike_sigmas = 4;    // a step that much longer than others of its rank is a spike (metrics.md 16.3)
constexpr double least_spike = 0.02;  // and by this share of a step

double sigma_of(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

/// x = mean + b of the rank + w of the step (metrics.md 16.3); spikes are apart from w.
void add_noise(Pool& pool) {
  std::map<std::uint32_t, std::vector<double>> by_rank;
  double sum = 0;
  for (const StepSystem& system : pool.systems) {
    by_rank[system.rank].push_back(system.own_ns);
    sum += system.own_ns;
  }
  const double mean = sum / static_cast<double>(pool.systems.size());
  pool.mean_own_ns = mean;
  if (mean <= 0) return;
  std::vector<double> means;
  std::vector<std::int64_t> rests;  // in ns
  for (const auto& [rank, times] : by_rank) {
    const double own = std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
    means.push_back(own / mean);
    pool.of_rank[rank] = own / mean;
    for (const double time : times) rests.push_back(std::llround(time - own));
  }
  const double spike = std::max(spike_sigmas * robust_sigma(rests), least_spike * mean);
  std::vector<double> usual;
  for (const std::int64_t rest : rests) {
    const double part = static_cast<double>(rest) / mean;
    (static_cast<double>(rest) > spike ? pool.spikes : usual).push_back(part);
  }
  std::ranges::sort(pool.spikes);
  pool.spike_chance = static_cast<double>(pool.spikes.size()) / static_cast<double>(rests.size());
  pool.within_ranks = sigma_of(usual);
  // Means of few steps differ by what their steps differ.
  std::vector<double> parts;
  for (const std::int64_t rest : rests) parts.push_back(static_cast<double>(rest) / mean);
  const double steps_of_rank = static_cast<double>(rests.size()) / static_cast<double>(means.size());
  const double by_chance = std::pow(sigma_of(parts), 2) / steps_of_rank;
  pool.between_ranks = std::sqrt(std::max(0.0, std::pow(sigma_of(means), 2) - by_chance));
}

/// One fit for each kind of operation, whatever its place in the step.
void add_links(const replay::Graph& graph, Pool& pool, std::int64_t ranks) {
  std::map<std::string, std::vector<Transfer>> by_op;
  for (const StepOperation& operation : pool.systems.front().operations)
    pool.ops.emplace_back(graph.run->text(operation.op));
  for (const StepSystem& system : pool.systems)
    for (std::size_t operation = 0; operation < pool.ops.size(); ++operation)
      by_op[pool.ops[operation]].push_back({std::max<std::int64_t>(0, system.operations[operation].bytes),
                                            static_cast<double>(system.transfers_ns[operation])});
  std::map<std::string, LinkModel> links;
  for (const auto& [op, transfers] : by_op) links[op] = fit_link(transfers, *ring_of(op, ranks));
  for (std::size_t operation = 0; operation < pool.ops.size(); ++operation) {
    pool.rings.push_back(*ring_of(pool.ops[operation], ranks));
    pool.links.push_back(links[pool.ops[operation]]);
    auto& instances = pool.instances.emplace_back();
    for (const StepSystem& system : pool.systems) {
      const std::int64_t bytes = std::max<std::int64_t>(0, system.operations[operation].bytes);
      const double fitted = std::max(1.0, pool.links.back().ns(pool.rings.back(), bytes));
      instances.push_back({bytes, static_cast<double>(system.transfers_ns[operation]) / fitted});
    }
  }
}

/// A link of a ring that leaves hosts. The user's network counts where it is the slower one.
LinkModel over(const Network& network, const LinkModel& measured) {
  const double between = std::max(measured.alpha_ns, network.alpha_ns);
  return {.alpha_ns = measured.alpha_ns + network.share_of_hops * (between - measured.alpha_ns),
          .ns_per_byte = std::max(measured.ns_per_byte, network.ns_per_byte),
          .latency_known = true};
}

/// The largest of so many standard normal numbers, from one number that is uniform in (0, 1): z with
/// P(Z > z) = 1 - uniform^(1 / count).
double largest_normal(std::int64_t count, double uniform) {
  const double beyond = -std::expm1(std::log(uniform) / static_cast<double>(count));
  double low = -10;
  double high = 10;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(middle / std::sqrt(2.0)) > beyond ? low : high) = middle;
  }
  return low;
}

class Drawing {
 public:
  Drawing(const Pool& pool, const Draw& draw, std::uint64_t seed) : pool_(pool), draw_(draw), random_(seed) {
    std::int64_t kept = 0;
    for (const StepSystem& system : pool.systems) {
      if (system.ways_ns.empty()) continue;
      by_rank_[system.rank].push_back(&system);
      ++kept;
    }
    for (const auto& [rank, systems] : by_rank_) ranks_.push_back(rank);
    if (draw.ranks > kept)
      noise_ = Noise::drawn;
    else if (draw.ranks > std::ssize(pool.of_rank))
      noise_ = Noise::drawn_ranks;
    if (!draw.noise) noise_ = Noise::none;
    for (std::size_t operation = 0; operation < pool.rings.size(); ++operation) {
      const bool leaves = draw.growing_comm && draw.network;
      links_.push_back(leaves ? over(*draw.network, pool.links[operation]) : pool.links[operation]);
      rings_.push_back(draw.growing_comm ? *ring_of(pool.ops[operation], draw.ranks) : pool.rings[operation]);
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
    switch (noise_) {
      case Noise::none:
        add(typical(), 1);
        break;
      case Noise::drawn:
        add(typical(), slowest() * pool_.mean_own_ns / std::max(1.0, typical()->own_ns));  // noise is of the mean
        break;
      case Noise::measured:
      case Noise::drawn_ranks:
        for (std::int64_t i = 0; i < draw_.ranks; ++i) add_measured();
        break;
    }
    transfers_.clear();
    for (std::size_t operation = 0; operation < rings_.size(); ++operation) {
      const auto& instances = pool_.instances[operation];
      const Instance& drawn = instances[below(instances.size())];
      transfers_.push_back(
          static_cast<std::int64_t>(links_[operation].ns(rings_[operation], drawn.bytes) * drawn.share));
    }
    return step_length(systems_, factors_, transfers_);
  }

  void add(const StepSystem* system, double factor) {
    systems_.push_back(system);
    factors_.push_back(draw_.work * factor);
  }

  /// A measured step; of a drawn rank it is moved from what its own rank usually takes.
  void add_measured() {
    const std::uint32_t rank = ranks_[below(ranks_.size())];
    const auto& own = by_rank_[rank];
    const StepSystem* const system = own[below(own.size())];
    if (noise_ == Noise::measured) return add(system, 1);
    const double drawn = 1 + pool_.between_ranks * normal_(random_);
    add(system, std::max(least_factor, drawn) / std::max(least_factor, pool_.of_rank.at(rank)));
  }

  /// All ranks do the typical step, so that the slowest one alone decides how long it takes.
  double slowest() {
    const double sigma = std::sqrt(pool_.between_ranks * pool_.between_ranks + pool_.within_ranks * pool_.within_ranks);
    double factor = std::max(least_factor, 1 + sigma * largest_normal(draw_.ranks, between_0_and_1()));
    const std::int64_t spikes = std::binomial_distribution<std::int64_t>(draw_.ranks, pool_.spike_chance)(random_);
    if (spikes > 0) {
      const double place = std::pow(between_0_and_1(), 1 / static_cast<double>(spikes));  // of the largest of them
      const auto row = static_cast<std::size_t>(place * static_cast<double>(pool_.spikes.size()));
      factor = std::max(factor, 1 + pool_.spikes[std::min(row, pool_.spikes.size() - 1)]);
    }
    return factor;
  }

  double between_0_and_1() { return std::uniform_real_distribution<double>(1e-12, 1)(random_); }

  /// The system of median own time.
  const StepSystem* typical() {
    if (typical_ != nullptr) return typical_;
    std::vector<const StepSystem*> all;
    for (const auto& [rank, systems] : by_rank_) all.insert(all.end(), systems.begin(), systems.end());
    std::vector<std::int64_t> own_ns;
    for (const StepSystem* const system : all) own_ns.push_back(std::llround(system->own_ns));
    typical_ = all[median_row(own_ns)];
    return typical_;
  }

  /// Beyond what was measured the largest of the samples would stay the largest: then noise is drawn as normal, of the
  /// ranks for more ranks than there were, of their steps for more than there were steps of them (metrics.md 16.3).
  enum class Noise : std::uint8_t { none, measured, drawn_ranks, drawn };
  static constexpr double least_factor = 0.1;

  const Pool& pool_;
  const Draw& draw_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_{0, 1};
  std::map<std::uint32_t, std::vector<const StepSystem*>> by_rank_;
  std::vector<std::uint32_t> ranks_;
  Noise noise_ = Noise::measured;
  std::vector<Ring> rings_;       // of each operation on the drawn number of ranks
  std::vector<LinkModel> links_;  // of each operation
  const StepSystem* typical_ = nullptr;
  std::vector<const StepSystem*> systems_;
  std::vector<double> factors_;
  std::vector<std::int64_t> transfers_;
};

}  // namespace

Pool pool_of(const replay::Graph& graph, std::vector<StepSystem> systems, std::int64_t ranks) {
  Pool pool;
  pool.systems = std::move(systems);
  add_noise(pool);
  add_links(graph, pool, ranks);
  return pool;
}

std::vector<std::int64_t> drawn_steps(const Pool& pool, const Draw& draw, std::uint64_t seed) {
  return Drawing(pool, draw, seed).lengths();
}

}  // namespace rankscope::analyzer::scaling
