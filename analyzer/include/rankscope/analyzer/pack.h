// One file of a run, to send to somebody: NAME.tar.zst, which `tar --zstd -x` opens too.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "rankscope/analyzer/open.h"

namespace rankscope::analyzer {

/// What went into a pack, summed over its inputs.
struct PackSummary {
  std::uint64_t files = 0;
  std::uint64_t bytes_in = 0;      ///< of the files before compression
  std::uint64_t texts_hidden = 0;  ///< strings in which secrets were hidden, as Counter::texts_hidden
};

/// Packs whatever open_run() opens. Of a recording, or a pack of one: its segments with every chunk sealed, and its
/// manifest; a damaged segment is packed as far as it can be read. Of everything else: the text form of its run, so
/// that nothing of the files is passed on but what rankscope shows of them. Secrets are hidden unless options.texts
/// keeps them. Errors are those of open_run(), and `cannot_write`.
[[nodiscard]] Result<PackSummary> pack(std::span<const std::filesystem::path> inputs, const std::filesystem::path& out,
                                       const ImportOptions& options);

/// True for a file that begins as zstd data does.
[[nodiscard]] bool looks_like_pack(const std::filesystem::path& path);

/// Reads a pack through a private temporary folder that is removed again. `unreadable` for one that would unpack to
/// more than 200 times its size (and more than 256 MiB).
[[nodiscard]] Result<std::shared_ptr<const Run>> read_pack(const std::filesystem::path& path,
                                                           const ImportOptions& options);

}  // namespace rankscope::analyzer
