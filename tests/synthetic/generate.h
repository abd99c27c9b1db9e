// Writes a native recording of a job that never ran, whose truth is known.
#pragma once

#include <filesystem>

#include "synthetic/plan.h"

namespace rankscope::synthetic {

struct Written {
  std::uint64_t segments = 0;
  std::int64_t end_ns = 0;  ///< true time of the end of the last step
};

/// Writes the folder anew; equal plans give equal bytes. Throws std::runtime_error where that fails.
Written generate(const Plan& plan, const std::filesystem::path& recording);

}  // namespace rankscope::synthetic
