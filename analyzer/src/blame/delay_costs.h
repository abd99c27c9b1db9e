// Waiting charged to where the delay began (metrics.md 10.2, 10.3; after Scalasca's delay costs, Boehme et al., ACM
// TOPC 3(2), 2016).
#pragma once

#include <optional>
#include <vector>

#include "blame/earlier_operations.h"
#include "blame/member_times.h"
#include "collectives/last_to_arrive.h"
#include "rankscope/analyzer/blame/section.h"

namespace rankscope::analyzer {

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
