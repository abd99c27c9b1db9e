#include "spool/claim.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace rankscope::collectors {
namespace {

constexpr mode_t for_all_users = 0666;

/// In folders like /tmp, Linux refuses O_CREAT to users who do not own the file that is there already.
int open_or_make(const char* path) {
  const int there = open(path, O_RDWR | O_CLOEXEC);
  if (there >= 0 || errno != ENOENT) return there;
  const int made = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, for_all_users);
  if (made < 0 && errno == EEXIST) return open(path, O_RDWR | O_CLOEXEC);
  if (made >= 0) static_cast<void>(fchmod(made, for_all_users));  // whatever the umask; else only this user claims it
  return made;
}

/// Of fcntl, and of it only: opening a file fails so for other reasons.
bool another_has_it(int error) { return error == EACCES || error == EAGAIN; }

}  // namespace

int lock_of_process(int file) noexcept {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  return fcntl(file, F_SETLK, &whole) == 0 ? 0 : errno;
}

Claim::Claim(const std::filesystem::path& path, Lock lock) : file_(open_or_make(path.c_str())) {
  if (file_ < 0) {
    error_ = errno;
    return;
  }
  const int error = lock(file_);
  if (error == 0) return;
  if (!another_has_it(error)) error_ = error;
  close(file_);
  file_ = -1;
}

Claim::~Claim() {
  if (file_ >= 0) close(file_);
}

}  // namespace rankscope::collectors
