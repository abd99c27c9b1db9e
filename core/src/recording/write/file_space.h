// Room in a file, allocated inside a program of others.
#pragma once

#include <signal.h>

#include <cstdint>

namespace rankscope::recording {

/// While it lives, the calling thread is neither cancelled nor interrupted by a signal.
class Undisturbed {
 public:
  Undisturbed() noexcept;
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;
  ~Undisturbed();

 private:
  sigset_t before_{};
  int cancel_state_ = 0;
};

/// Allocates blocks of the file, so that writing to them through a mapping cannot fail. Returns 0 or an errno: ENOSPC
/// on a full disk, EFBIG where RLIMIT_FSIZE does not allow it. The signal that the kernel sends to a thread whose file
/// would grow beyond that limit (SIGXFSZ) never reaches the program, and its disposition is not touched.
[[nodiscard]] int allocate_space(int file, std::uint64_t begin, std::uint64_t bytes) noexcept;

}  // namespace rankscope::recording
