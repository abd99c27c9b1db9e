// A recorder, and what recovers after it, killed at any moment: nothing is lost that a process has recorded.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "collectors/recorded.h"
#include "rankscope/collectors/spools.h"
#include "support/killed_at.h"

namespace rankscope::collectors::testing {

using rankscope::testing::can_trace;
using rankscope::testing::Fate;
using rankscope::testing::kill_at;

/// One job whose recorder is killed, and all that is done about it afterwards.
class KilledJob {
 public:
  KilledJob() : spool_base_("RANKSCOPE_SPOOL", base_.path().string()) {}

  [[nodiscard]] fs::path out() const { return folder_ / "run.rankscope"; }

  /// Returns when the recorder and its command have ended.
  Fate record_and_kill(unsigned nth) {
    std::array<int, 2> alive{};  // the command has the other end
    EXPECT_EQ(pipe(alive.data()), 0);
    const Fate fate = kill_at(nth, [&] {
      close(alive[0]);
      RecordOptions options{
          .command = {"/bin/sh", "-c", program("annotate_actor") + " everything && touch " + ended()}};
      options.out = out();
      options.library = RANKSCOPE_TEST_LIBRARY;
      options.talk = Talk::quiet;
      options.gpus = Gpus::not_used;
      static_cast<void>(run_recorded(options));
    });
    close(alive[1]);
    char letter = 0;
    EXPECT_EQ(read(alive[0], &letter, 1), 0);
    close(alive[0]);
    return fate;
  }

  /// True if all that the job does was recorded before its recorder died.
  [[nodiscard]] bool was_recorded() const { return fs::exists(ended()); }

  [[nodiscard]] std::vector<LeftSpool> left() const {
    std::vector<LeftSpool> left = left_spools();
    const fs::path base = fs::canonical(base_.path());
    std::erase_if(left, [&base](const LeftSpool& one) { return one.path.parent_path() != base; });
    return left;
  }

  /// As a user does it whom `doctor` tells what to do.
  [[nodiscard]] RecoverOptions as_told(const LeftSpool& spool) const {
    const bool needs_name = spool.kind == LeftKind::segments && spool.out.empty();
    return {.spool = spool.path, .out = needs_name ? rescued() : fs::path{}, .talk = Talk::quiet};
  }

  Fate recover_and_kill(const RecoverOptions& options, unsigned nth) const {
    return kill_at(nth, [&options] { static_cast<void>(recover(options)); });
  }

  /// What is listed is taken, until nothing is listed.
  void recover_all() const {
    for (const LeftSpool& spool : left()) {
      const auto recovered = recover(as_told(spool));
      EXPECT_TRUE(recovered) << spool.path << " is listed and refused: " << recovered.error().message;
    }
    EXPECT_TRUE(left().empty()) << left().front().path << " is still listed";
  }

  /// In one recording, which says that it is complete.
  void expect_nothing_lost() const {
    if (!was_recorded()) return;
    std::uint64_t found = 0;
    for (const fs::path& recording : {out(), rescued()}) {
      const auto run = recording::read_recording(recording);
      if (!run) continue;
      found += spans_named(**run, "step");
      EXPECT_EQ((*run)->quality().of(Counter::not_gathered), 0U) << recording;
      EXPECT_EQ((*run)->quality().of(Counter::segments_unreadable), 0U) << recording;
    }
    EXPECT_EQ(found, 2U);
  }

  [[nodiscard]] fs::path rescued() const { return folder_ / "rescued.rankscope"; }

 private:
  [[nodiscard]] std::string ended() const { return (folder_ / "ended").string(); }

  Folder folder_;
  Folder base_;
  Variable spool_base_;
};

/// Kills the recorder before its call `record_call`, then what recovers before its call `recover_call`, and looks at
/// what comes out. The number of processes that were killed.
inline unsigned sweep_once(unsigned record_call, unsigned recover_call) {
  KilledJob job;
  unsigned killed = job.record_and_kill(record_call).killed ? 1U : 0U;
  for (const LeftSpool& spool : job.left())
    killed += job.recover_and_kill(job.as_told(spool), recover_call).killed ? 1U : 0U;
  job.recover_all();
  job.expect_nothing_lost();
  return killed;
}

/// How many calls of a recorder change files, if nobody kills it.
inline unsigned calls_of_a_recorder() { return KilledJob{}.record_and_kill(~0U).calls; }

}  // namespace rankscope::collectors::testing
