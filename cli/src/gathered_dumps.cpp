#include "gathered_dumps.h"

#include "rankscope/analyzer/hang/hang.h"

namespace rankscope::cli {

std::optional<std::filesystem::path> gathered_dumps(const std::vector<std::string>& paths) {
  if (paths.size() != 1) return std::nullopt;
  std::filesystem::path folder = std::filesystem::path{paths.front()} / "flight_recorder";
  if (!analyzer::holds_dumps(folder)) return std::nullopt;
  return folder;
}

}  // namespace rankscope::cli
