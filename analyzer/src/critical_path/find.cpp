#include "critical_path/parts.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "critical_path/path_walk.h"
#include "math/statistics.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer::replay {
namespace {

constexpr double hardly_later = 0.01;  // metrics.md 11.5: of a step

using OperationKey = std::pair<StringId, PathClass>;

/// What each operation took in a step, all ranks together: work[step][operation].
std::vector<std::map<OperationKey, std::int64_t>> work_of_steps(const Graph& graph) {
  std::vector<std::map<OperationKey, std::int64_t>> work(graph.steps.size());
  for (const Item& item : graph.items) {
    if (item.work == Work::delay) continue;
    const StringId name = item.span.is_set() ? graph.run->span(item.span).name : StringId{};
    work[item.step][{name, class_of(item.work)}] += item.ns;
  }
  return work;
}

class Summary {
 public:
  Summary(const Graph& graph, std::span<const std::int64_t> slack)
      : graph_(graph), slack_(slack), work_(work_of_steps(graph)) {}

  CriticalPathSection section() {
    section_.whole_recording = graph_.whole_recording;
    const std::size_t typical = median_step();
    for (std::size_t step = 0; step < graph_.steps.size(); ++step) {
      Path path = walk_path(graph_, step);
      section_.clamped_ns += path.clamped_ns;
      add_step(step, path);
      if (step == typical) draw(step, path);
    }
    for (const auto& [rank, ns] : ranks_) section_.ranks.push_back({rank, ns});
    std::ranges::stable_sort(section_.ranks, std::ranges::greater{}, &PathOfRank::ns);
    for (const auto& [key, row] : operations_) {
      section_.operations.push_back(row);
      if (key.first.is_set()) section_.operations.back().name = graph_.run->text(key.first);
    }
    // Not by string ids, which differ between a trace and a pack of it.
    std::ranges::sort(section_.operations, {}, [](const PathOperation& operation) {
      return std::tuple{-operation.ns, std::string_view{operation.name}, operation.kind};
    });
    section_.near_critical = near_critical_share();
    return std::move(section_);
  }

 private:
  [[nodiscard]] std::size_t median_step() const {
    std::vector<std::int64_t> lengths_ns;
    for (const auto& step : graph_.steps) lengths_ns.push_back(step.measured_ns);
    return median_row(lengths_ns);
  }

  void add_step(std::size_t row, const Path& path) {
    PathStep step{graph_.steps[row].index, 0, {}};
    std::map<OperationKey, std::int64_t> operations;
    for (const PathStretch& stretch : path.stretches) {
      const std::int64_t ns = stretch.time.length().count();
      step.length_ns += ns;
      step.sums_ns[static_cast<std::size_t>(stretch.kind)] += ns;
      ranks_[stretch.rank] += ns;
      operations[{stretch.name, stretch.kind}] += ns;
    }
    for (const auto& [key, ns] : operations) {
      PathOperation& operation = operations_[key];
      operation.kind = key.second;
      operation.ns += ns;
      const auto all = work_[row].find(key);
      if (all == work_[row].end()) continue;
      operation.imbalance_ns +=
          std::max<std::int64_t>(0, ns - all->second / static_cast<std::int64_t>(graph_.ranks.size()));
    }
    for (std::size_t i = 0; i < path_class_count; ++i) section_.sums_ns[i] += step.sums_ns[i];
    section_.length_ns += step.length_ns;
    section_.steps.push_back(step);
  }

  void draw(std::size_t row, const Path& path) {
    section_.drawn_step = graph_.steps[row].index;
    for (const PathStretch& stretch : path.stretches) {
      if (!section_.drawn.empty()) {
        PathStretch& before = section_.drawn.back();
        if (before.rank == stretch.rank && before.lane == stretch.lane && before.kind == stretch.kind) {
          if (stretch.time.length() > before.time.length()) before.name = stretch.name;
          before.time.end = stretch.time.end;
          continue;
        }
      }
      section_.drawn.push_back(stretch);
    }
  }

  /// How close each rank comes in each step to making a later end of the last one.
  [[nodiscard]] double near_critical_share() const {
    double sum = 0;
    for (std::size_t step = 0; step < graph_.steps.size(); ++step) {
      const double limit = hardly_later * static_cast<double>(graph_.steps[step].measured_ns);
      for (std::size_t rank = 0; rank < graph_.ranks.size(); ++rank) {
        const std::uint32_t row = graph_.boundaries[(step + 1) * graph_.ranks.size() + rank];
        // A boundary holds nobody up by itself; what it waits for does.
        const auto hardly = [&](const Pred& pred) { return static_cast<double>(slack_[pred.node]) < limit; };
        if (row != no_row && std::ranges::any_of(graph_.preds_of(graph_.nodes[row]), hardly)) sum += 1;
      }
    }
    return sum / static_cast<double>(graph_.steps.size() * graph_.ranks.size());
  }

  const Graph& graph_;
  std::span<const std::int64_t> slack_;
  std::vector<std::map<OperationKey, std::int64_t>> work_;
  CriticalPathSection section_;
  std::map<RankId, std::int64_t> ranks_;
  std::map<OperationKey, PathOperation> operations_;
};

}  // namespace

CriticalPathSection critical_path(const Graph& graph, std::span<const std::int64_t> slack) {
  return Summary(graph, slack).section();
}

}  // namespace rankscope::analyzer::replay

namespace rankscope::analyzer {

std::string_view name_of(PathClass kind) {
  switch (kind) {
    case PathClass::compute:
      return "compute";
    case PathClass::comm:
      return "comm";
    case PathClass::memory:
      return "memory";
    case PathClass::host:
      return "host";
    case PathClass::data:
      return "data";
    case PathClass::wait:
      return "wait";
    case PathClass::gap:
      return "gap";
  }
  return "?";
}

}  // namespace rankscope::analyzer
