// Members of a POSIX ustar archive (IEEE Std 1003.1-1988): regular files only, which is all that a pack needs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "rankscope/core/result.h"

namespace rankscope::analyzer::tar {

inline constexpr std::size_t block_bytes = 512;

struct Member {
  std::string name;
  std::uint64_t bytes = 0;
  bool is_file = true;  ///< false: a folder, link or extension, to be skipped
};

/// The 512 bytes before a member's data. `name` is at most 255 bytes, cut at a '/' after at most 155.
[[nodiscard]] Result<std::string> header_of(const Member& member);
/// Zeros that fill a member's last block.
[[nodiscard]] std::string_view padding_after(std::uint64_t bytes);
/// Two empty blocks.
[[nodiscard]] std::string end_of_archive();

enum class BlockKind : std::uint8_t { member, end, broken };
/// Reads a header block; `member` is set for BlockKind::member.
[[nodiscard]] BlockKind read_header(std::span<const char, block_bytes> block, Member& member);

}  // namespace rankscope::analyzer::tar
