// From the node-local folder into OUT, and the manifest.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "rankscope/collectors/record.h"
#include "rankscope/core/recording/live.h"
#include "rankscope/core/recording/manifest.h"

namespace rankscope::collectors {

/// Waits a little for recorded processes that outlive the command.
void wait_for_stragglers(const std::filesystem::path& spool);

/// Segments that are followed at once: each is an open file, of which the recorder may have 4096 (Watcher).
inline constexpr std::size_t most_followed = 2048;

/// Everything that the processes have written up to now, however much that is.
[[nodiscard]] recording::LiveView whole_view(const std::filesystem::path& recording);

/// True if a process has ended a step, in a recording that is not gathered yet.
[[nodiscard]] bool any_step(const std::filesystem::path& recording);

/// Copies the segments into OUT and adds what they hold to `summary`. Unreadable ones are kept in a folder of OUT.
[[nodiscard]] Result<void> gather(const std::vector<std::filesystem::path>& segments, Talk talk,
                                  RecordSummary& summary);

/// What is known of a recording before its command is started.
[[nodiscard]] recording::Manifest new_manifest(const RecordOptions& options);
/// Writes the manifest, or adds to a sibling's, once for each spool: from then on the spool counts as gathered. A
/// status of -1 is unknown.
[[nodiscard]] Result<void> describe(const recording::Manifest& fresh, int status, const RecordSummary& summary,
                                    const std::filesystem::path& spool);

}  // namespace rankscope::collectors
