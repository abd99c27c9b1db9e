#include "rankscope/core/lod/row_lod.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "lod/row_lod_build.h"

namespace rankscope::lod {

/// Adds up what falls into each pixel column, from left to right.
class RowLod::Columns {
 public:
  explicit Columns(std::uint32_t width) : width_(width) { done_.reserve(width); }
  /// A span, and what is known of it without reading it.
  struct Shown {
    Place place = 0;
    StringId name{};
    SpanKind kind = SpanKind::user;
  };

  /// `covered` of [x0, x1), which is at most one pixel long; spans begin at x0.
  void add(double x0, double x1, double covered, const Shown& shown, std::uint32_t count) {
    if (x1 <= 0 || x0 >= width_) return;
    const auto column = static_cast<std::int64_t>(std::floor(x0));
    const double edge = static_cast<double>(column) + 1;
    if (x1 <= edge) return put(column, covered, shown, count);
    const double left = (edge - x0) / (x1 - x0);
    put(column, covered * left, shown, count);
    put(column + 1, covered * (1 - left), shown, 0);
  }
  /// One span that is wider than a pixel.
  void add_single(double x0, double x1, const Shown& shown) {
    flush();
    done_.push_back({std::clamp(x0, 0.0, width_), std::clamp(x1, 0.0, width_), 1, shown, 1, true});
  }
  struct Column {
    double begin;
    double end;
    double covered;
    Shown shown;
    std::uint32_t count;
    bool single;
  };
  std::vector<Column> finish() && {
    flush();
    return std::move(done_);
  }

 private:
  void put(std::int64_t column, double covered, const Shown& shown, std::uint32_t count) {
    if (column != column_) flush();
    column_ = column;
    covered_ += covered;
    count_ += count;
    any_ = true;
    if (covered < most_) return;
    most_ = covered;
    shown_ = shown;
  }
  void flush() {
    const double x = static_cast<double>(column_);
    if (any_ && x >= 0 && x < width_) done_.push_back({x, x + 1, std::min(covered_, 1.0), shown_, count_, false});
    any_ = false;
    covered_ = 0;
    most_ = -1;
    count_ = 0;
  }

