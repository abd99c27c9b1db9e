// The bytes of a trace file: mapped where it is plain, unpacked on a thread of their own where it is packed.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

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
  [[nodiscard]] bool is_packed() const { return text().starts_with("\x1f\x8b"); }

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Unpacks gzip, also several members behind one another and gzip inside of gzip, while the caller reads.
class Unpacker {
 public:
  explicit Unpacker(std::string_view packed);
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;
  ~Unpacker();

  /// The next bytes; empty at the end.
  [[nodiscard]] std::string next();
  /// After the end: the packed data stopped early or is damaged.
  [[nodiscard]] bool incomplete() const { return incomplete_; }
  /// Share of the packed bytes that was used.
  [[nodiscard]] double share_done() const;

 private:
  class Layer;
  void run(const std::stop_token& stop);

  std::vector<std::unique_ptr<Layer>> layers_;  // outermost first
  std::size_t used_layers_ = 0;                 // whose output was looked at: it is packed once more, or it is not
  std::size_t packed_size_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::string> blocks_;
  std::size_t used_ = 0;
  bool ended_ = false;
  bool incomplete_ = false;
  std::jthread worker_;
};

}  // namespace rankscope::analyzer::kineto
