// The picture of spans, without text, against pictures that were looked at.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "gui/views/golden.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "timeline/scene.h"

namespace rankscope::gui {
namespace {

/// Nested events, a late rank, a burst that hides events in pixels, a lane that is busy for 30 %, and a counter.
std::shared_ptr<const Run> run_to_paint() {
  std::string text =
      "@run world_size=2 clock=same_host clock_error=1\n"
      "@group dp 0,1\n";
  for (int rank = 0; rank < 2; ++rank) {
    const int late = rank * 150'000;
    text += format("{} step 0 1000000 step index=0\n", rank);
    text += format("{} forward 20000 300000 forward\n{} op 40000 200000 linear\n", rank, rank);
    text += format("{} comm {} 900000 allreduce group=dp seq=0\n", rank, 500'000 + late);
    for (int i = 0; i < 3000; ++i) text += format("{} compute {} {} k{}\n", rank, i * 100, i * 100 + 30, i % 7);
    text += format("{} counter 0 10 busy_percent\n{} counter 500000 80 busy_percent\n", rank, rank);
  }
  auto run = run_from_text(text);
  EXPECT_TRUE(run) << run.error().message;
  return *run;
}

/// The lanes of each rank in the order that the pictures have: threads above streams.
std::vector<PlacedTrack> placed(std::vector<Track> tracks) {
  const auto is_lane = [](const Track& track) { return track.kind == TrackKind::lane; };
  for (auto at = tracks.begin(); at != tracks.end();) {
    const auto first = std::find_if(at, tracks.end(), is_lane);
    at = std::find_if_not(first, tracks.end(), is_lane);
    std::reverse(first, at);
  }
  std::vector<PlacedTrack> all;
  double y = 0;
  for (Track& track : tracks) {
    const double height = track.height + 3;
    all.push_back({std::move(track), y});
    y += height;
  }
  return all;
}

Scene scene_of(const std::shared_ptr<const Run>& run, double ratio, Theme theme) {
  auto facts = std::make_shared<Facts>(Facts{.run = run, .lod = lod::RunLod::build(run, {})});
  facts->report = std::make_shared<const analyzer::Report>(analyzer::analyze(*run, {}));
  facts->wait_ends = {};
  for (const Collective& one : run->collectives()) facts->wait_ends.push_back(std::max(one.started, at(650'000)));
  Scene scene;
  scene.time = run->extent();
  scene.width = 200;
  scene.height = 150;
  scene.ratio = ratio;
  scene.row_height = 12;
  scene.theme = theme;
  scene.labels = false;
  scene.tracks = placed(make_tracks(*facts->lod, {.row_height = 12}).tracks);
  scene.facts = std::move(facts);
  return scene;
}

using testing::expect_painted;

TEST(Scene, LooksAsItDidAtScale1) { expect_painted("light_1", paint(scene_of(run_to_paint(), 1, Theme::light))); }
TEST(Scene, LooksAsItDidAtScale2) { expect_painted("light_2", paint(scene_of(run_to_paint(), 2, Theme::light))); }
TEST(Scene, LooksAsItDidInTheDark) { expect_painted("dark_1", paint(scene_of(run_to_paint(), 1, Theme::dark))); }

TEST(Scene, ALaneThatIsBusyFor30PercentIsPaintedAs30Percent) {
  Scene scene = scene_of(run_to_paint(), 1, Theme::light);
  scene.time = {at(0), at(300'000)};  // 15 kernels in each pixel
  const PlacedTrack* stream = nullptr;
  for (const PlacedTrack& placed : scene.tracks)
    if (stream == nullptr && placed.track.name.starts_with("stream")) stream = &placed;
  ASSERT_NE(stream, nullptr);
  const QImage image = paint(scene);
  const QRgb expected = blend(colours_of(Theme::light).lane, colour_of(SpanKind::compute), 0.3F);
  for (int x = 5; x < 195; ++x) {
    const QRgb pixel = image.pixel(x, static_cast<int>(stream->y) + 4);
    EXPECT_NEAR(qRed(pixel), qRed(expected), 8) << x;
    EXPECT_NEAR(qBlue(pixel), qBlue(expected), 8) << x;
  }
}

TEST(Colours, OfNamesDoNotDependOnDigits) { EXPECT_EQ(colour_of_name("gemm_128x64"), colour_of_name("gemm_64x32")); }

TEST(Colours, TextCanBeReadOnEveryBarInLightAndDark) {
  constexpr double least = 4.5;  // WCAG 2, AA
  std::vector<QRgb> bars{colour_of_name("other")};
  for (std::size_t kind = 0; kind < span_kind_count; ++kind) bars.push_back(colour_of(static_cast<SpanKind>(kind)));
  for (std::size_t place = 0; place < TimelineModel::placed_names; ++place) bars.push_back(colour_of_place(place));
  for (const float share : {-0.2F, -0.1F, 0.0F, 0.1F, 0.2F}) bars.push_back(colour_of_lateness(share));
  for (const QRgb bar : bars) {
    EXPECT_GE(contrast(bar, text_on(bar).rgb()), least) << std::hex << bar;
    for (const Theme theme : {Theme::light, Theme::dark}) {
      const QRgb dimmed = blend(colours_of(theme).lane, bar, 0.2F);
      EXPECT_GE(contrast(dimmed, text_on(dimmed).rgb()), least) << std::hex << bar;
    }
  }
  EXPECT_NEAR(contrast(0xFF000000, 0xFFFFFFFF), 21, 1e-9);
  EXPECT_EQ(text_on(0xFFF2F2F2), QColor{Qt::black});
  EXPECT_EQ(text_on(0xFF202124), QColor{Qt::white});
}

TEST(Colours, TheNamesThatTakeMostTimeHaveColoursOfTheirOwn) {
  std::set<QRgb> colours;
  for (std::size_t place = 0; place < TimelineModel::placed_names; ++place) colours.insert(colour_of_place(place));
  EXPECT_EQ(colours.size(), TimelineModel::placed_names);
  EXPECT_FALSE(colours.contains(colour_of_name("any other")));
}

}  // namespace
}  // namespace rankscope::gui
