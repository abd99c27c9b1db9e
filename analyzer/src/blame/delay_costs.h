// Waiting charged to where the delay began (metrics.md 10.2, 10.3; after Scalasca's delay costs, Boehme et al., ACM
// TOPC 3(2), 2016).
#pragma once

#include <optional>
#include <vector>

#include "blame/member_times.h"
#include "collectives/find.h"
#include "collectives/last_to_arrive.h"
#include "rankscope/analyzer/blame/section.h"
#include "rankscope/analyzer/collectives/section.h"

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

  EarlierOperations(const Run& run, const ClockTrust& clocks, std::span<const Operation> operations);

  /// Of a row of Run::collectives(); `none`: in no operation that tells waits.
  [[nodiscard]] std::uint32_t operation_of(std::uint32_t row) const { return operation_of_[row]; }
  /// Parallel to `waiting`, rows of one operation by rank; nothing where they had none in common, or too long ago.
  [[nodiscard]] std::vector<std::optional<LastTogether>> last_together(std::span<const std::uint32_t> waiting,
                                                                       std::uint32_t last_to_arrive) const;

 private:
  [[nodiscard]] bool ended_before(std::uint32_t earlier, std::uint32_t row) const;
  /// False if it is a fact that `row` had ended when `later` began, as a send does whose receiver comes later.
  [[nodiscard]] bool were_together(std::uint32_t row, std::uint32_t later) const;
  /// Fills in those of `waiting` that are members of the operation and have none yet. Returns how many.
  std::size_t meet(const Operation& operation, std::uint32_t of_last_to_arrive, std::span<const std::uint32_t> waiting,
                   std::vector<std::optional<LastTogether>>& found) const;

  const Run& run_;
  const ClockTrust& clocks_;
  std::span<const Operation> operations_;
  std::vector<std::uint32_t> operation_of_;               // by row
  std::vector<std::vector<std::uint32_t>> rows_by_rank_;  // by place of the rank, by start
  std::vector<std::uint32_t> place_in_rank_;              // by row
};

/// Backwards in time each wait hands on its own time, and what later waits handed on to it, to what the last_to_arrive
/// rank did more than the waiting one since both were last together. Where that is waiting itself, those waits inherit
/// it. So each nanosecond is charged once, in whole numbers, and nothing is done twice.
class DelayCosts {
 public:
  DelayCosts(const Run& run, const ClockTrust& clocks, const Matching& matching, const EarlierOperations& earlier,
             const MemberTimes& times);

  void charge_all();
  /// Of every rank of the run, by rank; only the costs are filled in.
  [[nodiscard]] std::vector<BlameRow> rows() && { return std::move(rows_); }
  /// What no rank can be charged with.
  [[nodiscard]] std::int64_t unknown_ns() const { return unknown_ns_; }

 private:
  /// What the last_to_arrive rank did more: by DelayPart up to unmatched, then waiting, then how much later it left the
  /// last common operation.
  static constexpr std::size_t waiting = spent_waiting;
  static constexpr std::size_t later_end = delay_part_count;
  using Excess = std::array<std::int64_t, delay_part_count + 1>;
  static void take_from_later_end(const WorkDuringPair& work, Excess& excess);

  /// Waits of the last_to_arrive rank since it was last together with some of the waiting ones.
  struct Pool {
    std::optional<std::uint32_t> since;  ///< its row of that time; none: the begin of the step
    std::vector<std::uint32_t> rows;
    std::vector<std::int64_t> weights;
    std::int64_t inherited_ns = 0;
  };

  void order_operations();
  void charge(std::uint32_t operation);
  void charge_facts(std::uint32_t operation, const LastToArrive& last_to_arrive,
                    std::span<const std::uint32_t> waiting_rows);
  void charge_wait(std::uint32_t row, std::uint32_t last_to_arrive, const Excess& excess, bool common, Pool& pool);
  [[nodiscard]] Excess excess_of(std::uint32_t row, const LastToArrive& last_to_arrive,
                                 const std::optional<LastTogether>& together) const;
  [[nodiscard]] Pool pool_of(std::uint32_t operation, std::uint32_t last_to_arrive,
                             std::optional<std::uint32_t> since) const;

  const Run& run_;
  const ClockTrust& clocks_;
  const Matching& matching_;
  const EarlierOperations& earlier_;
  const MemberTimes& times_;
  std::vector<std::uint32_t> order_;     // operations that tell waits, by when the waiting ended
  std::vector<std::uint32_t> place_;     // by operation: where it stands in that order
  std::vector<std::int64_t> handed_on_;  // by row: from later waits
  std::vector<BlameRow> rows_;           // by place of the rank
  std::int64_t unknown_ns_ = 0;
};

}  // namespace rankscope::analyzer
