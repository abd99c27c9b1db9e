// Makes the pyramid of one row.
#pragma once

#include "rankscope/core/lod/row_lod.h"

namespace rankscope::lod {

/// Spans in one Block.
inline constexpr Place block_size = 64;

class RowLod::Build {
 public:
  explicit Build(RowLod& row) : row_(row) {}
  void run();

 private:
  void make_blocks();
  void make_finest(std::size_t buckets);
  void join_level();
  void take(Bucket& bucket, Place place) const;
  [[nodiscard]] std::int64_t overlap(Place place, int log2, std::size_t index) const;

  RowLod& row_;
  std::vector<Place> last_;  // by bucket of the level made last: the last span that touches it; 0 where it is empty
};

}  // namespace rankscope::lod
