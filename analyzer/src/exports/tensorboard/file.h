// The trace of one rank for TensorBoard's plugin.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "exports/shared/links_drawn.h"
#include "exports/shared/text_writer.h"
#include "exports/tensorboard/nodes.h"
#include "rankscope/analyzer/steps/section.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// What all files of an export share.
struct TensorboardPlan {
  explicit TensorboardPlan(const Run& run, const StepsSection* steps);

  const Run& run;
  const StepsSection* steps;  ///< null: no steps are known
  CommNodes nodes;
  LinksByOrigin origins;
  std::vector<std::int64_t> launched_for;  ///< by row of Run::links(): External id of the operator that launched
  std::vector<std::string> quoted;         ///< every string of the run as JSON
  std::int64_t zero_ns = 0;                ///< run time of ts 0
};

/// Called after each span; false to stop.
using Tick = std::function<bool()>;

/// Writes one rank; false if `tick` said stop.
[[nodiscard]] bool write_tensorboard_file(const TensorboardPlan& plan, RankId rank, TextWriter& out, const Tick& tick);

}  // namespace rankscope::analyzer
