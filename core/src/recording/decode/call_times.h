// When each thread called a communication library, as far as other threads reported it.
#pragma once

#include <cstdint>
#include <map>
#include <set>

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

 private:
  std::map<std::int64_t, std::set<RunTime>> times_;
};

}  // namespace rankscope::recording
