// Unpacks gzip piece by piece: several members behind one another, and gzip inside of gzip.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace rankscope::analyzer {

inline constexpr std::string_view gzip_magic = "\x1f\x8b";

class GzipStream {
 public:
  /// `packed` must outlive the stream.
  explicit GzipStream(std::string_view packed);
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;
  ~GzipStream();

  /// Fills `out` with the next unpacked bytes and returns how many there were; fewer than asked for only at the end.
  [[nodiscard]] std::size_t read(std::span<char> out);
  /// After the end: the packed data stopped early or is damaged.
  [[nodiscard]] bool incomplete() const;

 private:
  class Layer;
  std::unique_ptr<Layer> top_;  // the innermost
  std::string first_;           // unpacked to see whether it is packed once more, and not handed out yet
};

}  // namespace rankscope::analyzer
