// Of work that is asked for again and again only the newest is delivered.
#include <gtest/gtest.h>

#include <atomic>
#include <latch>

#include "gui/waiting.h"
#include "rankscope/gui/models/base/latest_job.h"

namespace rankscope::gui {
namespace {

using testing::comes_true;

TEST(LatestJob, DeliversInTheThreadThatAsked) {
  LatestJob job;
  std::thread::id worked;
  std::thread::id delivered;
  job.start([&](const std::stop_token&) -> LatestJob::Delivery {
    worked = std::this_thread::get_id();
    return [&] { delivered = std::this_thread::get_id(); };
  });
  ASSERT_TRUE(comes_true([&] { return !job.busy(); }));
  EXPECT_EQ(delivered, std::this_thread::get_id());
  EXPECT_NE(worked, delivered);
}

TEST(LatestJob, StopsWhatRunsAndSkipsWhatWaitsBehindIt) {
  LatestJob job;
  std::latch begun{1};
  std::vector<int> delivered;
  std::atomic<int> ran = 0;
  job.start([&](const std::stop_token& stop) -> LatestJob::Delivery {
    begun.count_down();
    while (!stop.stop_requested()) std::this_thread::yield();
    return [&] { delivered.push_back(0); };
  });
  begun.wait();
  for (int i = 1; i <= 5; ++i)
    job.start([&, i](const std::stop_token&) -> LatestJob::Delivery {
      ++ran;
      return [&, i] { delivered.push_back(i); };
    });
  ASSERT_TRUE(comes_true([&] { return !job.busy(); }));
  EXPECT_EQ(delivered, std::vector<int>{5});
  EXPECT_EQ(ran, 1);
}

TEST(LatestJob, DeliversNothingAfterCancel) {
  LatestJob job;
  bool delivered = false;
  job.start([&](const std::stop_token&) -> LatestJob::Delivery { return [&] { delivered = true; }; });
  job.cancel();
  ASSERT_TRUE(comes_true([&] { return !job.busy(); }));
  EXPECT_FALSE(delivered);
}

TEST(LatestJob, MayEndWhileItWorks) {
  bool delivered = false;
  {
    LatestJob job;
    job.start([&](const std::stop_token& stop) -> LatestJob::Delivery {
      while (!stop.stop_requested()) std::this_thread::yield();
      return [&] { delivered = true; };
    });
  }
  QCoreApplication::processEvents();
  EXPECT_FALSE(delivered);
}

}  // namespace
}  // namespace rankscope::gui
