// The operations before an operation: where two ranks last were together (metrics.md 10.2).
#pragma once

#include <optional>
#include <vector>

#include "collectives/find.h"

namespace rankscope::analyzer {

/// The last operation before another that a rank had in common with the one it waited for: its members of both.
struct LastTogether {
  std::uint32_t of_waiting = 0;  ///< rows of Run::collectives()
  std::uint32_t of_awaited = 0;
};

/// True if it is known who waited for whom, and all members have a rank.
[[nodiscard]] bool tells_waits(const Run& run, const Unit& unit);

/// Operations that tell waits, by member.
class EarlierUnits {
 public:
  static constexpr std::uint32_t none = 0xFFFFFFFF;

  EarlierUnits(const Run& run, std::span<const Unit> units);

  /// Of a row of Run::collectives(); `none`: in no operation that tells waits.
  [[nodiscard]] std::uint32_t unit_of(std::uint32_t row) const { return unit_of_[row]; }
  /// Parallel to `waiting`, rows of one operation by rank; nothing where they had none in common, or too long ago.
  [[nodiscard]] std::vector<std::optional<LastTogether>> last_together(std::span<const std::uint32_t> waiting,
                                                                       std::uint32_t awaited) const;

 private:
  [[nodiscard]] bool ended_before(std::uint32_t earlier, std::uint32_t row) const;
  /// Fills in those of `waiting` that are members of the unit and have none yet. Returns how many.
  std::size_t meet(const Unit& unit, std::uint32_t of_awaited, std::span<const std::uint32_t> waiting,
                   std::vector<std::optional<LastTogether>>& found) const;

  const Run& run_;
  std::span<const Unit> units_;
  std::vector<std::uint32_t> unit_of_;                    // by row
  std::vector<std::vector<std::uint32_t>> rows_by_rank_;  // by place of the rank, by start
  std::vector<std::uint32_t> place_in_rank_;              // by row
};

}  // namespace rankscope::analyzer
