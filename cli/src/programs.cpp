#include "programs.h"

#include <cstdlib>

namespace rankscope::cli {

namespace fs = std::filesystem;

namespace {

fs::path folder_of_program() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

}  // namespace

std::optional<fs::path> find_program_file(std::string_view name) {
  std::error_code error;
  if (const char* named = std::getenv("RANKSCOPE_INJECT_LIB");
      named != nullptr && name == inject_library_name && fs::exists(named, error))
    return fs::path{named};
  const fs::path folder = folder_of_program();
  for (const fs::path& candidate :
       {folder / name, folder.parent_path() / "lib" / name, folder.parent_path() / "bin" / name})
    if (fs::exists(candidate, error)) return candidate;
  return std::nullopt;
}

bool installed_by_pip() {
  std::error_code error;
  return fs::exists(folder_of_program().parent_path() / "__init__.py", error);
}

std::string_view how_to_get_viewer() {
  return installed_by_pip()
             ? "install it with: pip install --find-links FOLDER 'rankscope[viewer]' (FOLDER has both wheels)"
             : "configure with -DRANKSCOPE_GUI=ON and Qt 6 (scripts/setup installs it)";
}

}  // namespace rankscope::cli
