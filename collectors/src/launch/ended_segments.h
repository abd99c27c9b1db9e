// Segments of processes that have ended, while others still run: what they keep ready for further events is given back.
#pragma once

#include <filesystem>
#include <set>
#include <utility>

namespace rankscope::collectors {

/// Packs small segments where they are, as gathering does: a spool holds hardly more than the recording will.
class EndedSegments {
 public:
  explicit EndedSegments(std::filesystem::path spool) : spool_(std::move(spool)) {}

  /// Looks for segments that nobody can write to any more, and packs those that were not before.
  void pack();

 private:
  void pack_in(const std::filesystem::path& folder);

  std::filesystem::path spool_;
  std::set<std::filesystem::path> settled_;  ///< packed, or too large to gain by it
};

/// True if no process has the file open for writing or mapped, wherever it runs; false where the kernel cannot tell.
[[nodiscard]] bool nobody_writes(const std::filesystem::path& file);

}  // namespace rankscope::collectors
