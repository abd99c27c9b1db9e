// Memory of a rank at any zoom, and where it was highest.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rankscope/analyzer/memory/lines.h"
#include "rankscope/core/lod/value_lod.h"

namespace rankscope::gui {

/// Of a line that outlives it. An answer reads about a hundred values, however many there are.
class MemoryPeaks {
 public:
  explicit MemoryPeaks(const analyzer::MemoryLine& line);

  [[nodiscard]] const analyzer::MemoryLine& line() const { return *line_; }
  /// Level of detail of the line's bytes.
  [[nodiscard]] const lod::ValueLod& lod() const { return lod_; }
  /// The first of the highest values in a range. What was there when the range began counts, unless values were
  /// sampled. Nothing where there is no value.
  [[nodiscard]] std::optional<analyzer::MemoryValue> in(TimeRange range) const;

 private:
  [[nodiscard]] std::size_t first_highest(std::size_t begin, std::size_t end) const;

  const analyzer::MemoryLine* line_;
  lod::ValueLod lod_;
  // Each level sums up 32 places of the one below, the first one 32 values: place of the first highest value.
  std::vector<std::vector<std::size_t>> levels_;
};

}  // namespace rankscope::gui
