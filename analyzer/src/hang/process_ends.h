// How the processes of a run ended, as the recorder saw it from outside of them, and which of them hung before.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clocks/clock_trust.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer::hang {

struct ProcessEnd {
  std::uint32_t rank = 0;
  std::int64_t pid = 0;         ///< 0: not known
  std::int64_t signal = 0;      ///< 0: none, or not known
  std::int64_t status = 0;      ///< with which it exited
  bool how_known = true;        ///< false: only the time is known
  std::int64_t at_unix_ns = 0;  ///< 0: not known
};

/// Of the metadata "end_seen.rankN" ("PID STATUS NS;...") and "ended_by.rankN" ("SIGKILL", of recordings that lack the
/// former), by rank. What is damaged is left out.
[[nodiscard]] std::vector<ProcessEnd> process_ends_of(const Run& run);
/// True for the signals with which launchers and users ask a process to end.
[[nodiscard]] bool asks_to_end(std::int64_t signal);
/// True for the signals that a program causes itself: SIGSEGV, SIGBUS, SIGFPE, SIGILL.
[[nodiscard]] bool is_own_fault(std::int64_t signal);
/// "SIGKILL", "signal 40"
[[nodiscard]] std::string signal_words(std::int64_t signal);
/// "the kernel's out-of-memory killer ended 2 processes of the job while the job ran", or "... on the host of the rank
/// ...", if the recorder saw this and SIGKILL ended the rank; empty otherwise (metadata "oom_kills.rankN").
[[nodiscard]] std::string oom_words(const Run& run, RankId rank);
/// What to do if these processes were of the job; else empty.
[[nodiscard]] std::string oom_advice(const Run& run, RankId rank);
/// True if recording stopped before the processes did: --duration or --window. What is open then may have gone on.
[[nodiscard]] bool recorded_in_part(const Run& run);

/// The ends of the processes that stand for the ranks. Refers to the run and its clocks.
class EndsOfRun {
 public:
  EndsOfRun(const Run& run, const ClockTrust& clocks);

  /// Null if it was not seen.
  [[nodiscard]] const ProcessEnd* of(RankId rank) const;
  /// When the process ended: as it was seen from outside, else where its recording ends.
  [[nodiscard]] RunTime end_time(RankId rank) const;
  /// The last moment at which any of them was seen to end; 0: none was.
  [[nodiscard]] std::int64_t last_unix_ns() const;
  /// True if the process was alive seconds after its peers had begun to wait for it, and then was ended: by a signal
  /// that asks it to, with the job, after another rank, or after the recorder had found that the job hangs. Whoever
  /// ends first by itself, or by a fault of its own (SIGSEGV), did not hang, however long its peers had waited.
  [[nodiscard]] bool hung(RankId rank) const;
  /// Of these ranks, which all ended badly: the one whose process ended first, without those that were asked to end,
  /// since what a launcher ends is a consequence. Nothing if the end of any of them was not seen, or if they ran on
  /// several hosts whose clocks cannot be compared: the first one may then be one that only noticed the loss.
  [[nodiscard]] std::optional<RankId> first_bad(std::span<const RankId> ranks) const;

 private:
  /// The earliest moment, and the earliest of all other ranks.
  struct Earliest {
    std::optional<RunTime> first{};
    RankId rank{};
    std::optional<RunTime> of_others{};
    void add(RankId whose, RunTime when);
    [[nodiscard]] std::optional<RunTime> without(RankId whose) const { return whose == rank ? of_others : first; }
  };
  void find_waits();
  [[nodiscard]] bool ended_after_others(RankId rank) const;
  [[nodiscard]] bool ended_after_alarm(RankId rank) const;

  const Run& run_;
  bool comparable_ = false;
  std::vector<ProcessEnd> ends_;        // by rank
  std::vector<Earliest> waited_since_;  // parallel to the ranks: since when others wait in calls that include it
  Earliest bad_end_;
};

}  // namespace rankscope::analyzer::hang
