// One file of a run, to send to somebody: NAME.rankscope.tar.zst, which `tar --zstd -x` opens too.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "rankscope/analyzer/export.h"
#include "rankscope/core/recording/recording.h"

namespace rankscope::analyzer {

struct PackSummary {
  std::uint64_t files = 0;
  std::uint64_t bytes_in = 0;  ///< of the files before compression
  std::uint64_t secrets_hidden = 0;
};

/// Packs a recording: its segments with every chunk sealed, and its manifest. `Secrets::hide` overwrites what looks
/// like a credential in texts, names and the command line. A damaged segment is packed as far as it can be read.
[[nodiscard]] Result<PackSummary> pack_recording(const std::filesystem::path& recording,
                                                 const std::filesystem::path& out, recording::Secrets secrets,
                                                 const Progress& progress);

/// True for a file that begins as zstd data does.
[[nodiscard]] bool looks_like_pack(const std::filesystem::path& path);

/// Reads a pack through a private temporary folder that is removed again. `unreadable` for one that would unpack to
/// more than 200 times its size (and more than 256 MiB).
[[nodiscard]] Result<std::shared_ptr<const Run>> read_pack(const std::filesystem::path& path);

}  // namespace rankscope::analyzer
