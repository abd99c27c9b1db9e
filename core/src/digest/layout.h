// The structures of a digest file, little-endian, as FORMAT.md describes them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "rankscope/core/digest/digest_file.h"

namespace rankscope::digest {

inline constexpr std::array<char, 8> file_magic{'R', 'S', 'D', 'I', 'G', 'S', 'T', '\n'};
inline constexpr std::uint32_t block_magic = 0x42445352;  // "RSDB"

/// At the beginning of a file; the facts of the job follow, then the blocks.
struct FileHeader {
  std::array<char, 8> magic = file_magic;
  std::uint16_t major = format_major;
  std::uint16_t minor = format_minor;
  std::uint32_t job_bytes = 0;  ///< length of the facts, without the padding behind them
  std::uint32_t job_crc = 0;
  std::uint32_t header_crc = 0;  ///< of all bytes before it
};
static_assert(sizeof(FileHeader) == 24);

/// In front of each block.
struct BlockHeader {
  std::uint32_t magic = block_magic;
  std::uint16_t part = 0;
  std::uint16_t version = 0;
  std::uint32_t rank = 0;
  std::uint32_t piece = 0;  ///< 0 in this version: each part of a rank is one block
  std::uint64_t bytes = 0;  ///< length of the payload, without the padding behind it
  std::uint32_t payload_crc = 0;
  std::uint32_t header_crc = 0;  ///< of all bytes before it
};
static_assert(sizeof(BlockHeader) == 32);

/// The payload of the block that commits those before it.
struct Commit {
  std::uint64_t offset = 0;  ///< of its block in the file
  std::uint32_t blocks = 0;  ///< since the commit before
  std::uint32_t chain = 0;   ///< CRC-32C over the header checksums of all blocks of the file before this one
};
static_assert(sizeof(Commit) == 16);

/// Headers and payloads begin at multiples of 8 bytes.
constexpr std::uint64_t padded(std::uint64_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace rankscope::digest
