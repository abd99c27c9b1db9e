// The UUID of a GPU, or of a part of one, as nvidia-smi prints it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "rankscope/core/format.h"

namespace rankscope::collectors {

/// "GPU-1f000000-0000-0000-0000-00000000002e", with the prefix "GPU-".
inline std::string uuid_text(std::string_view prefix, const std::array<std::uint8_t, 16>& bytes) {
  std::string text{prefix};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += format("{:02x}", bytes[i]);
  }
  return text;
}

}  // namespace rankscope::collectors
