#include "exports/shared/output_target.h"

#include <system_error>

#include "rankscope/core/format.h"

namespace rankscope::analyzer {

namespace fs = std::filesystem;

fs::path follow_links(const fs::path& target) {
  std::error_code failed;
  if (!fs::is_symlink(fs::symlink_status(target, failed))) return target;
  auto real = fs::weakly_canonical(target, failed);
  return failed ? target : real;
}

fs::path folder_of(const fs::path& target) { return target.has_parent_path() ? target.parent_path() : fs::path{"."}; }

std::string hidden_prefix(const fs::path& target) {
  constexpr std::size_t most = 200;
  return format(".{}.", target.filename().string().substr(0, most));
}

}  // namespace rankscope::analyzer
