// What only one of the recorded processes of a host may do: the first one claims it, and has it while it lives.
#pragma once

#include <filesystem>
#include <utility>

namespace rankscope::collectors {

/// A lock on a file that the kernel takes back with the process; its forked children do not have it. In one process a
/// file is claimed once.
class Claim {
 public:
  Claim() = default;
  /// Of the file at `path`, which is made.
  explicit Claim(const std::filesystem::path& path);
  Claim(Claim&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  Claim& operator=(Claim&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~Claim();

  /// False: another process has it.
  [[nodiscard]] bool held() const { return file_ >= 0; }

 private:
  int file_ = -1;
};

}  // namespace rankscope::collectors
