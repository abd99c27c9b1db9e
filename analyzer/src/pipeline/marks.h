// The forwards and backwards of micro-batches that a recording marks, and who forms a pipeline.
#pragma once

#include <string>
#include <vector>

#include "rankscope/analyzer/section.h"
#include "rankscope/core/model/run_parts.h"
#include "rankscope/core/pipeline_orders.h"

namespace rankscope::analyzer {

/// One action of a rank as it was recorded; `chunk` is filled in by pipelines_of().
struct MarkedAction {
  PipelineAction action;
  std::int32_t stage = -1;  ///< -1 = not recorded
  TimeRange time;
};

struct RankActions {
  RankId rank;
  std::vector<MarkedAction> actions;  ///< by begin
};

/// Ranks that hand micro-batches on to one another, first stage first.
struct MarkedPipeline {
  std::vector<RankActions> places;
  std::vector<std::vector<std::int32_t>> stages;  ///< by place and chunk
  std::int32_t chunks = 1;
  std::string why_not_whole{};  ///< set: a place exchanges with a rank that has no actions
};

/// Actions are spans of forward and backward with the number "micro_batch" ("microbatch", "mb"), or ranges named
/// "PP:0F1", as torch.distributed.pipelining names them. Unavailable, with the reason, where there are none.
[[nodiscard]] Section<std::vector<RankActions>> marked_actions(const Run& run);

/// Puts ranks of different stages together that send to one another; unavailable where a stage is then on two ranks.
/// Stages tell their order, else the metadata pp_rank, else their numbers.
[[nodiscard]] Section<std::vector<MarkedPipeline>> pipelines_of(const Run& run, std::vector<RankActions> ranks);

}  // namespace rankscope::analyzer
