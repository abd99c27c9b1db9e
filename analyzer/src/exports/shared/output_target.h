// Where an output goes: one rule for files and folders.
#pragma once

#include <filesystem>

namespace rankscope::analyzer {

/// Where a link leads, so that the link itself stays and what it points to is replaced.
[[nodiscard]] std::filesystem::path follow_links(const std::filesystem::path& target);

/// A hidden name beside the target, of this process alone, and hardly longer: the limit is 255 bytes.
[[nodiscard]] std::filesystem::path temporary_beside(const std::filesystem::path& target);

}  // namespace rankscope::analyzer
