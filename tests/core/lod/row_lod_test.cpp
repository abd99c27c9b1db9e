// The pyramid of one row against an answer that reads every span.
#include "rankscope/core/lod/row_lod.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace rankscope::lod {
namespace {

Span span_at(std::int64_t begin, std::int64_t end, std::uint32_t name) {
  Span span;
  span.time = {at(begin), at(end)};
  span.name = StringId{name};
  span.kind = name % 2 == 0 ? SpanKind::compute : SpanKind::comm;
  return span;
}

/// Spans and gaps of lengths of many orders of magnitude, in bursts.
std::vector<Span> random_row(std::uint32_t seed, std::size_t count) {
  std::mt19937_64 random{seed};
  std::vector<Span> spans;
  std::int64_t time = 1000;
  const auto length = [&random](int most) {
    const auto bits = static_cast<int>(random() % static_cast<unsigned>(most));
    return static_cast<std::int64_t>(random() % (std::uint64_t{1} << bits));
  };
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t gap = i % 97 == 0 ? length(24) : length(8);
    const std::int64_t taken = i % 31 == 0 ? length(20) : length(10);
    spans.push_back(span_at(time + gap, time + gap + taken, static_cast<std::uint32_t>(random() % 50)));
    time += gap + taken;
  }
  return spans;
}

/// Ns of all spans within each pixel column.
std::vector<double> covered_by_column(const std::vector<Span>& spans, const View& view) {
  std::vector<double> covered(view.width, 0);
  for (const Span& span : spans) {
    const double x0 = std::clamp(view.x_of(span.time.begin), 0.0, static_cast<double>(view.width));
    const double x1 = std::clamp(view.x_of(span.time.end), 0.0, static_cast<double>(view.width));
    for (auto column = static_cast<std::size_t>(x0); column < view.width && static_cast<double>(column) < x1; ++column)
      covered[column] += std::min(x1, static_cast<double>(column) + 1) - std::max(x0, static_cast<double>(column));
  }
  return covered;
}

std::vector<double> covered_by_column(const std::vector<Piece>& pieces, std::uint32_t width) {
  std::vector<double> covered(width, 0);
  for (const Piece& piece : pieces)
    for (auto column = static_cast<std::size_t>(piece.begin); column < width && static_cast<double>(column) < piece.end;
         ++column)
      covered[column] += piece.share * (std::min(piece.end, static_cast<double>(column) + 1) -
                                        std::max(piece.begin, static_cast<double>(column)));
  return covered;
}

View random_view(std::mt19937_64& random, TimeRange all) {
  const std::int64_t length =
      std::max<std::int64_t>(200, static_cast<std::int64_t>(all.length().count() >> (random() % 16)));
  const auto begin = ns_of(all.begin) + static_cast<std::int64_t>(
                                            random() % static_cast<std::uint64_t>(all.length().count() - length + 1));
  return {{at(begin), at(begin + length)}, static_cast<std::uint32_t>(100 + random() % 1000)};
}

TEST(RowLod, ShowsAsMuchOfEachPixelAsSpansCover) {
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    const std::vector<Span> spans = random_row(seed, 200 + 4000 * seed);
    const RowLod row{spans, 0};
    std::mt19937_64 random{seed};
    for (int i = 0; i < 40; ++i) {
      const View view = random_view(random, {spans.front().time.begin, spans.back().time.end});
      const auto exact = covered_by_column(spans, view);
      const auto shown = covered_by_column(row.pieces(view), view.width);
      double of_exact = 0;
      double of_shown = 0;
      for (std::size_t column = 0; column < view.width; ++column) {
        of_exact += exact[column];
        of_shown += shown[column];
        // A bucket may lie across the edge of a pixel, which shifts what is in it by at most a bucket.
        ASSERT_NEAR(of_exact, of_shown, 1.01) << "seed " << seed << " view " << i << " column " << column;
      }
    }
  }
}

