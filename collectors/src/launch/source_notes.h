// What `record` says at its end of the sources that need a GPU.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rankscope/collectors/gpu_state.h"
#include "rankscope/collectors/record.h"

namespace rankscope::collectors {

using ProcessMetadata = std::vector<std::pair<std::string, std::string>>;

/// Adds what one process reported about itself.
void add_to_story(SourceStory& story, const ProcessMetadata& metadata, std::uint64_t activities);

/// One sentence for each of the sources asked for that failed or recorded nothing: why, and what to do. `asked` is
/// without those whose hook another tool keeps.
[[nodiscard]] std::vector<std::string> source_notes(SourceSet asked, const RecordSummary& summary, HostDevices devices);

}  // namespace rankscope::collectors
