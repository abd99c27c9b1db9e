// Level of detail of a whole run: what a timeline of it draws at any zoom.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "rankscope/core/lod/row_lod.h"
#include "rankscope/core/lod/value_lod.h"
#include "rankscope/core/model/run_parts.h"
#include "rankscope/core/result.h"

namespace rankscope::lod {

/// Of one lane: a row for each depth of nesting, the outermost first. Spans that overlap without nesting are in
/// different rows, too: each in the first one that is free below all that enclose it.
struct LaneLod {
  std::vector<RowLod> rows;
};

/// A span's place on its lane.
struct RowPlace {
  std::uint32_t row = 0;
  Place place = 0;
  bool operator==(const RowPlace&) const = default;
};

/// Immutable; keeps its run alive.
class RunLod {
 public:
  /// Lanes are built in parallel on `threads` (0 = as many as the machine has). Null if it was stopped.
  [[nodiscard]] static std::shared_ptr<const RunLod> build(std::shared_ptr<const Run> run, const std::stop_token& stop,
                                                           unsigned threads = 0);

  [[nodiscard]] const Run& run() const { return *run_; }
  [[nodiscard]] const LaneLod& lane(LaneId id) const { return lanes_[id.index()]; }
  /// Of the samples of a row of Run::counters().
  [[nodiscard]] const ValueLod& counter(std::size_t row) const { return counters_[row]; }
  /// Of all samples of that row, of which there are some.
  [[nodiscard]] Bounds bounds_of_counter(std::size_t row) const;
  /// Where a span stands on its lane.
  [[nodiscard]] RowPlace place_of(SpanId span) const;
  /// Of what belongs to it, without the run.
  [[nodiscard]] std::size_t byte_count() const;

 private:
  std::shared_ptr<const Run> run_;
  std::vector<LaneLod> lanes_;      // parallel to Run::lanes()
  std::vector<ValueLod> counters_;  // parallel to Run::counters()
};

}  // namespace rankscope::lod
