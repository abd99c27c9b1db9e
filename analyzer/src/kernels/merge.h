// The global half of kernels: adds the local parts of ranks up (metrics.md 4.1, 4.2).
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/local.h"
#include "rankscope/analyzer/kernels/section.h"
#include "rankscope/analyzer/section.h"
#include "steps/time_cells.h"

namespace rankscope::analyzer {

/// A kernel in its own words, since each part has texts of its own.
struct KernelText {
  std::string name;
  std::optional<std::string> grid;
  std::optional<std::string> block;
  ActivityClass kind = ActivityClass::compute;
  auto operator<=>(const KernelText&) const = default;
};

/// Exclusive time and durations of one key.
struct KernelTally {
  std::int64_t exclusive_ns = 0;
  std::vector<std::int64_t> durations;

  void add(const KernelTally& other);
  [[nodiscard]] bool empty() const { return exclusive_ns == 0 && durations.empty(); }
};

/// Numbers keys by first appearance, and has one tally for each.
class KernelTable {
 public:
  std::size_t number_of(KernelText key);
  [[nodiscard]] std::span<const KernelText> keys() const { return keys_; }
  [[nodiscard]] KernelTally& tally(std::size_t number) { return tallies_[number]; }

 private:
  std::map<KernelText, std::size_t> numbers_;
  std::vector<KernelText> keys_;
  std::vector<KernelTally> tallies_;
};

/// Ranks are added in the order of their numbers, so that ties in the section do not depend on the files.
class KernelMerge {
 public:
  void add(const CountedRank& rank, const KernelsPart& part);
  /// Missing where nothing ran on the accelerators of any rank.
  [[nodiscard]] Section<KernelsSection> finish() &&;

 private:
  void take_names(std::map<std::size_t, KernelTally>& of_rank, RankKernels& row);

  KernelTable names_;
  KernelTable keys_;  // with grid and block
  KernelsSection section_;
  bool any_ = false;
};

}  // namespace rankscope::analyzer
