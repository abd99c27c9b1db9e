// Recordings whose recorder was killed before it gathered them: `rankscope record --recover` and `doctor`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "rankscope/collectors/record.h"
#include "rankscope/core/result.h"

namespace rankscope::collectors {

/// What somebody should do about a folder that a recorder left.
enum class LeftKind : std::uint8_t {
  segments,  ///< gather or delete it
  gathered,  ///< its segments are in the recording already; it only has to be removed
  empty,     ///< nothing was recorded into it; it only has to be removed
};

/// A folder of segments that waits for somebody to gather or delete it. recover() takes each that nobody writes to.
struct LeftSpool {
  std::filesystem::path path;
  LeftKind kind = LeftKind::segments;
  std::vector<std::string> command{};  ///< scrubbed; empty: it does not tell
  std::filesystem::path out{};         ///< the recording that recover() gathers it into; empty: it must be given one
  std::uint64_t segments = 0;
  std::uint64_t bytes = 0;
  /// Segments whose process still runs; of an `empty` one, processes that may still record into it. recover() refuses
  /// the folder until this is 0.
  std::uint64_t written = 0;
};

/// What recorders of this user that run no longer left on this host; sorted by path.
[[nodiscard]] std::vector<LeftSpool> left_spools();

/// Which folder that a killed recorder left behind is gathered, and where to.
struct RecoverOptions {
  std::filesystem::path spool{};
  std::filesystem::path out{};  ///< empty: what the spool was meant for
  Talk talk = Talk::normal;
};

/// Gathers a spool into a recording and removes it, as its recorder would have done; one from which nothing is needed
/// is only removed, which the notes of the summary say. Refuses while the recorder or a recorded process still runs.
/// The summary goes to stderr unless quiet.
[[nodiscard]] Result<RecordSummary> recover(const RecoverOptions& options);

}  // namespace rankscope::collectors
