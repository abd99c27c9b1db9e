// The file of a live segment, as the recorder changes it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "rankscope/core/own_file.h"
#include "rankscope/core/recording/format.h"
#include "rankscope/core/result.h"
#include "recording/format/segment_file.h"

namespace rankscope::recording {

/// Opened for writing only as long as chunks are given up: whoever holds a file open for writing keeps it from being
/// packed.
class ChunkFile {
 public:
  [[nodiscard]] static Result<ChunkFile> open(const std::filesystem::path& path);

  [[nodiscard]] std::optional<RawChunk> header(std::uint64_t offset) const;
  [[nodiscard]] std::optional<std::vector<std::byte>> payload(std::uint64_t offset, std::uint32_t bytes) const;
  /// Makes one chunk of nobody of all chunks of the run, and frees its blocks on the disk.
  [[nodiscard]] bool empty(const PageRun& run);
  /// Puts the run into the ring of the header page; false if the ring is full.
  [[nodiscard]] bool hand_back(const PageRun& run);

 private:
  explicit ChunkFile(OwnFile file) : file_(std::move(file)) {}
  [[nodiscard]] bool read(std::uint64_t offset, std::span<std::byte> into) const;
  [[nodiscard]] bool write(std::uint64_t offset, std::span<const std::byte> from);
  [[nodiscard]] bool write_zeros(std::uint64_t begin, std::uint64_t end);

  OwnFile file_;
};

}  // namespace rankscope::recording
