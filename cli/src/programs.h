// Where the files that belong to the program stand: beside it, or in ../lib and ../bin.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace rankscope::cli {

inline constexpr std::string_view inject_library_name = "librankscope_inject.so";
inline constexpr std::string_view trainer_name = "rankscope-train";
inline constexpr std::string_view viewer_name = "rankscope-gui";

/// RANKSCOPE_INJECT_LIB wins for the library.
[[nodiscard]] std::optional<std::filesystem::path> find_program_file(std::string_view name);

/// Whether this program is part of the wheel (scripts/wheel), whose users have no build to configure.
[[nodiscard]] bool installed_by_pip();

/// What to do where the viewer is missing.
[[nodiscard]] std::string_view how_to_get_viewer();

}  // namespace rankscope::cli
