// How the clocks of the ranks were brought together, and how far to trust that (metrics.md 7).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// What is left of an operation's end on one clock in run time: later by this than the median of the ends of all its
/// ranks, on whatever clock.
struct ClockResidual {
  std::int64_t at_ns = 0;  ///< run time
  std::int64_t late_ns = 0;
};

/// One clock: a host, or a rank whose host is not known or whose times stand apart.
struct ClockRow {
  std::string name;           ///< host, or "rank 3"
  std::vector<RankId> ranks;  ///< ascending
  bool aligned = false;       ///< measured against, or the reference of, another clock; else what follows means nothing
  std::string reference;      ///< name of the clock that it is measured against
  double ahead_ns = 0;        ///< of the reference, in the middle of the shared operations
  double drift_ppm = 0;       ///< what it gains on the reference
  bool drift_known = false;   ///< false: the operations span too little time, or the drift was refused
  std::int64_t error_ns = 0;  ///< against the reference, over the whole run; without what cannot be seen (exit order)
  std::int64_t noise_ns = 0;  ///< robust sigma of single ends around the fit; the largest of its pairs
  std::int64_t operations = 0;  ///< operations that its position rests on
  std::string doubt;            ///< why its times are not, or hardly, to be trusted; empty: nothing speaks against them
  std::string why_apart;        ///< why its times are not compared with those of the first clock; empty: they are
  std::vector<ClockResidual> residuals;  ///< thinned, by time
};

/// There is one clock row per clock that the run was recorded with.
struct ClocksSection {
  std::string recorded_method;  ///< what the recording said of its clocks
  std::vector<ClockRow> clocks;
  std::vector<std::string> notes;  ///< what was assumed, and what was refused; sentences
  std::int64_t allowance_ns = 0;   ///< systematic order of exits that no statistic can see, in `error_ns` of the run
  std::int64_t clocks_apart = 0;   ///< clocks whose times are not compared with those of the first one
  bool assumed_shared = false;     ///< the clocks are taken for one: what was measured of them moved nothing
};

}  // namespace rankscope::analyzer
