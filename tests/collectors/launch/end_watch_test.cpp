// How processes end, as the recorder sees it from outside.
#include "launch/end_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>
#include <thread>

#include "launch/child_process.h"
#include "launch/end_note.h"
#include "rankscope/core/format.h"
#include "recorded.h"
#include "spool/segment_names.h"

namespace rankscope::collectors {
namespace {

using namespace testing;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

/// A child that waits for signals; nobody collects it before this object goes.
class Child {
 public:
  Child() : process_(fork()) {
    if (process_ != 0) return;
    while (true) pause();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return process_; }

 private:
  pid_t process_;
};

void put_segment(const Folder& spool, pid_t process) { std::ofstream{spool / (segment_stem(process) + ".rseg")}; }

/// Long enough for the watch to see new segments, or an end.
void let_it_look() { std::this_thread::sleep_for(std::chrono::milliseconds{300}); }

TEST(EndWatch, SeesWhichSignalEndedAProcessAndInWhichOrder) {
  const Folder spool;
  const Child first;
  const Child second;
  const Child survivor;
  for (const Child* child : {&first, &second, &survivor}) put_segment(spool, child->pid());
  EndWatch watch{spool.path()};
  let_it_look();
  kill(second.pid(), SIGKILL);
  let_it_look();
  kill(first.pid(), SIGTERM);
  let_it_look();
  const std::vector<ProcessEnd> ends = watch.finish();
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_EQ(ends[0].process.pid, second.pid());
  ASSERT_TRUE(WIFSIGNALED(ends[0].wait_status));
  EXPECT_EQ(WTERMSIG(ends[0].wait_status), SIGKILL);
  EXPECT_EQ(ends[1].process.pid, first.pid());
  EXPECT_EQ(WTERMSIG(ends[1].wait_status), SIGTERM);
  EXPECT_LT(ends[0].unix_ns, ends[1].unix_ns);
  EXPECT_GT(ends[1].lived.count(), 0);
}

TEST(EndWatch, AnEarlierProcessWithThatPidIsNotMeant) {
  const Folder spool;
  const Child child;
  const std::ofstream segment{spool / (host_name() + "-" + std::to_string(child.pid()) + "-1.rseg")};
  EndWatch watch{spool.path()};
  let_it_look();
  kill(child.pid(), SIGKILL);
  let_it_look();
  EXPECT_TRUE(watch.finish().empty());
}

TEST(EndWatch, KeepsTheStatusOfAProcessThatIsCollectedBeforeItLooks) {
  const Folder spool;
  EndWatch watch{spool.path()};
  const pid_t child = fork();
  if (child == 0) {
    usleep(400'000);  // so that the watch sees it
    _exit(3);
  }
  put_segment(spool, child);
  const pid_t unseen = fork();
  if (unseen == 0) {
    usleep(10'000);
    _exit(4);
  }
  put_segment(spool, unseen);
  const pid_t unrecorded = fork();
  if (unrecorded == 0) _exit(5);
  std::optional<int> status;
  while (!status || !has_ended(unseen) || !has_ended(unrecorded)) {
    if (const auto now = reap(child, [&watch](pid_t pid, int state) { watch.note_collected(pid, state); }))
      status = now;
  }
  EXPECT_EQ(*status, 3);
  const std::vector<ProcessEnd> ends = watch.finish();
  ASSERT_EQ(ends.size(), 2U) << "only of processes that were recorded";
  EXPECT_EQ(ends[0].process.pid, unseen);
  EXPECT_EQ(WEXITSTATUS(ends[0].wait_status), 4);
  EXPECT_EQ(ends[1].process.pid, child);
  EXPECT_EQ(WEXITSTATUS(ends[1].wait_status), 3);
}

recording::LiveProcess process_of(std::int64_t pid, std::int32_t rank, std::int64_t last_step) {
  recording::LiveProcess process{.pid = pid, .rank = rank, .program = "train", .memory = {}};
  process.events = 100;
  process.steps = static_cast<std::uint64_t>(last_step + 1);
  process.last.push_back({.index = last_step});
  return process;
}

ProcessEnd end_at(std::int64_t pid, int wait_status, std::int64_t unix_ns) {
  return {.process = {.pid = static_cast<pid_t>(pid), .start = 7},
          .wait_status = wait_status,
          .unix_ns = unix_ns,
          .lived = nanoseconds{12'300'000'000}};
}

constexpr nanoseconds same_clock{0};  ///< here, the clock of the host counts from 1970

TEST(EndNote, NamesTheRankThatEndedFirstAndTheSignal) {
  recording::LiveView view;
  view.processes = {process_of(10, 0, 13), process_of(11, 1, 13)};
  const std::vector<ProcessEnd> ends{end_at(11, SIGKILL, 5), end_at(10, SIGTERM, 6)};
  const std::vector<RankEnd> bad = bad_ends(ends, view, same_clock);
  EXPECT_EQ(end_note(1, "", bad),
            "the command ended with status 1; rank 1 ended first: it was killed by SIGKILL "
            "12.300 s after it started, in step 14 (pid 11 on host " +
                host_name() + ")");
  RecordSummary summary;
  add_ends(bad, "", summary);
  using Fact = std::pair<std::string, std::string>;
  EXPECT_EQ(summary.metadata, (std::vector<Fact>{{"ended_by.rank1", "SIGKILL"},
                                                 {"end_seen.rank1", "11 9 5"},
                                                 {"ended_by.rank0", "SIGTERM"},
                                                 {"end_seen.rank0", "10 15 6"}}));
}

TEST(EndNote, NamesTheOutOfMemoryKillerIfItEndedProcessesMeanwhile) {
  recording::LiveView view;
  view.processes = {process_of(10, 0, 13), process_of(11, 1, 13)};
  const std::vector<RankEnd> killed =
      bad_ends(std::vector{end_at(11, SIGKILL, 5), end_at(10, SIGTERM, 6)}, view, same_clock);
  EXPECT_THAT(end_note(1, "", killed, "cgroup 1"),
              EndsWith("; meanwhile, the kernel's out-of-memory killer ended processes of this job"));
  EXPECT_THAT(end_note(1, "", killed, "host 2"),
              EndsWith("; meanwhile, the kernel's out-of-memory killer ended processes on this host"));
  RecordSummary summary;
  add_ends(killed, "cgroup 1", summary);
  const auto of_rank = [&summary](int rank) {
    return std::ranges::count(summary.metadata, std::pair{format("oom_kills.rank{}", rank), std::string{"cgroup 1"}});
  };
  EXPECT_EQ(of_rank(1), 1);
  EXPECT_EQ(of_rank(0), 0) << "the launcher asked it to end";
  const std::vector<RankEnd> crashed = bad_ends(std::vector{end_at(11, SIGSEGV, 5)}, view, same_clock);
  EXPECT_EQ(end_note(1, "", crashed, "cgroup 1").find("out-of-memory"), std::string::npos);
}

TEST(EndNote, NamesNoStepIfNotEverythingWasRead) {
  for (const bool is_behind : {true, false}) {
    recording::LiveView view;
    view.processes = {process_of(10, 0, 13)};
    (is_behind ? view.behind_bytes : view.left_out) = 1;
    const std::string note = end_note(1, "", bad_ends(std::vector{end_at(10, SIGKILL, 5)}, view, same_clock));
    EXPECT_NE(note.find("rank 0 ended first"), std::string::npos) << note;
    EXPECT_EQ(note.find("in step"), std::string::npos) << note;
  }
}

TEST(EndNote, AJobThatStoodStillBeforeMayHaveHung) {
  constexpr std::int64_t second = 1'000'000'000;
  recording::LiveView view;
  view.processes = {process_of(10, 0, 13), process_of(11, 1, 13)};
  for (recording::LiveProcess& process : view.processes)
    process.last.back() = {.index = 13, .begin = HostTime{nanoseconds{99 * second}}, .duration = nanoseconds{second}};
  const auto note_of = [&view](std::int64_t end, nanoseconds clock) {
    return end_note(1, "", bad_ends(std::vector{end_at(10, SIGKILL, end)}, view, clock));
  };
  EXPECT_THAT(
      note_of(130 * second, same_clock),
      EndsWith("; before that, no rank had finished a step for 30.000 s, so the job may have hung: `rankscope hang` "
               "shows which rank the others waited for"));
  EXPECT_THAT(note_of(140 * second, nanoseconds{10 * second}),
              HasSubstr("before that, no rank had finished a step for 30.000 s"));
  EXPECT_THAT(note_of(109 * second, same_clock), Not(HasSubstr("hung"))) << "less than ten of its steps";
  view.processes[1].last.back() = {
      .index = 13, .begin = HostTime{nanoseconds{125 * second}}, .duration = nanoseconds{1}};
  EXPECT_THAT(note_of(130 * second, same_clock), Not(HasSubstr("hung"))) << "another rank went on";
  view.processes[1].last.clear();
  view.behind_bytes = 1;
  EXPECT_THAT(note_of(130 * second, same_clock), Not(HasSubstr("hung"))) << "not all was read";
}

TEST(EndNote, KeepsErrorsAndSignalsApart) {
  recording::LiveView view;
  view.processes = {process_of(10, 0, 13)};
  EXPECT_EQ(bad_ends(std::vector{end_at(10, 3 << 8, 5)}, view, same_clock).at(0).how, "exited with status 3");
  EXPECT_EQ(bad_ends(std::vector{end_at(10, 0, 5)}, view, same_clock).at(0).how, "was killed, crashed or called _exit");
  view.processes[0].ended = true;
  EXPECT_TRUE(bad_ends(std::vector{end_at(10, 0, 5)}, view, same_clock).empty()) << "it ended as it should";
}

TEST(EndNote, ALoaderWorkerIsNotTheRank) {
  recording::LiveView view;
  view.processes = {process_of(10, 0, 13), process_of(12, 0, 13)};
  view.processes[1].events = 3;
  std::vector<ProcessEnd> ends{end_at(12, SIGTERM, 5), end_at(10, SIGKILL, 6)};
  ends[0].process.start = 9;
  const std::vector<RankEnd> bad = bad_ends(ends, view, same_clock);
  ASSERT_EQ(bad.size(), 1U);
  EXPECT_EQ(bad[0].end.process.pid, 10);
}

TEST(EndNote, ARankThatWasStartedAgainHasTwoEnds) {
  recording::LiveView view;
  view.processes = {process_of(10, 0, 13), process_of(12, 0, 3)};
  view.processes[1].events = 3;
  std::vector<ProcessEnd> ends{end_at(10, SIGKILL, 20'000'000'000), end_at(12, SIGBUS, 60'000'000'000)};
  ends[1].process.start = 9;
  RecordSummary summary;
  add_ends(bad_ends(ends, view, same_clock), "", summary);
  using Fact = std::pair<std::string, std::string>;
  EXPECT_EQ(summary.metadata,
            (std::vector<Fact>{{"ended_by.rank0", "SIGBUS"}, {"end_seen.rank0", "10 9 20000000000;12 7 60000000000"}}));
}

TEST(EndNote, SaysTheStatusWhereNoRankIsKnown) {
  EXPECT_EQ(end_note(0, "", {}), "");
  EXPECT_EQ(end_note(7, "", {}), "the command ended with status 7");
  EXPECT_EQ(end_note(143, "", {}), "the command ended with status 143 (SIGTERM)");
  EXPECT_EQ(end_note(130, "SIGINT", {}), "the command was stopped by SIGINT and ended with status 130 (SIGINT)");
}

}  // namespace
}  // namespace rankscope::collectors
