// PyTorch's Flight Recorder, whose dumps `rankscope hang` reads: switched on for the command, and gathered afterwards.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "rankscope/core/result.h"
#include "settings/rank_environment.h"

namespace rankscope::collectors {

/// Folder of the dumps, in the spool and in the recording.
inline constexpr const char* flight_recorder_folder = "flight_recorder";

/// Variables with which the Flight Recorder keeps the last 2,000 operations and writes them below `spool` if an
/// operation times out. Nothing of what the user set is changed. An empty `spool`: the command cannot reach it, as in a
/// container, and the dumps go where PyTorch usually writes them.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> flight_recorder_variables(
    const Lookup& lookup, const std::filesystem::path& spool);

/// Copies the dumps into the recording. A note on them, empty if there are none. After an error (`cannot_write`) the
/// spool is still needed.
[[nodiscard]] Result<std::string> gather_dumps(const std::filesystem::path& spool, const std::filesystem::path& out);

}  // namespace rankscope::collectors
