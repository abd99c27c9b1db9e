// At least 200 kills of recorders and of what recovers after them, before each of their calls that change files.
#include "collectors/kill_sweep.h"

#include <random>

namespace rankscope::collectors {
namespace {

using namespace testing;

constexpr unsigned fewest_kills = 200;
constexpr unsigned latest_recover_call = 30;

TEST(KillSweep, LosesNothingAndLeavesNoSpoolThatOneVerbListsAndTheOtherRefuses) {
  if (!can_trace) GTEST_SKIP() << "sanitized programs cannot be traced";
  const unsigned calls = calls_of_a_recorder();
  ASSERT_GT(calls, 10U);
  std::mt19937 random{20261126};  // fixed: a failure can be repeated
  unsigned killed = 0;
  for (unsigned call = 1; killed < fewest_kills; call = call % calls + 1) {
    const auto recover_call = static_cast<unsigned>(1 + random() % latest_recover_call);
    SCOPED_TRACE("recorder killed before call " + std::to_string(call) + " of " + std::to_string(calls) +
                 ", recovery before call " + std::to_string(recover_call));
    killed += sweep_once(call, recover_call);
    if (HasFailure()) return;
  }
  RecordProperty("kills", static_cast<int>(killed));
}

}  // namespace
}  // namespace rankscope::collectors
