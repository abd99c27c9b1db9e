// In which lines of the user's Python code ranks spend their time, from samples (metrics.md 9.9).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/id.h"

namespace rankscope::analyzer {

/// What the thread that was sampled was doing. Waiting for other ranks or for the device is none of these.
enum class CodePhase : std::uint8_t {
  host,     ///< outside of what counts as work
  compute,  ///< in an operator, forward, backward or optimizer
  data,     ///< the training thread loads its data, or waits for it
  worker,   ///< a process that loads data
};
[[nodiscard]] std::string_view name_of(CodePhase phase);

/// A line of the user's code in one phase; sums over the windows.
struct CodeLine {
  CodePhase phase = CodePhase::host;
  std::string function;  ///< "Tokens.__getitem__"
  std::string file;      ///< without its folders
  std::int64_t line = 0;
  std::int64_t samples = 0;
  std::int64_t ns = 0;  ///< of workers: of all together
};

/// The samples of one rank.
struct RankCode {
  RankId rank;
  std::int64_t steps = 0;
  std::int64_t samples = 0;     ///< of its training thread, also where it waits for others
  std::int64_t pauses = 0;      ///< of the garbage collector, of 1 ms or more
  std::int64_t pauses_ns = 0;   ///< their time
  std::vector<CodeLine> lines;  ///< longest first
  [[nodiscard]] std::int64_t per_step(std::int64_t sum) const { return steps > 0 ? sum / steps : 0; }
};

/// A function that a rank is in longer than its peers, and the line of it with the largest difference.
struct SlowCode {
  std::string function;
  std::string file;
  std::int64_t line = 0;
  std::int64_t ns_per_step = 0;  ///< in the line, or in the whole function if no line makes half of its difference
  std::int64_t peers_ns_per_step = 0;  ///< median of the peers
  double share = 0;                    ///< of an average step
  double peers_share = 0;
  std::int64_t samples = 0;  ///< on this rank
  bool operator==(const SlowCode&) const = default;
};

/// Why a run of other programs has no such lines.
inline constexpr std::string_view no_python_code = "no Python code was sampled in the counted steps";

/// In which lines of Python the ranks were, by samples: a share, not a count of calls.
struct PythonStacksSection {
  std::vector<RankCode> ranks;  ///< by rank; those that were sampled
};

}  // namespace rankscope::analyzer
