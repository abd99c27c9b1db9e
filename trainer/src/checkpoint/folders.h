// What stands in the folder of checkpoints: step-00000120/ for each, and `latest`, which names one of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/result.h"

namespace rankscope::trainer {

inline constexpr const char* latest_name = "latest";
inline constexpr const char* checkpoint_manifest_name = "manifest.json";
inline constexpr std::uint64_t largest_manifest = std::uint64_t{256} << 20;

/// What a folder of a step is, by the end of its name.
enum class StepFolderKind : std::uint8_t {
  saved,     ///< step-00000120
  unsaved,   ///< step-00000120.tmp: being written, or left by a crash
  replaced,  ///< step-00000120.old: moved out of the way of another checkpoint of the same step
};

struct StepFolder {
  std::filesystem::path path;
  std::int64_t step = 0;
  StepFolderKind kind = StepFolderKind::saved;
};

[[nodiscard]] std::filesystem::path step_folder(const std::filesystem::path& folder, std::int64_t step,
                                                StepFolderKind kind = StepFolderKind::saved);
/// All of them, by step; what has another name is left out. An absent folder has none.
[[nodiscard]] std::vector<StepFolder> step_folders(const std::filesystem::path& folder);

[[nodiscard]] bool has_manifest(const std::filesystem::path& step_folder);

/// Which step `latest` names.
[[nodiscard]] Result<std::int64_t> read_latest(const std::filesystem::path& folder);

/// "; there are checkpoints of steps 80, 100" for errors, or nothing.
[[nodiscard]] std::string other_steps(const std::filesystem::path& folder, std::int64_t but);

}  // namespace rankscope::trainer
