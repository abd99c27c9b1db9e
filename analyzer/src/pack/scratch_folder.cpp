#include "pack/scratch_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t letters = 6;                 // of mkdtemp
constexpr std::chrono::minutes longest_making{1};  // between the making of a folder and its lock

/// The descriptor that holds the lock; -1 if another process has it, or there is no such folder.
int lock_of(const fs::path& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0 || ::flock(file, LOCK_EX | LOCK_NB) == 0) return file;
  ::close(file);
  return -1;
}

bool is_ours_and_old(const fs::path& folder) {
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != ::geteuid()) return false;
  const auto now = std::chrono::system_clock::now();
  return now - std::chrono::system_clock::from_time_t(status.st_mtime) > longest_making;
}

void remove_if_left(const fs::path& folder) {
  if (!is_ours_and_old(folder)) return;
  const int lock = lock_of(folder);
  if (lock < 0) return;
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  ::close(lock);
}

void remove_left(const fs::path& parent, const std::string& prefix) {
  std::error_code error;
  for (fs::directory_iterator entry{parent, error}, end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(prefix) && name.size() == prefix.size() + letters) remove_if_left(entry->path());
  }
}

}  // namespace

Result<ScratchFolder> ScratchFolder::create(const fs::path& parent, const std::string& prefix) {
  remove_left(parent, prefix);
  std::string name = (parent / (prefix + "XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr)
    return fail(ErrorKind::cannot_write, format("cannot create a temporary folder in {}: {}", parent.string(),
                                                std::generic_category().message(errno)));
  return ScratchFolder{name, lock_of(name)};
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::exchange(other.lock_, -1)) {}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace rankscope::analyzer
