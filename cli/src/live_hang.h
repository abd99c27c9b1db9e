// The verdict on a job that stands still while it is recorded.
#pragma once

#include <cstdint>
#include <filesystem>

#include "rankscope/collectors/record.h"

namespace rankscope::cli {

/// For judging processes that still run.
[[nodiscard]] std::int64_t now_unix_ns();
/// Reads what is recorded so far; says so if that cannot be read.
[[nodiscard]] collectors::HangSeen judge_live_hang(const std::filesystem::path& out);

}  // namespace rankscope::cli
