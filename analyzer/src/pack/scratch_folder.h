// A private folder that is removed with everything in it.
#pragma once

#include <filesystem>

#include "rankscope/core/result.h"

namespace rankscope::analyzer {

class ScratchFolder {
 public:
  /// Inside `parent`; `cannot_write` if that is not possible.
  [[nodiscard]] static Result<ScratchFolder> create(const std::filesystem::path& parent);
  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace rankscope::analyzer
