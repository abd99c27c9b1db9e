#include "alignment/pairing.h"

#include <gmock/gmock.h>

#include <cstdint>

namespace rankscope::analyzer {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t step_ns = 100'000'000;
constexpr std::int64_t sent_after_ns = 50'000'000;  // from the start of a step
constexpr std::int64_t delay_ns = 200'000;

/// Rank 0 sends `messages` to rank 1 in each step, 1 ms after each other; rank 1 waits for each of them.
UnpairedCalls one_way(std::size_t steps, std::int64_t messages = 1) {
  UnpairedCalls calls;
  for (std::int64_t message = 0; message < messages; ++message) {
    CallSite send{RankId{0}, {}};
    CallSite receive{RankId{1}, {}};
    for (std::size_t step = 0; step < steps; ++step) {
      const std::int64_t begin = static_cast<std::int64_t>(step) * step_ns;
      const std::int64_t sent = begin + sent_after_ns + message * 1'000'000;
      send.calls.push_back({.start_ns = sent, .blocked_ns = sent, .end_ns = sent + delay_ns});
      receive.calls.push_back({.start_ns = begin, .blocked_ns = begin, .end_ns = sent + delay_ns});
    }
    calls.sends.push_back(std::move(send));
    calls.receives.push_back(std::move(receive));
  }
  return calls;
}

constexpr std::size_t many_steps = 150;
constexpr std::size_t late_step = 120;  // the search compares the first 100

TEST(Pairing, UsesTheProofOfAllSteps) {
  const Pairing pairing = pair_sites(one_way(many_steps));
  EXPECT_THAT(pairing.pairs, SizeIs(1)) << pairing.why;
  EXPECT_EQ(pairing.evidence.near, many_steps);
}

TEST(Pairing, IsNotConcludedIfAReceiveInALateStepEndsBeforeItsSendStarts) {
  UnpairedCalls calls = one_way(many_steps);
  calls.receives[0].calls[late_step].end_ns = calls.sends[0].calls[late_step].start_ns - 1;
  const Pairing pairing = pair_sites(calls);
  EXPECT_THAT(pairing.pairs, IsEmpty());
  EXPECT_THAT(pairing.why, HasSubstr("at least one receive ends before its send starts or differs"));
}

TEST(Pairing, IsNotConcludedIfSizesDifferInALateStep) {
  UnpairedCalls calls = one_way(many_steps);
  calls.sends[0].calls[late_step].bytes = 8;
  calls.receives[0].calls[late_step].bytes = 16;
  EXPECT_THAT(pair_sites(calls).pairs, IsEmpty());
}

TEST(Pairing, IsNotConcludedIfTheSizesContradictTheOrderOfTheMessages) {
  UnpairedCalls calls = one_way(3, 2);
  for (std::size_t step = 0; step < 3; ++step) {
    calls.sends[0].calls[step].bytes = calls.receives[1].calls[step].bytes = 8;
    calls.sends[1].calls[step].bytes = calls.receives[0].calls[step].bytes = 16;
    calls.receives[0].calls[step].end_ns = calls.sends[1].calls[step].start_ns + delay_ns;
  }
  EXPECT_THAT(pair_sites(calls).pairs, IsEmpty());
}

}  // namespace
}  // namespace rankscope::analyzer
