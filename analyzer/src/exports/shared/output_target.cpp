#include "exports/shared/output_target.h"

#include <unistd.h>

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

fs::path temporary_beside(const fs::path& target) {
  return target.parent_path() / format(".{}.{}~", target.filename().string().substr(0, 200), ::getpid());
}

}  // namespace rankscope::analyzer
