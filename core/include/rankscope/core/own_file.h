// A descriptor of ours inside a program of others, which may close it and open a file of its own under the number.
#pragma once

#include <sys/types.h>

#include <optional>

namespace rankscope {

/// Remembers which file the descriptor is of: one of the program's is neither written to, read nor closed.
class OwnFile {
 public:
  OwnFile() = default;
  /// Takes the descriptor over (-1: there is none) and moves it to a high number, since a program may rely on the
  /// number of its next file. Closed by exec.
  explicit OwnFile(int file);
  OwnFile(OwnFile&& other) noexcept;
  OwnFile& operator=(OwnFile&& other) noexcept;
  ~OwnFile();

  /// The descriptor; -1 if there is none, or it is not ours any more.
  [[nodiscard]] int file() const;
  /// True if `file` is of the same file as this one was when it was taken over.
  [[nodiscard]] bool is_same_as(int file) const;

 private:
  /// Names an open file for as long as it exists, whatever number the program gives to its descriptor.
  struct Identity {
    dev_t device = 0;
    ino_t inode = 0;
    bool operator==(const Identity&) const = default;
  };
  [[nodiscard]] static std::optional<Identity> identity_of(int file);

  int file_ = -1;
  std::optional<Identity> identity_{};
};

}  // namespace rankscope
