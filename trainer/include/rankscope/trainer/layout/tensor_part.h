// How the parameters of a split model lie in those of the whole one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rankscope::trainer {

/// What one rank has of a tensor: along `dimension` the whole tensor has equal sections behind one another, each of
/// them is cut into equal parts, and the rank has the same part of every section. One part: it has all.
struct TensorPart {
  std::size_t dimension = 0;
  std::int64_t sections = 1;  ///< three where q, k and v lie behind one another
  std::int64_t parts = 1;
  std::int64_t part = 0;
  bool operator==(const TensorPart&) const = default;
};

/// Indices along the dimension: `length` from `in_part` on are those from `in_whole` on.
struct Stretch {
  std::int64_t in_whole = 0;
  std::int64_t in_part = 0;
  std::int64_t length = 0;
  bool operator==(const Stretch&) const = default;
};

/// Where the part lies, one stretch per section. `extent` is that of the dimension in the whole tensor, and divisible
/// by sections x parts.
[[nodiscard]] std::vector<Stretch> stretches_of(const TensorPart& part, std::int64_t extent);

/// Shape of the whole tensor, of which a part has `shape`.
[[nodiscard]] std::vector<std::int64_t> whole_shape(const TensorPart& part, std::span<const std::int64_t> shape);

}  // namespace rankscope::trainer
