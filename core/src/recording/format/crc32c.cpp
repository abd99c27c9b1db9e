#include "recording/format/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rankscope::recording {
namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0x82F63B78U : 0U);
    table[i] = value;
  }
  return table;
}
constexpr auto table = make_table();

std::uint32_t portable(const std::uint8_t* data, std::size_t bytes, std::uint32_t crc) {
  for (std::size_t i = 0; i < bytes; ++i) crc = table[(crc ^ data[i]) & 0xFF] ^ (crc >> 8);
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t hardware(const std::uint8_t* data, std::size_t bytes,
                                                         std::uint32_t crc) {
  std::uint64_t wide = crc;
  for (; bytes >= 8; bytes -= 8, data += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, data, 8);
    wide = _mm_crc32_u64(wide, word);
  }
  crc = static_cast<std::uint32_t>(wide);
  for (; bytes > 0; --bytes, ++data) crc = _mm_crc32_u8(crc, *data);
  return crc;
}
#endif

}  // namespace

std::uint32_t crc32c(const void* data, std::size_t bytes, std::uint32_t seed) {
  const auto* begin = static_cast<const std::uint8_t*>(data);
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return ~hardware(begin, bytes, ~seed);
#endif
  return ~portable(begin, bytes, ~seed);
}

}  // namespace rankscope::recording
