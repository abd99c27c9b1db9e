// Makes the pyramid of one row.
#pragma once

#include <stop_token>

#include "rankscope/core/lod/row_lod.h"

namespace rankscope::lod {

/// Spans in one Block.
inline constexpr Place block_size = 64;

/// So often it is asked whether to stop.
inline constexpr Place spans_between_looks = 1 << 16;

class RowLod::Build {
 public:
  Build(RowLod& row, const std::stop_token& stop) : row_(row), stop_(stop) {}
  void run();

 private:
  void make_blocks();
  void make_finest(std::size_t buckets);
  void join_level();
  void take(Bucket& bucket, Place place) const;
  [[nodiscard]] std::int64_t overlap(Place place, int log2, std::size_t index) const;

  /// Asked at each span; looks now and then.
  [[nodiscard]] bool is_stopped(Place place) const {
    return place % spans_between_looks == 0 && stop_.stop_requested();
  }

  RowLod& row_;
  const std::stop_token& stop_;
  std::vector<Place> last_;  // by bucket of the level made last: the last span that touches it; 0 where it is empty
};

}  // namespace rankscope::lod
