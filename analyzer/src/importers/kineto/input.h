// The bytes of a trace file: mapped where it is plain, unpacked on a thread of their own where it is packed.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "importers/shared/gzip_stream.h"
#include "rankscope/core/result.h"

namespace rankscope::analyzer::kineto {

/// A whole file in memory, read-only; pages are loaded when they are touched.
class MappedText {
 public:
  [[nodiscard]] static Result<MappedText> open(const std::filesystem::path& path);
  MappedText() = default;
  MappedText(MappedText&& other) noexcept;
  MappedText& operator=(MappedText&& other) noexcept;
  MappedText(const MappedText&) = delete;
  MappedText& operator=(const MappedText&) = delete;
  ~MappedText();

  [[nodiscard]] std::string_view text() const { return {data_, size_}; }
  [[nodiscard]] bool is_packed() const { return text().starts_with(gzip_magic); }

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Unpacks gzip on a thread of its own while the caller reads.
class Unpacker {
 public:
  explicit Unpacker(std::string_view packed);
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;
  ~Unpacker();

  /// The next bytes behind `rest`, which is what was not used of those before; only `rest` at the end. The bytes stay
  /// until the next call.
  [[nodiscard]] std::string_view next(std::string_view rest);
  /// After the end: the packed data stopped early or is damaged.
  [[nodiscard]] bool incomplete() const;

 private:
  void unpack(std::string_view packed, const std::stop_token& stop);

  struct Block {
    std::string room;      // in front of the text lies room for a rest
    std::size_t size = 0;  // of the text
  };
  Block take();

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Block> blocks_;
  std::vector<Block> spent_;  // used again: fresh memory costs more than unpacking into it
  Block current_;             // where the bytes handed out lie
  bool ended_ = false;
  bool incomplete_ = false;
  std::jthread worker_;
};

// The fact file_time_offset_ns: what leads from run time back to the times of the file that was read first.

/// The fact after `by_ns` more lie between run time and the file (|by_ns| < 2^62). Nothing for what is no number, or
/// if one of both is so far away (73 years) that times plus the offset could overflow.
[[nodiscard]] std::optional<std::string> moved_offset(std::string_view fact, std::int64_t by_ns);

}  // namespace rankscope::analyzer::kineto