TEST(RowLod, PixelsThatAreBucketsAreExact) {
  const std::vector<Span> spans = random_row(7, 30'000);
  const RowLod row{spans, 0};
  const std::int64_t origin = ns_of(spans.front().time.begin);
  for (const int log2 : {14, 16, 18}) {
    const std::int64_t width = std::int64_t{1} << log2;
    const View view{{at(origin + 3 * width), at(origin + 203 * width)}, 200};
    const auto exact = covered_by_column(spans, view);
    const auto shown = covered_by_column(row.pieces(view), view.width);
    for (std::size_t column = 0; column < view.width; ++column) EXPECT_NEAR(exact[column], shown[column], 0.001);
  }
}

TEST(RowLod, NamesTheSpanThatCoversMostOfABucket) {
  const std::vector<Span> spans = random_row(3, 20'000);
  const RowLod row{spans, 0};
  const std::int64_t width = 1 << 17;
  const View view{{spans.front().time.begin, spans.front().time.begin + nanoseconds{100 * width}}, 100};
  for (const Piece& piece : row.pieces(view)) {
    if (piece.single || piece.share <= 0) continue;
    const TimeRange pixel{view.time.begin + nanoseconds{static_cast<std::int64_t>(piece.begin) * width},
                          view.time.begin + nanoseconds{static_cast<std::int64_t>(piece.end) * width}};
    nanoseconds most{0};
    for (const Span& span : spans) most = std::max(most, intersect(span.time, pixel).length());
    EXPECT_EQ(intersect(spans[piece.span.index()].time, pixel).length(), most);
    EXPECT_EQ(piece.name, spans[piece.span.index()].name);
  }
}

TEST(RowLod, ALaneThatIsBusyFor30PercentLooksSoAtEveryZoom) {
  std::vector<Span> spans;
  for (std::int64_t i = 0; i < 100'000; ++i) spans.push_back(span_at(i * 100, i * 100 + 30, 0));
  const RowLod row{spans, 0};
  for (std::int64_t length = 10'000'000; length > 20'000; length /= 3) {
    const View view{{at(0), at(length)}, 100};
    double covered = 0;
    for (const Piece& piece : row.pieces(view)) {
      EXPECT_FALSE(piece.single && piece.end - piece.begin > 1.5);
      covered += piece.share * (piece.end - piece.begin);
    }
    EXPECT_NEAR(covered, 30, 1.0) << length;
  }
}

TEST(RowLod, ALongSpanIsOnePieceWithItsOwnEdgesAtEveryZoom) {
  std::vector<Span> spans;
  for (std::int64_t i = 0; i < 10'000; ++i) spans.push_back(span_at(i * 100, i * 100 + 10, 0));
  spans.push_back(span_at(1'000'000, 2'000'000, 1));
  const RowLod row{spans, 40};
  const View view{{at(0), at(2'000'000)}, 1000};
  const auto pieces = row.pieces(view);
  const auto long_ones = std::ranges::count_if(pieces, [](const Piece& piece) { return piece.single; });
  ASSERT_EQ(long_ones, 1);
  EXPECT_EQ(pieces.back().span, SpanId{10'040});
  EXPECT_DOUBLE_EQ(pieces.back().begin, 500);
  EXPECT_DOUBLE_EQ(pieces.back().end, 1000);
}

TEST(RowLod, ABurstWithinOnePixelIsCountedAndNotRead) {
  std::vector<Span> spans;
  for (std::int64_t i = 0; i < 50'000; ++i) spans.push_back(span_at(i * 2, i * 2 + 1, 0));
  spans.push_back(span_at(1'000'000'000, 1'000'000'100, 1));
  const RowLod row{spans, 0};
  const View view{{at(0), at(100'000'000)}, 1000};  // a pixel is 100 us: the whole burst, below the finest bucket
  const auto pieces = row.pieces(view);
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_FALSE(pieces.front().single);
  EXPECT_EQ(pieces.front().count, 255);
  EXPECT_NEAR(pieces.front().share, 0.5, 0.001);
}

TEST(RowLod, HitsTheSpanAtAMomentOrTheNearestWithinReach) {
  const std::vector<Span> spans{span_at(10, 20, 0), span_at(30, 30, 1), span_at(40, 60, 2)};
  const RowLod row{spans, 0};
  EXPECT_EQ(row.at(at(15), nanoseconds{0}), 0U);
  EXPECT_EQ(row.at(at(20), nanoseconds{0}), 0U) << "touching counts";
  EXPECT_EQ(row.at(at(30), nanoseconds{0}), 1U);
  EXPECT_EQ(row.at(at(36), nanoseconds{5}), 2U);
  EXPECT_EQ(row.at(at(25), nanoseconds{2}), std::nullopt);
  EXPECT_EQ(row.at(at(70), nanoseconds{10}), 2U);
  EXPECT_EQ(row.count_in({at(10), at(40)}), 2U);
}

TEST(RowLod, TakesAtMost8BytesPerSpan) {
  for (const std::size_t count : {1'000UL, 10'000UL, 100'000UL}) {
    const std::vector<Span> spans = random_row(5, count);
    EXPECT_LE(RowLod(spans, 0).byte_count() - sizeof(RowLod), count * 8);
    std::vector<std::uint32_t> all(count);
    for (std::uint32_t i = 0; i < count; ++i) all[i] = i;
    EXPECT_LE(RowLod(spans, 0, all).byte_count() - sizeof(RowLod), count * 8);
  }
}

TEST(RowLod, FewAndNoSpans) {
  EXPECT_TRUE(RowLod({}, 0).pieces({{at(0), at(100)}, 10}).empty());
  EXPECT_EQ(RowLod({}, 0).at(at(5), nanoseconds{100}), std::nullopt);
  const std::vector<Span> instant{span_at(5, 5, 0)};
  const auto pieces = RowLod(instant, 0).pieces({{at(0), at(100)}, 10});
  ASSERT_EQ(pieces.size(), 1U) << "what has no length is still seen";
  EXPECT_EQ(pieces.front().share, 0);
  EXPECT_EQ(pieces.front().count, 1);
}

TEST(RowLod, LeavesOffWhereItIsStopped) {
  const std::vector<Span> spans = random_row(3, 100'000);
  std::stop_source source;
  source.request_stop();
  const RowLod stopped{spans, 0, source.get_token()};
  EXPECT_LT(stopped.byte_count(), RowLod(spans, 0).byte_count() / 100);
}

}  // namespace
}  // namespace rankscope::lod
