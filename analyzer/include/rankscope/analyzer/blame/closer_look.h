// Questions about parts of a run that no report can list beforehand: any stretch of time, any member of an operation.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "rankscope/analyzer/split/section.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// What a member of an operation waited, and for whom.
struct MemberWait {
  std::int64_t wait_ns = 0;
  std::uint32_t last_to_arrive = 0;  ///< row of Run::collectives(): the last one, the root or the partner
  bool is_fact = false;              ///< false: the clocks are too coarse to say that it was later
  bool has_to = false;               ///< the operation makes it wait for the last one to arrive (metrics.md 6.1)
};

/// Made once per recording, which costs about as much as matching and splitting cost a report; answers agree with those
/// of the report. Immutable.
class CloserLook {
 public:
  /// Null as soon as `stop` says so; it is asked between ranks. The recording may end before the answer is asked for.
  [[nodiscard]] static std::shared_ptr<const CloserLook> at(const Run& recorded, const std::function<bool()>& stop);
  CloserLook() = default;
  CloserLook(const CloserLook&) = delete;
  CloserLook& operator=(const CloserLook&) = delete;
  virtual ~CloserLook() = default;

  /// In run time; compute, exposed communication, copies and idle time add up to the range. Empty for a rank that the
  /// recording does not have.
  [[nodiscard]] virtual TimeSplit split(RankId rank, TimeRange range) const = 0;
  /// Of a row of Run::collectives() in run time; nothing where waiting cannot be told from moving data.
  [[nodiscard]] virtual std::optional<MemberWait> wait_of(std::uint32_t row) const = 0;
};

}  // namespace rankscope::analyzer
