// The local half of steps (metrics.md 1.1 to 1.3): what one rank says about them, whatever the others do.
#pragma once

#include <cstdint>
#include <vector>

#include "rankscope/analyzer/steps/section.h"
#include "rankscope/core/digest/part_bytes.h"
#include "rankscope/core/model/run_parts.h"
#include "steps/step_marks.h"

namespace rankscope::analyzer {

/// When a rank was recorded, and its steps. All times are of one clock: run time, or that of the rank. Of a thinned
/// step the bytes of a part say only that it is one: where its sums are means nothing without the run.
struct StepsPart {
  RankId rank{};
  TimeRange recorded{};
  MarkSource source = MarkSource::step_spans;  ///< the best that the rank has; means nothing without windows
  std::vector<StepWindow> windows{};           ///< by index; they tile the rank's time as long as indices follow
  std::int64_t leftovers_ns = 0;               ///< as in StepsSection, of this rank
  bool operator==(const StepsPart&) const = default;
};

/// One part for each rank of a run, ascending; one walk over the run, however many ranks it has.
[[nodiscard]] std::vector<StepsPart> local_steps(const Run& run);

void write_part(digest::PartWriter& out, const StepsPart& part);
/// The rank is not in the bytes. Where the reader has failed, the part means nothing.
[[nodiscard]] StepsPart read_steps_part(digest::PartReader& in, RankId rank);

}  // namespace rankscope::analyzer