  double width_;
  std::vector<Column> done_;
  std::int64_t column_ = -1;
  double covered_ = 0;
  double most_ = -1;
  Shown shown_;
  std::uint32_t count_ = 0;
  bool any_ = false;
};

namespace {

constexpr double pixels_of_long_span = 3;

/// First place of a row for which `before` does not hold.
template <class Before>
Place partition(std::size_t size, Before before) {
  Place low = 0;
  for (auto count = static_cast<Place>(size); count > 0;) {
    const Place half = count / 2;
    if (before(low + half)) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return low;
}

}  // namespace

Place RowLod::first_ending_after(RunTime moment) const {
  return partition(size(), [&](Place place) { return span(place).time.end <= moment; });
}

Place RowLod::first_beginning_at(RunTime moment) const {
  return partition(size(), [&](Place place) { return span(place).time.begin < moment; });
}

std::optional<Place> RowLod::at(RunTime moment, nanoseconds reach) const {
  const Place behind = partition(size(), [&](Place place) { return span(place).time.begin <= moment; });
  std::optional<Place> nearest;
  nanoseconds least = reach + nanoseconds{1};
  const auto consider = [&](Place place) {
    const TimeRange time = span(place).time;
    const nanoseconds distance = moment < time.begin  ? time.begin - moment
                                 : moment >= time.end ? moment - time.end
                                                      : nanoseconds{-1};
    if (distance >= least) return;
    least = distance;
    nearest = place;
  };
  if (behind > 0) consider(behind - 1);
  if (behind < size()) consider(behind);
  return nearest;
}

/// Ns of the spans from `begin` up to and without `end`.
std::int64_t RowLod::covered_between(Place begin, Place end) const {
  const auto before = [this](Place place) {
    const Place block = std::min(place / block_size, static_cast<Place>(blocks_.size() - 1));
    std::int64_t covered = blocks_[block].covered_before;
    for (Place at = block * block_size; at < place; ++at) covered += span(at).time.length().count();
    return covered;
  };
  return before(end) - before(begin);
}

Place RowLod::longest_between(Place begin, Place end) const {
  Place longest = begin;
  const auto consider = [&](Place place) {
    if (span(place).time.length() > span(longest).time.length()) longest = place;
  };
  Place place = begin;
  for (; place < end && place % block_size != 0; ++place) consider(place);
  for (; place + block_size <= end; place += block_size) consider(blocks_[place / block_size].longest);
  for (; place < end; ++place) consider(place);
  return longest;
}

/// The first span that begins at or behind `edge`, by doubling steps from `place` on.
Place RowLod::jump(Place place, RunTime edge) const {
  Place step = block_size;
  while (place + step < size() && span(place + step).time.begin < edge) step *= 2;
  const std::size_t until = std::min<std::size_t>(step + 1, size() - place);
  return place + partition(until, [&](Place more) { return span(place + more).time.begin < edge; });
}

void RowLod::read_spans(const View& view, Columns& columns) const {
  const auto shown = [this](Place place) { return Columns::Shown{place, span(place).name, span(place).kind}; };
  const double pixel = view.ns_per_pixel();
  for (Place place = first_ending_after(view.time.begin); place < size();) {
    const TimeRange time = span(place).time;
    if (time.begin >= view.time.end) break;
    const double x0 = view.x_of(time.begin);
    const double x1 = view.x_of(time.end);
    if (x1 - x0 >= 1) {
      columns.add_single(x0, x1, shown(place++));
      continue;
    }
    const double column = std::floor(x0);
    const RunTime edge = view.time.begin + nanoseconds{static_cast<std::int64_t>((column + 1) * pixel)};
    if (blocks_.empty() || place + block_size >= size() || span(place + block_size).time.begin >= edge) {
      columns.add(x0, x1, x1 - x0, shown(place++), 1);
      continue;
    }
    // All but the last one lie within the pixel; the last one is read on its own.
    const Place last = jump(place, edge) - 1;
    const double covered = static_cast<double>(covered_between(place, last)) / pixel;
    columns.add(x0, std::min(column + 1, x0 + 1), covered, shown(longest_between(place, last)), last - place);
    place = last;
  }
}

/// Whether one span fills this bucket and those behind it, so many together.
bool RowLod::is_filled(std::span<const Bucket> buckets, std::int64_t index, std::int64_t count) {
  if (index + count > static_cast<std::int64_t>(buckets.size())) return false;
  const auto run = buckets.subspan(static_cast<std::size_t>(index), static_cast<std::size_t>(count));
  return std::ranges::all_of(
      run, [&](const Bucket& bucket) { return bucket.share == full_share && bucket.longest == run.front().longest; });
}

// What fills several pixels is shown as the span that it is, with its own edges; in the buckets at its ends there may
// be others, which are shown up to there.
void RowLod::read_buckets(const View& view, int level, Columns& columns) const {
  const std::span<const Bucket> buckets = levels_[static_cast<std::size_t>(level)];
  const int log2 = finest_ + level;
  const double width = static_cast<double>(std::int64_t{1} << log2) / view.ns_per_pixel();
  const std::int64_t long_run = static_cast<std::int64_t>(std::ceil(pixels_of_long_span / width));
  const std::int64_t from = std::max<std::int64_t>(0, (view.time.begin - origin_).count() >> log2);
  const std::int64_t to =
      std::min(static_cast<std::int64_t>(buckets.size()) - 1, ((view.time.end - origin_).count() - 1) >> log2);
  const double first_x = view.x_of(origin_ + nanoseconds{from << log2});
  double shown_until = first_x;  // by a long span
  for (std::int64_t index = from; index <= to;) {
    const Bucket& bucket = buckets[static_cast<std::size_t>(index)];
    const Columns::Shown shown{bucket.longest, StringId{bucket.name}, static_cast<SpanKind>(bucket.kind)};
    double x0 = first_x + static_cast<double>(index - from) * width;
    double x1 = x0 + width;
    if (is_filled(buckets, index, long_run)) {
      const TimeRange time = span(bucket.longest).time;
      shown_until = view.x_of(time.end);
      columns.add_single(view.x_of(time.begin), shown_until, shown);
      while (index <= to && is_filled(buckets, index, 1) &&
             buckets[static_cast<std::size_t>(index)].longest == shown.place)
        ++index;
      continue;
    }
    double covered = bucket.share * width / full_share;
    std::uint32_t count = bucket.count;
    if (shown_until > x0) {
      covered -= std::min(shown_until, x1) - x0;
      x0 = std::min(shown_until, x1);
    }
    if (is_filled(buckets, index + 1, long_run)) {
      const double next = view.x_of(span(buckets[static_cast<std::size_t>(index + 1)].longest).time.begin);
      if (next < x1) {
        covered -= x1 - next;
        x1 = std::max(x0, next);
        if (count > 0) --count;
      }
    }
    if (!bucket.empty() && (covered > 0.001 || count > 0)) columns.add(x0, x1, std::max(0.0, covered), shown, count);
    ++index;
  }
}

std::vector<Piece> RowLod::pieces(const View& view) const {
  if (size() == 0 || view.time.empty() || view.width == 0) return {};
  Columns sums{view.width};
  const double pixel = view.ns_per_pixel();
  const int wanted = pixel < 1 ? -1 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(pixel))) - 1;
  if (levels_.empty() || wanted < finest_)
    read_spans(view, sums);
  else
    read_buckets(view, std::min(wanted - finest_, static_cast<int>(levels_.size()) - 1), sums);
  const std::vector<Columns::Column> columns = std::move(sums).finish();
  std::vector<Piece> pieces;
  pieces.reserve(columns.size());
  for (const Columns::Column& column : columns) {
    pieces.push_back({.begin = column.begin,
                      .end = column.end,
                      .share = static_cast<float>(column.covered),
                      .count = static_cast<std::uint8_t>(std::min(column.count, 255U)),
                      .kind = column.shown.kind,
                      .single = column.single,
                      .span = id(column.shown.place),
                      .name = column.shown.name});
  }
  return pieces;
}

}  // namespace rankscope::lod
