// Becoming the one profiler of a process that CUPTI allows.
#pragma once

#include <string>

#include "cupti/library.h"

namespace rankscope::inject::cupti {

struct Subscription {
  int status = collectors::cupti::result::success;
  std::string holder{};  ///< the profiler that has CUPTI already, where the version tells
};

/// Loads the first libcupti that works with the driver and subscribes to it. `library` has a problem if there is none.
[[nodiscard]] Subscription load_and_subscribe(collectors::cupti::Library& library,
                                              collectors::cupti::Subscriber& subscriber,
                                              collectors::cupti::Callback callback);

/// Lets the callback know of the calls that switch the recording, when they begin and when they end. A sentence if that
/// is refused.
[[nodiscard]] std::string watch_profiler_calls(const collectors::cupti::Functions& call,
                                               collectors::cupti::Subscriber subscriber);

/// Why nothing is recorded through CUPTI; empty if it is.
[[nodiscard]] std::string problem_of(const collectors::cupti::Functions& call, const Subscription& subscription);

}  // namespace rankscope::inject::cupti
