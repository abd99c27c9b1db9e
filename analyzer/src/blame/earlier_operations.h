// The operations before an operation: where two ranks last were together (metrics.md 10.2).
#pragma once

#include <optional>
#include <vector>

#include "collectives/find.h"

namespace rankscope::analyzer {

/// The last operation before another that a rank had in common with the one it waited for: its members of both.
struct LastTogether {
  std::uint32_t of_waiting = 0;  ///< rows of Run::collectives()
  std::uint32_t of_last_to_arrive = 0;
};

/// True if it is known who waited for whom, and all members have a rank.
[[nodiscard]] bool shows_waits(const Run& run, const Operation& operation);

/// Operations that tell waits, by member.
class EarlierOperations {
 public:
  static constexpr std::uint32_t none = 0xFFFFFFFF;

  EarlierOperations(const Run& run, std::span<const Operation> operations);

  /// Of a row of Run::collectives(); `none`: in no operation that tells waits.
  [[nodiscard]] std::uint32_t operation_of(std::uint32_t row) const { return operation_of_[row]; }
  /// Parallel to `waiting`, rows of one operation by rank; nothing where they had none in common, or too long ago.
  [[nodiscard]] std::vector<std::optional<LastTogether>> last_together(std::span<const std::uint32_t> waiting,
                                                                       std::uint32_t last_to_arrive) const;

 private:
  [[nodiscard]] bool ended_before(std::uint32_t earlier, std::uint32_t row) const;
  /// Fills in those of `waiting` that are members of the operation and have none yet. Returns how many.
  std::size_t meet(const Operation& operation, std::uint32_t of_last_to_arrive, std::span<const std::uint32_t> waiting,
                   std::vector<std::optional<LastTogether>>& found) const;

  const Run& run_;
  std::span<const Operation> operations_;
  std::vector<std::uint32_t> operation_of_;               // by row
  std::vector<std::vector<std::uint32_t>> rows_by_rank_;  // by place of the rank, by start
  std::vector<std::uint32_t> place_in_rank_;              // by row
};

}  // namespace rankscope::analyzer
