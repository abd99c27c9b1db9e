// The files of a pack, in a folder.
#pragma once

#include <filesystem>

#include "rankscope/core/result.h"

namespace rankscope::analyzer {

/// Unpacks into a new folder inside `scratch`, which is named like the pack; returns it. Errors as those of
/// read_pack().
[[nodiscard]] Result<std::filesystem::path> unpack(const std::filesystem::path& pack,
                                                   const std::filesystem::path& scratch);

}  // namespace rankscope::analyzer
