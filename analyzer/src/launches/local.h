// The local half of launches (metrics.md 4.4 to 4.6): what the host of one rank launched, whichever steps count.
#pragma once

#include <cstdint>
#include <vector>

#include "launches/queue_depth.h"
#include "rankscope/core/digest/part_bytes.h"
#include "rankscope/core/model/run_parts.h"
#include "steps/time_cells.h"

namespace rankscope::analyzer {

/// The streams of one rank by cell of its time (TimeCells).
struct LaunchesPart {
  /// Activities that begin in one cell, as in LaunchRow.
  struct Begun {
    std::uint32_t cell = 0;
    std::uint64_t launches = 0;
    std::uint64_t in_graphs = 0;
    std::uint64_t without_launch = 0;
    std::uint64_t began_in_call = 0;
    std::uint64_t began_before_call = 0;
    std::uint64_t short_kernels = 0;
    std::uint64_t kernels = 0;
    std::int64_t short_ns = 0;
    std::int64_t kernels_ns = 0;
    std::vector<std::int64_t> calls;   ///< ns, ascending; as many as launches outside of graphs
    std::vector<std::int64_t> delays;  ///< as many as launches
    std::vector<std::int64_t> issues;  ///< as many as launches
    bool operator==(const Begun&) const = default;
  };
  struct Row {
    std::int32_t device = -1;
    std::int64_t stream = -1;
    std::vector<Begun> begun;        ///< by cell, each once
    std::vector<DepthTimes> queued;  ///< by bounded cell
    bool operator==(const Row&) const = default;
  };

  bool any_launch = false;   ///< the run of the rank has launches, of this rank or another
  Row all;                   ///< all streams together
  std::vector<Row> streams;  ///< by device and number
  bool operator==(const LaunchesPart&) const = default;
};

/// Makes the parts of the ranks of one run.
class LocalLaunches {
 public:
  explicit LocalLaunches(const Run& run);
  [[nodiscard]] LaunchesPart of(RankId rank, const TimeCells& cells) const;
  [[nodiscard]] bool any_launch() const { return any_launch_; }

 private:
  const Run& run_;
  std::vector<std::uint8_t> uses_;  // per host call how much it started, up to 2
  bool any_launch_ = false;
};

void write_part(digest::PartWriter& out, const LaunchesPart& part);
/// Where the reader has failed, the part means nothing.
[[nodiscard]] LaunchesPart read_launches_part(digest::PartReader& in, const TimeCells& cells);

}  // namespace rankscope::analyzer
