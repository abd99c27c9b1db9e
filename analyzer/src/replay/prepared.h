// A recording with everything that its replay graph is made of.
#pragma once

#include <utility>

#include "alignment/aligned_run.h"
#include "collectives/find.h"
#include "rankscope/analyzer/options.h"
#include "rankscope/core/result.h"
#include "replay/graph.h"
#include "split/rank_rows.h"
#include "steps/find.h"

namespace rankscope::analyzer::replay {

/// The recording must outlive it.
struct Prepared {
  AlignedRun aligned;
  StepsResult steps;
  Section<std::vector<RankRow>> rows;
  Graph graph;
};

/// `usage` where steps are asked for and there are none; `not_computable` where there is nothing to replay, or
/// where no communication ties the ranks together.
[[nodiscard]] Result<Prepared> prepare(const Run& recorded, const ReportOptions& options);

}  // namespace rankscope::analyzer::replay
