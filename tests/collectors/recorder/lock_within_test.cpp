// Waiting for a mutex that others may never let go.
#include "inject/recorder/lock_within.h"

#include <gtest/gtest.h>

namespace rankscope::inject {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// True if another thread gets the mutex at once.
bool is_free(std::mutex& mutex) {
  bool locked = false;
  std::jthread{[&] {
    locked = mutex.try_lock();
    if (locked) mutex.unlock();
  }}.join();
  return locked;
}

TEST(LockWithin, OwnsAFreeMutexAtOnceAndLetsItGo) {
  std::mutex mutex;
  {
    const auto lock = lock_within(mutex, milliseconds{0});
    EXPECT_TRUE(lock.owns_lock());
    EXPECT_FALSE(is_free(mutex));
  }
  EXPECT_TRUE(is_free(mutex));
}

TEST(LockWithin, GivesUpOnAMutexThatIsHeldLonger) {
  constexpr milliseconds patience{20};
  std::mutex mutex;
  const std::unique_lock holder{mutex};
  std::jthread{[&] {
    const auto begin = Clock::now();
    const auto lock = lock_within(mutex, patience);
    EXPECT_FALSE(lock.owns_lock());
    EXPECT_GE(Clock::now() - begin, patience);
  }}.join();
  EXPECT_FALSE(is_free(mutex)) << "it is its holder's";
}

TEST(LockWithin, TakesAMutexThatIsLetGoInTime) {
  std::mutex mutex;
  std::unique_lock holder{mutex};
  std::jthread waiting{[&] { EXPECT_TRUE(lock_within(mutex, std::chrono::minutes{1}).owns_lock()); }};
  holder.unlock();
  waiting.join();
  EXPECT_TRUE(is_free(mutex));
}

}  // namespace
}  // namespace rankscope::inject
