#include "launch/process_ends.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "launch/child_process.h"

namespace rankscope::collectors {
namespace {

using ::testing::HasSubstr;

/// A process that does nothing until it is ended; its parent is this process.
pid_t waiting_child() {
  const pid_t child = fork();
  if (child == 0) {
    while (true) pause();
  }
  return child;
}

/// Until the text has it; at most some seconds.
bool appears(const EndWatch& watch, const std::string& text) {
  for (int i = 0; i < 500; ++i) {
    if (watch.text().find(text) != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  return false;
}

TEST(EndWatch, NotesTheSignalThatEndedAProcess) {
  const pid_t killed = waiting_child();
  const EndWatch watch;
  std::this_thread::sleep_for(std::chrono::milliseconds{400});  // so that it is being watched
  kill(killed, SIGKILL);
  EXPECT_TRUE(appears(watch, std::to_string(killed) + " 9 ")) << watch.text();
  int status = 0;
  waitpid(killed, &status, 0);
}

TEST(EndWatch, NotesAProcessThatIsReapedBeforeItLooks) {
  EndWatch watch;
  const pid_t child = fork();
  if (child == 0) _exit(3);
  std::optional<int> status;
  while (!status) status = reap(child, [&watch](pid_t pid, int state) { watch.note_reaped(pid, state); });
  EXPECT_EQ(*status, 3);
  EXPECT_NE(watch.text().find(std::to_string(child) + " 768 "), std::string::npos) << watch.text();
}

TEST(EndWatch, NotesNothingAfterItStopped) {
  const pid_t child = waiting_child();
  EndWatch watch;
  std::this_thread::sleep_for(std::chrono::milliseconds{400});
  watch.stop();
  kill(child, SIGKILL);
  std::this_thread::sleep_for(std::chrono::milliseconds{300});
  EXPECT_EQ(watch.text(), "");
  int status = 0;
  waitpid(child, &status, 0);
}

TEST(EndWatch, AnEndThatIsSeenTwiceIsListedOnce) {
  EndWatch watch;
  watch.note_reaped(123, 9);
  watch.note_reaped(123, 9);
  watch.note_reaped(124, 0);
  const std::string text = watch.text();
  EXPECT_EQ(std::ranges::count(text, ';'), 0) << text;
  EXPECT_NE(text.find(" 123 9 "), std::string::npos) << text;
}

TEST(EndWatch, SaysNothingOfAProcessThatExitedWell) {
  const EndWatch watch;
  const pid_t child = fork();
  if (child == 0) {
    usleep(400'000);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds{300});
  EXPECT_EQ(watch.text().find(std::to_string(child)), std::string::npos) << watch.text();
}

}  // namespace
}  // namespace rankscope::collectors
