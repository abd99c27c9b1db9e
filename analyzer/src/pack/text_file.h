// Reads a run from a file of its text form, which `rankscope dump` prints and a pack of a trace holds.
#pragma once

#include <filesystem>
#include <memory>

#include "rankscope/analyzer/open.h"

namespace rankscope::analyzer {

/// The file of a pack that holds the run, if it is no pack of a recording.
inline constexpr const char* text_member = "run.txt";

/// Of options, only the texts count. `unreadable` for a file that cannot be read or has a line that is wrong.
[[nodiscard]] Result<std::shared_ptr<const Run>> read_text_file(const std::filesystem::path& path,
                                                                const ImportOptions& options);

}  // namespace rankscope::analyzer
