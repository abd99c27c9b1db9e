// Recordings whose recorder was killed before it gathered them: `rankscope record --recover` and `doctor`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "rankscope/collectors/record.h"
#include "rankscope/core/result.h"

namespace rankscope::collectors {

/// A folder of segments that waits for somebody to gather or delete it.
struct LeftSpool {
  std::filesystem::path path;
  std::vector<std::string> command{};  ///< scrubbed; empty: it does not tell
  std::filesystem::path out{};         ///< the recording it was meant for; empty: it does not tell
  std::uint64_t segments = 0;
  std::uint64_t bytes = 0;
  std::uint64_t written = 0;  ///< segments whose process still runs
};

/// What recorders of this user that run no longer left on this host; sorted by path.
[[nodiscard]] std::vector<LeftSpool> left_spools();

struct RecoverOptions {
  std::filesystem::path spool{};
  std::filesystem::path out{};  ///< empty: what the spool was meant for
  Talk talk = Talk::normal;
};

/// Gathers a spool into a recording and removes it, as its recorder would have done. Refuses while the recorder or a
/// recorded process still runs. The summary goes to stderr unless quiet.
[[nodiscard]] Result<RecordSummary> recover(const RecoverOptions& options);

}  // namespace rankscope::collectors
