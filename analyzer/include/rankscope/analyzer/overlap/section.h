// Communication beside compute: what is hidden, what is not, and what it slows down (metrics.md 3).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankscope/analyzer/section.h"
#include "rankscope/core/id.h"

namespace rankscope::analyzer {

/// Communication of one operation in one group, over the ranks and counted windows. An instant in which several
/// operations run is charged to the one that began first, so that the rows add up to the communication of the split.
struct OverlapRow {
  std::string group;  ///< empty: not recorded
  std::string op;
  std::int64_t count = 0;  ///< that began in the counted windows
  std::int64_t comm_ns = 0;
  std::int64_t overlapped_ns = 0;  ///< hidden behind compute

  [[nodiscard]] std::int64_t exposed_ns() const { return comm_ns - overlapped_ns; }
};

/// One counted step, over the ranks.
struct StepOverlap {
  std::int64_t step = 0;
  std::int64_t comm_ns = 0;
  std::int64_t overlapped_ns = 0;
};

/// How well one rank hides its communication behind computation, in the counted steps.
struct RankOverlap {
  RankId rank;
  Ratio overlap;                              ///< 3.1
  Ratio transfer_overlap;                     ///< 3.2: the same of what moves data
  std::optional<std::int64_t> headroom_ns{};  ///< 3.4: what better overlap could hide; not set: transfer unknown
};

/// Kernels of one name, grid and block beside communication and alone (3.5): of another size they do other work.
struct ContendedKernel {
  std::string name;
  std::string short_name;
  std::string grid;  ///< "[108,1,1]"; empty: not recorded
  std::string block;
  std::int64_t beside = 0;  ///< launches of which communication covered 90 % or more
  std::int64_t alone = 0;   ///< of which it covered 10 % or less
  std::int64_t median_beside_ns = 0;
  std::int64_t median_alone_ns = 0;

  [[nodiscard]] double ratio() const {
    return static_cast<double>(median_beside_ns) / static_cast<double>(median_alone_ns);
  }
  /// What the launches beside communication took longer.
  [[nodiscard]] std::int64_t cost_ns() const { return beside * (median_beside_ns - median_alone_ns); }
};

/// Which communication computation hides, and what it costs the kernels that run at the same time.
struct OverlapSection {
  std::vector<OverlapRow> rows;  ///< the most exposed first
  std::vector<RankOverlap> ranks;
  std::vector<StepOverlap> steps;
  std::vector<ContendedKernel> contended;  ///< slower by 5 % or more beside communication, the costliest first
  std::int64_t rank_steps = 0;             ///< 0: whole recordings
  std::string why_no_contention;           ///< why no kernel could be looked at; "" = some were
};

}  // namespace rankscope::analyzer
