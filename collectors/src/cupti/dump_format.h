// The file of RANKSCOPE_CUPTI_DUMP: buffers of activity records as CUPTI handed them back, with what they point to. A
// dump is blocks, one behind the other; each is this head, the buffer, where records begin (32 bits each), where texts
// belong (DumpedText), and the texts. All in the byte order of the machine, x86-64 or aarch64: little-endian.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace rankscope::collectors::cupti {

struct DumpHead {
  static constexpr std::array<char, 8> magic_of_1{'R', 'S', 'A', 'C', 'T', '0', '0', '1'};
  std::array<char, 8> magic = magic_of_1;
  std::uint32_t version = 0;  ///< of CUPTI
  std::uint32_t records = 0;
  std::uint64_t used = 0;   ///< bytes of the buffer
  std::uint64_t clock = 0;  ///< CUPTI's, when the buffer was handed back
  std::uint32_t texts = 0;
  std::uint32_t text_bytes = 0;
};
static_assert(sizeof(DumpHead) == 40);

/// The name at an address in a record, or that of the call whose number stands there (records of kind 4 and 5).
struct DumpedText {
  std::uint32_t field = 0;  ///< its offset in the buffer
  std::uint32_t begin = 0;  ///< among the texts
  std::uint32_t length = 0;
};
static_assert(sizeof(DumpedText) == 12);

/// Where a record has its name, or the number of its call; 0 for one without.
constexpr std::size_t named_at(std::uint32_t kind) {
  switch (kind) {
    case 4:  // driver
    case 5:  // runtime
      return 4;
    case 8:  // device
      return 136;
    case 10:  // concurrent kernel
      return 104;
    default:
      return 0;
  }
}

}  // namespace rankscope::collectors::cupti
