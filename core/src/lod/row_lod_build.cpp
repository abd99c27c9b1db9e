// How the pyramid of a row is made.
#include <algorithm>
#include <bit>
#include <cmath>

#include "lod/row_lod_build.h"

namespace rankscope::lod {
namespace {

// At least that many, and less than twice as many after the width is rounded up to a power of two. Rows that keep an
// index of their spans have less memory left for buckets.
constexpr std::size_t spans_per_bucket = 4;
constexpr std::size_t spans_per_bucket_of_index = 8;
constexpr std::size_t fewest_for_levels = 256;  // below it all spans are read
constexpr std::size_t fewest_buckets = 64;      // of the coarsest level

/// Smallest exponent with 2^exponent >= value.
int ceil_log2(std::uint64_t value) { return value <= 1 ? 0 : static_cast<int>(std::bit_width(value - 1)); }

}  // namespace

RowLod::RowLod(std::span<const Span> spans, std::uint32_t first, const std::stop_token& stop)
    : spans_(spans), first_(first) {
  Build(*this, stop).run();
}

RowLod::RowLod(std::span<const Span> spans, std::uint32_t first, std::vector<std::uint32_t> chosen,
               const std::stop_token& stop)
    : spans_(spans), chosen_(std::move(chosen)), whole_(false), first_(first) {
  chosen_.shrink_to_fit();
  Build(*this, stop).run();
}

void RowLod::Build::run() {
  if (row_.size() < fewest_for_levels || stop_.stop_requested()) return;
  make_blocks();
  row_.origin_ = row_.span(0).time.begin;
  const auto last = static_cast<Place>(row_.size() - 1);
  const auto length = static_cast<std::uint64_t>((row_.span(last).time.end - row_.origin_).count());
  row_.finest_ = ceil_log2(length / (row_.size() / (row_.whole_ ? spans_per_bucket : spans_per_bucket_of_index)) + 1);
  const std::size_t buckets = static_cast<std::size_t>(length >> row_.finest_) + 1;
  make_finest(buckets);
  while (!stop_.stop_requested() && row_.levels_.back().size() > fewest_buckets) join_level();
}

void RowLod::Build::make_blocks() {
  std::int64_t covered = 0;
  row_.blocks_.reserve(row_.size() / block_size + 1);
  for (Place place = 0; place < row_.size() && !is_stopped(place); ++place) {
    if (place % block_size == 0) row_.blocks_.push_back({covered, place});
    const nanoseconds length = row_.span(place).time.length();
    Block& block = row_.blocks_.back();
    if (length > row_.span(block.longest).time.length()) block.longest = place;
    covered += length.count();
  }
}

/// Ns of a span within bucket `index` of a level.
std::int64_t RowLod::Build::overlap(Place place, int log2, std::size_t index) const {
  const RunTime begin = row_.origin_ + nanoseconds{static_cast<std::int64_t>(index) << log2};
  const TimeRange bucket{begin, begin + nanoseconds{std::int64_t{1} << log2}};
  return intersect(row_.span(place).time, bucket).length().count();
}

void RowLod::Build::take(Bucket& bucket, Place place) const {
  const Span& span = row_.span(place);
  bucket.longest = place;
  bucket.name = span.name.value;
  bucket.kind = static_cast<std::uint8_t>(span.kind);
}

void RowLod::Build::make_finest(std::size_t buckets) {
  const int log2 = row_.finest_;
  row_.levels_.assign(1, std::vector<Bucket>(buckets));
  last_.assign(buckets, 0);
  std::vector<Bucket>& level = row_.levels_.front();
  std::vector<std::int64_t> covered(buckets, 0);
  std::vector<std::int64_t> most(buckets, -1);
  for (Place place = 0; place < row_.size() && !is_stopped(place); ++place) {
    const TimeRange time = row_.span(place).time;
    const auto from = static_cast<std::size_t>((time.begin - row_.origin_).count() >> log2);
    // A span that ends at the edge of a bucket does not touch the next one.
    const auto to = static_cast<std::size_t>(
        std::max((time.end - row_.origin_).count() - 1, (time.begin - row_.origin_).count()) >> log2);
    if (level[from].count < 255) ++level[from].count;
    for (std::size_t index = from; index <= to; ++index) {
      const std::int64_t ns = overlap(place, log2, index);
      covered[index] += ns;
      last_[index] = place;
      if (ns <= most[index]) continue;
      most[index] = ns;
      take(level[index], place);
    }
  }
  const double width = static_cast<double>(std::int64_t{1} << log2);
  for (std::size_t index = 0; index < buckets; ++index)
    level[index].share = static_cast<std::uint16_t>(std::lround(static_cast<double>(covered[index]) / width * 65535));
}

/// The next level: each bucket joins two. Only one span can lie across the edge between them.
void RowLod::Build::join_level() {
  const std::vector<Bucket>& fine = row_.levels_.back();
  const int log2 = row_.finest_ + static_cast<int>(row_.levels_.size());
  std::vector<Bucket> level((fine.size() + 1) / 2);
  for (std::size_t index = 0; index < level.size(); ++index) {
    const Bucket& left = fine[2 * index];
    const Bucket right = 2 * index + 1 < fine.size() ? fine[2 * index + 1] : Bucket{};
    Bucket& bucket = level[index];
    bucket.share = static_cast<std::uint16_t>((left.share + right.share + 1) / 2);
    bucket.count = static_cast<std::uint8_t>(std::min(255, left.count + right.count));
    const Place across = last_[2 * index];
    std::int64_t most = -1;
    const auto consider = [&](Place place) {
      const std::int64_t ns = overlap(place, log2, index);
      if (ns <= most) return;
      most = ns;
      take(bucket, place);
    };
    if (!left.empty()) {
      consider(left.longest);
      consider(across);
    }
    if (!right.empty()) consider(right.longest);
    const bool more = 2 * index + 1 < fine.size() && !right.empty();
    last_[index] = more ? last_[2 * index + 1] : across;
  }
  row_.levels_.push_back(std::move(level));
}

std::size_t RowLod::byte_count() const {
  std::size_t bytes = sizeof(RowLod) + chosen_.capacity() * sizeof(std::uint32_t) + blocks_.capacity() * sizeof(Block);
  for (const std::vector<Bucket>& level : levels_) bytes += level.capacity() * sizeof(Bucket);
  return bytes;
}

}  // namespace rankscope::lod
