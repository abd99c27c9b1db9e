// For whom the members of an operation waited (metrics.md 6, 10.1).
#pragma once

#include <optional>

#include "collectives/find.h"

namespace rankscope::analyzer {

/// The one member of an operation that the others waited for, and what may be claimed about it.
class LastToArrive {
 public:
  /// The operation must have waits.
  LastToArrive(const Run& run, const ClockTrust& clocks, const Operation& operation);

  /// Row of Run::collectives().
  [[nodiscard]] std::uint32_t row() const { return row_; }
  [[nodiscard]] bool by_run_time() const { return by_run_time_; }
  /// True if the last_to_arrive member was later than this one by more than the clocks may err (7.5, 6.9).
  [[nodiscard]] bool is_fact(const Collective& waiting, std::int64_t wait_ns) const;
  /// By how much it came later than the next one; 0 in operations with a root.
  [[nodiscard]] std::int64_t marginal_ns() const { return marginal_ns_; }

 private:
  void last_by_run_time(const Operation& operation);
  void last_by_duration(const Operation& operation);

  const Run& run_;
  const ClockTrust& clocks_;
  std::uint32_t row_ = 0;
  bool by_run_time_ = true;
  std::int64_t marginal_ns_ = 0;
};

}  // namespace rankscope::analyzer
