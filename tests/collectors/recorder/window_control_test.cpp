// The recording window as threads see it that ask about the past while it changes.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "inject/recorder/window.h"

namespace rankscope::inject {
namespace {

constexpr std::int64_t long_ago_ns = 1;

TEST(WindowControl, TellsWhetherItWasOpenBeforeAndBetweenItsChanges) {
  gate.open = true;
  const auto control = std::make_unique<WindowControl>();
  EXPECT_TRUE(control->was_open(long_ago_ns)) << "it has not changed yet";
  control->switch_to(false);
  EXPECT_TRUE(control->was_open(long_ago_ns));
  EXPECT_FALSE(control->was_open(INT64_MAX));
  control->switch_to(true);
  EXPECT_TRUE(control->was_open(long_ago_ns));
  EXPECT_TRUE(control->was_open(INT64_MAX));
}

TEST(WindowControl, IsFinishedWhenNoWindowCanFollowAndWaitsBeforeAWarmUp) {
  const auto control = std::make_unique<WindowControl>();
  control->set(collectors::StepWindow{.wait = 1, .warmup = 1, .active = 1, .repeat = 2});
  std::string seen;
  for (int step = 0; step < 7; ++step) {
    control->begin_step(WindowControl::MarkedBy::annotate);
    seen += control->is_finished() ? 'f' : gate.open.load() ? 'o' : control->is_waiting() ? 'w' : '.';
    control->end_step();
  }
  EXPECT_EQ(seen, "w.ow.of");
  gate.open = true;
  gate.counts_steps = false;
}

TEST(WindowControl, WithoutWarmUpOrEndItNeitherWaitsNorFinishes) {
  const auto control = std::make_unique<WindowControl>();
  control->set(collectors::StepWindow{.wait = 1, .warmup = 0, .active = 1, .repeat = 0});
  for (int step = 0; step < 20; ++step) {
    control->begin_step(WindowControl::MarkedBy::annotate);
    EXPECT_FALSE(control->is_waiting() || control->is_finished()) << step;
    control->end_step();
  }
  gate.open = true;
  gate.counts_steps = false;
}

TEST(WindowControl, AChangeIsNotCountedBeforeItIsThere) {
  std::atomic<std::uint64_t> wrong{0};
  for (int round = 0; round < 200; ++round) {
    gate.open = true;
    std::atomic<bool> reads{false};
    const auto control = std::make_unique<WindowControl>();
    const std::jthread reader{[&](const std::stop_token& stop) {
      for (; !stop.stop_requested(); reads = true)
        if (!control->was_open(long_ago_ns)) ++wrong;
    }};
    while (!reads) std::this_thread::yield();
    for (int change = 0; change < 500; ++change) {
      control->switch_to(false);
      control->switch_to(true);
    }
  }
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace rankscope::inject
