#include "checkpoint/retention.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <vector>

#include "checkpoint/files.h"
#include "checkpoint/folders.h"
#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

namespace fs = std::filesystem;

// Open for writing: on NFS a lock for oneself needs that.
bool is_read(const fs::path& checkpoint) {
  const Descriptor manifest{::open((checkpoint / checkpoint_manifest_name).c_str(), O_RDWR | O_CLOEXEC)};
  return manifest.number() >= 0 && ::flock(manifest.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

// The manifest goes first: what a crash leaves of the rest is no checkpoint.
std::string remove_folder(const fs::path& path, const StageHook& hook) {
  const auto done = [&](std::string_view stage) {
    if (hook) hook(format("{} {}", path.filename().string(), stage));
  };
  if (is_read(path)) return {};
  std::error_code failed;
  fs::remove(path / checkpoint_manifest_name, failed);
  done("without manifest");
  if (!failed) fs::remove_all(path, failed);
  done("removed");
  return failed ? format("cannot remove {}: {}", path.string(), failed.message()) : "";
}

}  // namespace

std::string remove_old(const fs::path& folder, std::int64_t step, int keep, const StageHook& hook) {
  const std::vector<StepFolder> all = step_folders(folder);
  std::vector<fs::path> removed;
  std::set<std::int64_t> stay{step};
  for (auto found = all.rbegin(); found != all.rend(); ++found) {
    if (found->step > step || (found->step == step && found->kind == StepFolderKind::saved)) continue;
    // What was moved out of the way is the checkpoint of its step until another one has its place.
    const bool is_replaced = found->kind == StepFolderKind::replaced && has_manifest(step_folder(folder, found->step));
    const bool is_whole = found->kind != StepFolderKind::unsaved && has_manifest(found->path) && !is_replaced;
    if (is_whole && static_cast<int>(stay.size()) < keep)
      stay.insert(found->step);
    else
      removed.push_back(found->path);
  }
  std::ranges::reverse(removed);
  std::string warning;
  for (const fs::path& path : removed) {
    const std::string problem = remove_folder(path, hook);
    if (warning.empty()) warning = problem;
  }
  return warning;
}

}  // namespace rankscope::trainer
