// Items that are the same work on other ranks and in other steps, and how long they should take (metrics.md 12.4).
#pragma once

#include <span>
#include <vector>

#include "rankscope/analyzer/section.h"
#include "rankscope/analyzer/split/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "replay/graph.h"
#include "split/peers.h"

namespace rankscope::analyzer::replay {

/// For each row of Graph::ranks a number that those share which should do equal work; all the same where that is
/// unknown.
[[nodiscard]] std::vector<std::uint32_t> classes_of(const Run& run, const Graph& graph,
                                                    const Section<StepsSection>& steps,
                                                    const Section<std::vector<RankRow>>& rows);

/// Items of one key and occurrence within their step, over ranks of one class and over steps.
class ItemPeers {
 public:
  /// `classes`: for each row of Graph::ranks which of them should do equal work.
  ItemPeers(const Graph& graph, std::span<const std::uint32_t> classes);

  /// All items that are the same work as this one, itself included.
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t item) const {
    const std::uint32_t set = set_of_[item];
    return std::span(members_).subspan(first_[set], first_[set + 1] - first_[set]);
  }
  /// The class of a row of Graph::ranks; all items of a set are of one class.
  [[nodiscard]] std::uint32_t class_of(std::uint32_t rank) const { return classes_[rank]; }
  /// How many sets there are, and the items of one.
  [[nodiscard]] std::size_t size() const { return first_.size() - 1; }
  [[nodiscard]] std::span<const std::uint32_t> set(std::size_t row) const {
    return std::span(members_).subspan(first_[row], first_[row + 1] - first_[row]);
  }

 private:
  std::vector<std::uint32_t> classes_;  // by row of Graph::ranks
  std::vector<std::uint32_t> set_of_;   // by item
  std::vector<std::uint32_t> first_;    // by set, one more at the end
  std::vector<std::uint32_t> members_;  // by set, then item
};

/// Without imbalance: mean over the peers of compute, memory, host and data; median of transfers and delays. What has
/// no peer keeps its length.
[[nodiscard]] std::vector<std::int64_t> ideal_lengths(const Graph& graph, const ItemPeers& peers);

}  // namespace rankscope::analyzer::replay
