// How long the ranks of several pipelines worked: pipelines side by side × places.
#pragma once

#include <cstdint>
#include <vector>

#include "rankscope/analyzer/pipeline/section.h"
#include "render/page.h"
#include "render/source.h"

namespace rankscope::analyzer {

/// Work of a rank per step. A high column is an uneven partition, a high row a pipeline with more to do, a single high
/// cell a slow rank.
struct WorkerGrid {
  std::vector<std::vector<RankId>> ranks;          ///< by pipeline, then place; none: not known
  std::vector<std::vector<std::int64_t>> work_ns;  ///< the same
  std::int64_t median_ns = 0;                      ///< of all that are known
  std::int64_t step_ns = 1;                        ///< mean length of a step of a pipeline
  std::size_t pipelines_left_out = 0;              ///< those nearest to the median
};

/// Empty unless there are two pipelines and two places.
[[nodiscard]] WorkerGrid worker_grid(const PipelineSection& section, std::size_t most_pipelines);

[[nodiscard]] Table table_of(const WorkerGrid& grid);

namespace html {
/// Part of the section pipeline; nothing where there are no pipelines side by side.
void write_worker_map(Writer& page, const PipelineSection& section);
}  // namespace html

}  // namespace rankscope::analyzer
