// How a record is laid into a chunk.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "rankscope/core/recording/format.h"

namespace rankscope::recording {

inline constexpr std::uint32_t pop_bytes = 16;  ///< kept free for each open span

/// Of the record that defines a name.
inline std::uint32_t bytes_of_name(std::string_view name) {
  return 16 + (static_cast<std::uint32_t>(std::min(name.size(), longest_string)) + 7) / 8 * 8;
}

inline std::uint8_t* put(std::uint8_t* at, std::uint64_t word) {
  std::memcpy(at, &word, 8);
  return at + 8;
}

inline std::uint8_t* put_head(std::uint8_t* at, RecordType type, std::uint8_t code, std::uint32_t words,
                              std::uint32_t name) {
  const RecordHead head{static_cast<std::uint8_t>(type), code, static_cast<std::uint16_t>(words), name};
  std::memcpy(at, &head, sizeof head);
  return at + sizeof head;
}

}  // namespace rankscope::recording
