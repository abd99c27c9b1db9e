// Characters as UTF-8.
#pragma once

#include <cstdint>

namespace rankscope {

/// Gives the bytes of a character, one to four, to `put`. Allocates no memory, so that it may run anywhere in a
/// recorded program; what is no character becomes bytes that are no UTF-8.
template <class Put>
constexpr void put_utf8(std::uint32_t code, Put put) {
  if (code < 0x80) {
    put(static_cast<char>(code));
  } else if (code < 0x800) {
    put(static_cast<char>(0xC0 | code >> 6));
    put(static_cast<char>(0x80 | (code & 0x3F)));
  } else if (code < 0x10000) {
    put(static_cast<char>(0xE0 | code >> 12));
    put(static_cast<char>(0x80 | (code >> 6 & 0x3F)));
    put(static_cast<char>(0x80 | (code & 0x3F)));
  } else {
    put(static_cast<char>(0xF0 | (code >> 18 & 0x07)));
    put(static_cast<char>(0x80 | (code >> 12 & 0x3F)));
    put(static_cast<char>(0x80 | (code >> 6 & 0x3F)));
    put(static_cast<char>(0x80 | (code & 0x3F)));
  }
}

}  // namespace rankscope
