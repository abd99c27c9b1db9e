#include "pack/tar.h"

#include <algorithm>
#include <array>
#include <optional>

#include "rankscope/core/format.h"

namespace rankscope::analyzer::tar {
namespace {

// Offsets and sizes of the fields of a header.
struct Field {
  std::size_t at;
  std::size_t size;
};
constexpr Field name_field{0, 100};
constexpr Field mode_field{100, 8};
constexpr Field owner_field{108, 8};
constexpr Field group_field{116, 8};
constexpr Field size_field{124, 12};
constexpr Field time_field{136, 12};
constexpr Field checksum_field{148, 8};
constexpr Field type_field{156, 1};
constexpr Field magic_field{257, 8};
constexpr Field prefix_field{345, 155};
constexpr char binary_size = static_cast<char>(0x80);  // GNU and star: a big-endian number instead of octal digits
constexpr std::uint64_t largest_octal = 077777777777;

void put(std::string& block, Field field, std::string_view text) {
  std::ranges::copy(text.substr(0, field.size), block.begin() + static_cast<std::ptrdiff_t>(field.at));
}

void put_octal(std::string& block, Field field, std::uint64_t value) {
  put(block, field, format("{:0{}o}", value, field.size - 1));
}

void put_size(std::string& block, std::uint64_t bytes) {
  if (bytes <= largest_octal) return put_octal(block, size_field, bytes);
  block[size_field.at] = binary_size;
  for (std::size_t i = 0; i < 8; ++i)
    block[size_field.at + size_field.size - 1 - i] = static_cast<char>(bytes >> (8 * i));
}

/// Sum of all bytes, the checksum's own taken as blanks.
std::uint64_t checksum_of(std::span<const char> block) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const bool own = i >= checksum_field.at && i < checksum_field.at + checksum_field.size;
    sum += static_cast<unsigned char>(own ? ' ' : block[i]);
  }
  return sum;
}

std::string_view text_at(std::span<const char> block, Field field) {
  return {block.data() + field.at, strnlen(block.data() + field.at, field.size)};
}

std::optional<std::uint64_t> number_at(std::span<const char> block, Field field) {
  std::uint64_t value = 0;
  if (block[field.at] == binary_size) {
    for (std::size_t i = field.size - 8; i < field.size; ++i)
      value = value << 8U | static_cast<unsigned char>(block[field.at + i]);
    return value;
  }
  for (const char c : text_at(block, field)) {
    if (c == ' ') continue;
    if (c < '0' || c > '7') return std::nullopt;
    value = value * 8 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

}  // namespace

Result<std::string> header_of(const Member& member) {
  std::string_view name{member.name};
  std::string_view prefix;
  if (name.size() > name_field.size) {
    const std::size_t cut = name.rfind('/', prefix_field.size);
    if (cut == std::string_view::npos || name.size() - cut - 1 > name_field.size)
      return fail(ErrorKind::cannot_write, format("the name {} is too long for a tar archive", member.name));
    prefix = name.substr(0, cut);
    name.remove_prefix(cut + 1);
  }
  std::string block(block_bytes, '\0');
  put(block, name_field, name);
  put(block, prefix_field, prefix);
  put_octal(block, mode_field, 0644);
  put_octal(block, owner_field, 0);
  put_octal(block, group_field, 0);
  put_size(block, member.bytes);
  put_octal(block, time_field, 0);
  put(block, type_field, "0");
  put(block, magic_field, std::string_view{"ustar\00000", 8});
  put(block, checksum_field, format("{:06o}", checksum_of(block)) + std::string{"\0 ", 2});
  return block;
}

std::string_view padding_after(std::uint64_t bytes) {
  static constexpr std::array<char, block_bytes> zeros{};
  return {zeros.data(), static_cast<std::size_t>((block_bytes - bytes % block_bytes) % block_bytes)};
}

std::string end_of_archive() { return std::string(2 * block_bytes, '\0'); }

BlockKind read_header(std::span<const char, block_bytes> block, Member& member) {
  if (std::ranges::all_of(block, [](char c) { return c == '\0'; })) return BlockKind::end;
  const auto sum = number_at(block, checksum_field);
  const auto size = number_at(block, size_field);
  if (!sum || *sum != checksum_of(block) || !size) return BlockKind::broken;
  const std::string_view prefix = text_at(block, magic_field).starts_with("ustar") ? text_at(block, prefix_field) : "";
  member.name = prefix.empty() ? std::string{} : std::string{prefix} + "/";
  member.name += text_at(block, name_field);
  member.bytes = *size;
  member.is_file = block[type_field.at] == '0' || block[type_field.at] == '\0';
  return BlockKind::member;
}

}  // namespace rankscope::analyzer::tar
