// Which GPUs a rank used, and who they are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {

/// A GPU as one process knows it.
struct UsedGpu {
  std::uint32_t process = 0;  ///< row of Run::processes()
  std::int32_t ordinal = -1;  ///< its number there; -1 = not recorded
  std::string name{};
  std::string uuid{};
  std::string why_no_uuid{};
};

/// The GPUs on which the process of a rank worked, by their numbers.
[[nodiscard]] std::vector<UsedGpu> used_gpus(const Run& run, RankId rank);

/// "GPU-1234" of "GPU-1234 (power capped)": what recordings write before the first space.
[[nodiscard]] std::string_view first_word(std::string_view text);

}  // namespace rankscope::analyzer
