// Level of detail of one row of the timeline: spans that do not overlap, summed up in buckets of time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "rankscope/core/model/span.h"

namespace rankscope::lod {

/// What is seen through a number of pixels.
struct View {
  TimeRange time;
  std::uint32_t width = 1;  ///< in pixels
  [[nodiscard]] double ns_per_pixel() const { return static_cast<double>(time.length().count()) / width; }
  /// Pixels from the left edge; exact for times near the view.
  [[nodiscard]] double x_of(RunTime moment) const {
    return static_cast<double>((moment - time.begin).count()) / ns_per_pixel();
  }
};

/// What is to be drawn: one span, or one pixel column in which there may be several.
struct Piece {
  double begin = 0;  ///< pixels from the left edge, within [0, width]
  double end = 0;
  float share = 1;         ///< of [begin, end) that is covered by spans, 0..1
  std::uint8_t count = 1;  ///< spans that begin in it, at most 255
  SpanKind kind = SpanKind::user;
  bool single = true;  ///< one span from `begin` to `end`; else a column, and the rest is of its longest span
  SpanId span{};       ///< the one that covers most
  StringId name{};
  bool operator==(const Piece&) const = default;
};

/// A place in a row: the n-th span of it.
using Place = std::uint32_t;

/// Built once from spans that outlive it. Beside them it takes at most 8 bytes per span. If it was stopped while it was
/// built, it must not be asked anything.
class RowLod {
 public:
  /// Spans that stand one behind the other: those of a lane without nesting. `first` is the row of Run::spans() of the
  /// first one.
  RowLod(std::span<const Span> spans, std::uint32_t first, const std::stop_token& stop = {});
  /// Some of them, ascending, none of which begins before the one before it has ended.
  RowLod(std::span<const Span> spans, std::uint32_t first, std::vector<std::uint32_t> chosen,
         const std::stop_token& stop = {});

  [[nodiscard]] std::size_t size() const { return whole_ ? spans_.size() : chosen_.size(); }
  [[nodiscard]] const Span& span(Place place) const { return spans_[whole_ ? place : chosen_[place]]; }
  [[nodiscard]] SpanId id(Place place) const { return SpanId{first_ + (whole_ ? place : chosen_[place])}; }

  /// From left to right. Sums of `share` are what is covered, to 1/1000 of a pixel each.
  [[nodiscard]] std::vector<Piece> pieces(const View& view) const;
  /// The span at a moment, else the nearest one that is at most `reach` away.
  [[nodiscard]] std::optional<Place> at(RunTime moment, nanoseconds reach) const;
  /// The first span that ends behind a moment; size() if there is none.
  [[nodiscard]] Place first_ending_after(RunTime moment) const;
  /// The first span that begins at or behind a moment; size() if there is none.
  [[nodiscard]] Place first_beginning_at(RunTime moment) const;
  /// How many spans begin within a range.
  [[nodiscard]] std::size_t count_in(TimeRange range) const {
    return first_beginning_at(range.end) - first_beginning_at(range.begin);
  }
  /// Of what belongs to it, without the spans.
  [[nodiscard]] std::size_t byte_count() const;

 private:
  static constexpr std::uint16_t full_share = 65535;
  /// A stretch of time; all buckets of a level are equally long.
  struct Bucket {
    Place longest = 0;        // the span with the largest overlap
    std::uint32_t name = 0;   // its StringId: reading it from the span would miss the cache for each pixel
    std::uint16_t share = 0;  // covered part in 1/full_share
    std::uint8_t count = 0;   // spans that begin in it, at most 255
    std::uint8_t kind = 0;    // its SpanKind
    [[nodiscard]] bool empty() const { return share == 0 && count == 0; }
  };
  // Where thousands of spans share a pixel below the finest level they are jumped over by blocks.
  struct Block {
    std::int64_t covered_before = 0;  // ns of all spans before the block
    Place longest = 0;
  };
  class Build;
  class Columns;

  [[nodiscard]] std::int64_t covered_between(Place begin, Place end) const;
  [[nodiscard]] Place longest_between(Place begin, Place end) const;
  void read_spans(const View& view, Columns& columns) const;
  [[nodiscard]] static bool is_filled(std::span<const Bucket> buckets, std::int64_t index, std::int64_t count);
  void read_buckets(const View& view, int level, Columns& columns) const;
  [[nodiscard]] Place jump(Place place, RunTime edge) const;

  std::span<const Span> spans_;
  std::vector<std::uint32_t> chosen_;
  bool whole_ = true;
  std::uint32_t first_ = 0;
  RunTime origin_{};
  int finest_ = 0;  // log2 of the width of a bucket of levels_[0] in ns
  std::vector<std::vector<Bucket>> levels_;
  std::vector<Block> blocks_;
};

}  // namespace rankscope::lod
