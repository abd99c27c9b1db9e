#include "rankscope/core/own_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace rankscope {
namespace {

/// In the middle of what the program may have, but not so high that the kernel needs a large table for it.
int high_number() {
  constexpr rlim_t highest = 512;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return static_cast<int>(std::min(limit.rlim_cur / 2, highest));
}

int moved_up(int file) {
  const int lowest = high_number();
  if (file < 0 || file >= lowest) return file;
  const int moved = fcntl(file, F_DUPFD_CLOEXEC, lowest);
  if (moved < 0) return file;  // none is left up there
  close(file);
  return moved;
}

}  // namespace

OwnFile::OwnFile(int file) : file_(moved_up(file)), identity_(identity_of(file_)) {}
OwnFile::OwnFile(OwnFile&& other) noexcept
    : file_(std::exchange(other.file_, -1)), identity_(std::exchange(other.identity_, std::nullopt)) {}
OwnFile& OwnFile::operator=(OwnFile&& other) noexcept {
  if (this == &other) return *this;
  // The same number is the other one's: ours was closed by the program, and its file was opened again.
  if (const int own = file(); own >= 0 && own != other.file_) close(own);
  file_ = std::exchange(other.file_, -1);
  identity_ = std::exchange(other.identity_, std::nullopt);
  return *this;
}
OwnFile::~OwnFile() {
  if (const int own = file(); own >= 0) close(own);
}

std::optional<OwnFile::Identity> OwnFile::identity_of(int file) {
  struct stat facts {};
  if (file < 0 || fstat(file, &facts) != 0) return std::nullopt;
  return Identity{facts.st_dev, facts.st_ino};
}

int OwnFile::file() const { return is_same_as(file_) ? file_ : -1; }

bool OwnFile::is_same_as(int file) const {
  const auto identity = identity_of(file);
  return identity && identity == identity_;
}

}  // namespace rankscope
