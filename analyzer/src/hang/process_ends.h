// How processes ended, as the recorder saw it from outside of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
/// The rank whose process ended first of those that did not exit with status 0, and that nobody asked to end: what a
/// launcher ends with SIGTERM is a consequence. Nothing if none of them is known.
[[nodiscard]] std::optional<RankId> first_bad_end(const ProcessEnds& ends, const Run& run);
/// "SIGKILL", "signal 40"
[[nodiscard]] std::string signal_words(std::int64_t signal);

}  // namespace rankscope::analyzer::hang
