#include "programs.h"

#include <cstdlib>

namespace rankscope::cli {

namespace fs = std::filesystem;

std::optional<fs::path> find_program_file(std::string_view name) {
  std::error_code error;
  if (const char* named = std::getenv("RANKSCOPE_INJECT_LIB");
      named != nullptr && name == inject_library_name && fs::exists(named, error))
    return fs::path{named};
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& candidate :
       {folder / name, folder.parent_path() / "lib" / name, folder.parent_path() / "bin" / name})
    if (fs::exists(candidate, error)) return candidate;
  return std::nullopt;
}

}  // namespace rankscope::cli
