// From the node-local folder into OUT, and the manifest.
#pragma once

#include <filesystem>
#include <vector>

#include "rankscope/collectors/record.h"

namespace rankscope::collectors {

/// Waits a little for recorded processes that outlive the command.
void wait_for_stragglers(const std::filesystem::path& spool);

/// Copies the segments into OUT and adds what they hold to `summary`. What cannot be copied stays, and is said.
[[nodiscard]] Result<void> gather(const std::filesystem::path& spool, const std::vector<std::filesystem::path>& outside,
                                  Talk talk, RecordSummary& summary);

/// Writes the manifest, or adds this host to a sibling's.
[[nodiscard]] Result<void> describe(const RecordOptions& options, int status, const RecordSummary& summary);

}  // namespace rankscope::collectors
