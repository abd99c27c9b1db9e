// Which ranks are thought to share a clock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rankscope/core/model/run.h"

namespace rankscope::analyzer::clocks {

struct Clock {
  std::string name;                  ///< the host, or "rank 3"
  std::vector<std::uint32_t> ranks;  ///< rows of Run::ranks(), ascending
  bool host_known = false;
};

struct Domains {
  std::vector<Clock> clocks;           ///< by lowest rank
  std::vector<std::uint32_t> of_rank;  ///< parallel to Run::ranks()
};

/// One clock per host; a rank whose host is not known has its own.
[[nodiscard]] Domains by_host(const Run& run);
[[nodiscard]] Domains by_rank(const Run& run);
/// The same, with the clocks named `apart` replaced by one for each of their ranks.
[[nodiscard]] Domains taken_apart(const Run& run, const Domains& domains, const std::vector<bool>& apart);

}  // namespace rankscope::analyzer::clocks
