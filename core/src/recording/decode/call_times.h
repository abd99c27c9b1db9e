// When each thread called a communication library: of what other threads reported, the calls; of what it reported
// itself, the reports.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "rankscope/core/time.h"

namespace rankscope::recording {

class CallTimes {
 public:
  void add(std::int64_t os_thread, RunTime time) { times_[os_thread].insert(time); }
  /// When the thread called next after a time; RunTime::max() if it did not.
  [[nodiscard]] RunTime next_after(std::int64_t os_thread, RunTime time) const {
    const auto thread = times_.find(os_thread);
    if (thread == times_.end()) return RunTime::max();
    const auto next = thread->second.upper_bound(time);
    return next == thread->second.end() ? RunTime::max() : *next;
  }
  /// The last time before `time` that lies further back than `gap` from its successor; RunTime::min() if there is none.
  /// Of what a thread did in one go, `time` being a part, that is the end of what it did before.
  [[nodiscard]] RunTime before_burst(std::int64_t os_thread, RunTime time, nanoseconds gap) {
    const auto thread = times_.find(os_thread);
    if (thread == times_.end()) return RunTime::min();
    auto& [later, before] = burst_[os_thread];  // asked in order, a burst is walked through once
    RunTime first = time;
    for (auto place = thread->second.lower_bound(time); place != thread->second.begin(); first = *place) {
      --place;
      if (first - *place > gap) return later = time, before = *place;
      if (*place == later) return later = time, before;
    }
    return later = time, before = RunTime::min();
  }

 private:
  std::map<std::int64_t, std::set<RunTime>> times_;
  std::map<std::int64_t, std::pair<RunTime, RunTime>> burst_{};  // a time that was asked for last, and the answer
};

}  // namespace rankscope::recording
