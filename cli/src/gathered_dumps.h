// Dumps of PyTorch's Flight Recorder that `record --pytorch` gathered into a recording.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace rankscope::cli {

/// The folder of the dumps, if the paths are one recording that has some.
[[nodiscard]] std::optional<std::filesystem::path> gathered_dumps(const std::vector<std::string>& paths);

}  // namespace rankscope::cli
