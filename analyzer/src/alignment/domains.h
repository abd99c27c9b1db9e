// Which ranks are thought to share a clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer::clocks {

struct Clock {
  /// What its name is.
  enum class Kind : std::uint8_t { host, file, rank };

  std::string name;                  ///< the host, the file, or "rank 3"
  std::vector<std::uint32_t> ranks;  ///< rows of Run::ranks(), ascending
  Kind kind = Kind::rank;
};

struct Domains {
  std::vector<Clock> clocks;           ///< by lowest rank
  std::vector<std::uint32_t> of_rank;  ///< parallel to Run::ranks()
};

/// One clock per host; a rank whose host is not known has its own. Where files do not say when their clocks started,
/// one per file that says which ranks it holds, whatever host they are from.
[[nodiscard]] Domains domains_of(const Run& run);
/// The clock of a process without a rank, by its host or file; nothing if it shares one with no rank.
[[nodiscard]] std::optional<std::uint32_t> clock_of(const Run& run, const Domains& domains, const Process& process);
/// The same, with the clocks named `apart` replaced by one for each of their ranks.
[[nodiscard]] Domains taken_apart(const Run& run, const Domains& domains, const std::vector<bool>& apart);

}  // namespace rankscope::analyzer::clocks
