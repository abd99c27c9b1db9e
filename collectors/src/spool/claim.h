// What only one of the recorded processes of a host may do: the first one claims it, and has it while it lives.
#pragma once

#include <filesystem>
#include <utility>

namespace rankscope::collectors {

/// Locks a whole open file for this process; returns 0, or the number of the error.
int lock_of_process(int file) noexcept;

/// A lock on a file that the kernel takes back with the process; its forked children do not have it. In one process a
/// file is claimed once.
class Claim {
 public:
  using Lock = int (*)(int file) noexcept;
  Claim() = default;
  /// Of the file at `path`, which is made; other users may claim it, too.
  explicit Claim(const std::filesystem::path& path, Lock lock = lock_of_process);
  Claim(Claim&& other) noexcept : file_(std::exchange(other.file_, -1)), error_(other.error_) {}
  Claim& operator=(Claim&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(error_, other.error_);
    return *this;
  }
  ~Claim();

  /// False: another process has it, or nobody can.
  [[nodiscard]] bool held() const { return file_ >= 0; }
  /// Of the system, if nobody can claim this file: it cannot be made, or its file system has no locks. Else 0.
  [[nodiscard]] int error() const { return error_; }

 private:
  int file_ = -1;
  int error_ = 0;
};

}  // namespace rankscope::collectors
