// A private folder that is removed with everything in it.
#pragma once

#include <filesystem>
#include <string>

#include "rankscope/core/result.h"

namespace rankscope::analyzer {

/// While it lives it has a lock, which the kernel takes back with the process: a folder without one was left by a
/// process that was killed, and whoever makes the next of the same prefix beside it removes it.
class ScratchFolder {
 public:
  /// Inside `parent`; `cannot_write` if that is not possible.
  [[nodiscard]] static Result<ScratchFolder> create(const std::filesystem::path& parent,
                                                    const std::string& prefix = ".rankscope.");
  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  ScratchFolder(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::filesystem::path path_;  // empty: moved from
  int lock_ = -1;
};

}  // namespace rankscope::analyzer
