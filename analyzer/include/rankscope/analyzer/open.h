// Opens whatever a user points at: a .rankscope folder or a foreign trace.
#pragma once

#include <filesystem>
#include <memory>

#include "rankscope/core/model/run.h"
#include "rankscope/core/result.h"

namespace rankscope::analyzer {

/// `unreadable` when the path is absent, empty, no recording, of a newer major version, or holds no event.
[[nodiscard]] Result<std::shared_ptr<const Run>> open_run(const std::filesystem::path& path);

}  // namespace rankscope::analyzer
