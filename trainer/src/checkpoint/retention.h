// Which checkpoints stay.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "rankscope/trainer/checkpoint/save.h"

namespace rankscope::trainer {

/// Removes checkpoints of steps before `step` until `keep` stay, that of `step` included, and what crashes left of
/// steps up to it. One that is being read stays; the next saving tries again. Gives what could not be removed and why.
[[nodiscard]] std::string remove_old(const std::filesystem::path& folder, std::int64_t step, int keep,
                                     const StageHook& hook);

}  // namespace rankscope::trainer
