// Segments of processes that have ended, while others still run: what they keep ready for further events is given back.
#pragma once

#include <filesystem>

#include "spool/file_names.h"

namespace rankscope::collectors {

/// Packs small segments where they are, as gathering does: a spool holds hardly more than the recording will.
class EndedSegments {
 public:
  explicit EndedSegments(const std::filesystem::path& spool);

  /// Looks for segments that nobody can write to any more, and packs those that were not before.
  void pack();

 private:
  /// Settled is what needs no look any more: it is packed, or too large to gain by it.
  struct Folder {
    std::filesystem::path path;
    FileNames settled{};
  };
  static void pack_in(Folder& folder);

  Folder inside_;
  Folder outside_;
};

/// True if no process has the file open for writing or mapped, wherever it runs; false where the kernel cannot tell.
[[nodiscard]] bool nobody_writes(const std::filesystem::path& file);

}  // namespace rankscope::collectors
