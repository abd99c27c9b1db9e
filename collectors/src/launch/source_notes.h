// What `record` says at its end of the sources that need a GPU.
#pragma once

#include <string>
#include <vector>

#include "rankscope/collectors/gpu_state.h"
#include "rankscope/collectors/record.h"
#include "rankscope/core/recording/recording.h"

namespace rankscope::collectors {

/// Adds what the segment of one process holds.
void add_to_story(SourceStory& story, const recording::GatherSummary& segment);

/// One sentence for each of the sources asked for that failed or recorded nothing: why, and what to do. `asked` is
/// without those whose hook another tool keeps.
[[nodiscard]] std::vector<std::string> source_notes(SourceSet asked, const RecordSummary& summary, HostDevices devices);

}  // namespace rankscope::collectors
