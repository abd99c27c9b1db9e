// The verdict on a job that stands still while it is recorded.
#pragma once

#include <filesystem>

#include "rankscope/collectors/record.h"

namespace rankscope::cli {

/// Reads what is recorded so far; says so if that cannot be read.
[[nodiscard]] collectors::HangSeen judge_live_hang(const std::filesystem::path& out);

}  // namespace rankscope::cli
