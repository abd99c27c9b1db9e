// The worker of pipelines: each rank has some stages of the model.
#pragma once

#include <optional>

#include "engine/pipeline_links.h"
#include "engine/worker.h"

namespace rankscope::trainer {

/// `groups` have the ranks of the pipeline as members; there are none where one rank is alone.
[[nodiscard]] Result<std::unique_ptr<Worker>> make_stage_worker(const WorkerPlan& plan,
                                                                std::optional<PipelineGroups> groups);

}  // namespace rankscope::trainer
