// The first bytes of a file, by which its format is recognised.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "rankscope/core/result.h"

namespace rankscope::analyzer {

/// Up to 64 KiB, unpacked as often as the file was packed with gzip. `unreadable` if it cannot be opened.
[[nodiscard]] Result<std::string> file_head(const std::filesystem::path& path);

/// Of a file whose head is empty, as a predicate: that it is empty, or too damaged to be unpacked.
[[nodiscard]] std::string_view why_no_head(const std::filesystem::path& path);

}  // namespace rankscope::analyzer
