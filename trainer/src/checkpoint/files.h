// Files of a checkpoint: read at an offset, written so that they are whole or not there, even if the power fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "rankscope/core/result.h"
#include "rankscope/trainer/checkpoint/save.h"

namespace rankscope::trainer {

/// Owns an open file.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

/// `folder`: a descriptor, or AT_FDCWD. `shown` is the path for errors, here and below.
[[nodiscard]] Result<Descriptor> open_to_read(int folder, const std::string& name, const std::string& shown);
[[nodiscard]] Result<std::uint64_t> size_of(int descriptor, const std::string& shown);
/// Fills `bytes`; a file that ends before is an error.
[[nodiscard]] Result<void> read_at(int descriptor, std::uint64_t offset, std::span<std::byte> bytes,
                                   const std::string& shown);
/// All of a file; refuses one of more than `most` bytes.
[[nodiscard]] Result<std::string> read_whole(int folder, const std::string& name, std::uint64_t most,
                                             const std::string& shown);

/// CRC-32 as zlib, gzip and Python's zlib.crc32 have it; `before`: of the bytes that come first.
[[nodiscard]] std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before = 0);
[[nodiscard]] std::string crc32_text(std::uint32_t crc);  ///< 8 hexadecimal digits
/// Of all bytes of a file.
[[nodiscard]] Result<std::uint32_t> crc32_of_file(int descriptor, const std::string& shown);

struct FileSum {
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;
};

/// Writes `parts` one after another into `target`.tmp, syncs it, renames it to `target` and syncs the folder. Fails
/// with one sentence (cannot_write) that has path and bytes; what was written in part is removed then.
[[nodiscard]] Result<FileSum> write_durably(const std::filesystem::path& target,
                                            std::span<const std::span<const std::byte>> parts, const StageHook& hook);

/// Makes renames in a folder last.
[[nodiscard]] Result<void> sync_folder(const std::filesystem::path& folder);

[[nodiscard]] tl::unexpected<Error> cannot_write(const std::filesystem::path& path, std::string_view what, int code);

}  // namespace rankscope::trainer
