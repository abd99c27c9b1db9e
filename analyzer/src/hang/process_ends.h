// How processes ended, as the recorder saw it from outside of them.
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
  std::string host{};
  std::int64_t pid = 0;
  std::int64_t signal = 0;  ///< 0: it exited
  std::int64_t status = 0;
  std::int64_t at_unix_ns = 0;
};
using ProcessEnds = std::vector<ProcessEnd>;

/// Of the metadata "process_ends": "HOST PID STATUS NS;...", STATUS as of waitpid(2). What is damaged is left out.
[[nodiscard]] ProcessEnds process_ends_from(std::string_view text);
[[nodiscard]] ProcessEnds process_ends_of(const Run& run);
/// Null if it is not known.
[[nodiscard]] const ProcessEnd* find_end(const ProcessEnds& ends, const Run& run, const Process& process);
/// True for the signals with which launchers and users ask a process to end.
[[nodiscard]] bool asks_to_end(std::int64_t signal);
/// True for the signals that a program causes itself: SIGSEGV, SIGBUS, SIGFPE, SIGILL.
[[nodiscard]] bool is_own_fault(std::int64_t signal);
/// Of these ranks, which all ended badly: the one whose process ended first, without those that were asked to end,
/// since what a launcher ends is a consequence. Nothing if the end of any of them was not seen, or if they ran on
/// several hosts whose clocks cannot be compared: the first one may then be one that only noticed the loss.
[[nodiscard]] std::optional<RankId> first_bad_end(const ProcessEnds& ends, const Run& run, const ClockTrust& clocks,
                                                  std::span<const RankId> ranks);
/// "SIGKILL", "signal 40"
[[nodiscard]] std::string signal_words(std::int64_t signal);

}  // namespace rankscope::analyzer::hang
