// A file mapped for reading.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "rankscope/core/result.h"

namespace rankscope::recording {

class MappedFile {
 public:
  [[nodiscard]] static Result<MappedFile> open(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  MappedFile() = default;
  std::span<const std::byte> bytes_;
};

}  // namespace rankscope::recording
