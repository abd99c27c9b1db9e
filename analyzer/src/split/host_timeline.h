// What one host thread was in at each instant: the operator or range around it, and the call it was in.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// Where a host thread was. Unset ids: in no range; in no call into CUDA.
struct HostPlace {
  StringId range{};  ///< innermost operator or annotation; a step is none
  StringId call{};  ///< innermost call into CUDA's runtime or driver, or synchronization; of the system only outside of
                    ///< these
  bool loads_data = false;
  bool blocks = false;  ///< in a call or operator that waits for the device
  bool waits = false;   ///< in the call itself, or in a synchronization
  bool operator==(const HostPlace&) const = default;
};

/// From `begin` until the next stretch begins.
struct HostStretch {
  RunTime begin{};
  HostPlace place;
};

/// The stretches of one thread, ascending; before the first one the thread is nowhere.
class HostTimeline {
 public:
  HostTimeline(const Run& run, const Lane& lane);

  [[nodiscard]] HostPlace at(RunTime time) const;
  /// From when on until when the thread is blocked, without a break around `time`; empty where it is not. The call
  /// tells, and where none was recorded the operator.
  [[nodiscard]] TimeRange blocked_around(RunTime time) const;
  /// visit(TimeRange, HostPlace) for each stretch of `window`; they tile it.
  template <class Visit>
  void over(TimeRange window, Visit visit) const {
    for (std::size_t next = first_after(window.begin); window.begin < window.end; ++next) {
      const RunTime end = next < stretches_.size() ? std::min(stretches_[next].begin, window.end) : window.end;
      visit(TimeRange{window.begin, end}, next == 0 ? HostPlace{} : stretches_[next - 1].place);
      window.begin = end;
    }
  }

 private:
  [[nodiscard]] std::size_t first_after(RunTime time) const;

  std::vector<HostStretch> stretches_;
};

/// When the last recorded event of a rank's threads ended: what they did later is not known. RunTime::min() without
/// any.
[[nodiscard]] RunTime end_of_host(const Run& run, RankId rank);

/// Calls into the operating system, as Nsight Systems records them. Inside a call into CUDA or an operator they say
/// nothing to a user: that call made them.
class SystemCalls {
 public:
  explicit SystemCalls(const Run& run);
  [[nodiscard]] bool operator()(const Span& span);

 private:
  const Run& run_;
  bool any_ = false;                 ///< else no string of the run says so
  std::vector<std::uint8_t> known_;  ///< by name: looked up once
};

/// True for a call or operator that returns only when the device has done something.
[[nodiscard]] bool blocks_host(std::string_view name);
/// True for a call into the operating system in which a thread does nothing but wait.
[[nodiscard]] bool waits_in_system(std::string_view name);

}  // namespace rankscope::analyzer
