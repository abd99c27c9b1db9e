// The strip of all ranks over the whole run.
#include <gtest/gtest.h>

#include "rankscope/core/format.h"
#include "rankscope/core/model/text.h"
#include "timeline/overlay.h"

namespace rankscope::gui {
namespace {

constexpr int step_ns = 1000;

/// So many ranks and steps in which all are even but one rank in one step.
Facts facts_with_one_late(std::uint32_t ranks, int steps, std::uint32_t late_rank, int late_step) {
  Facts facts;
  facts.run = *run_from_text(format("0 compute 0 {} gemm\n", steps * step_ns));
  facts.lod = lod::RunLod::build(facts.run, {});
  Lateness& lateness = facts.lateness;
  lateness.median_step_ns = step_ns;
  lateness.compares = true;
  for (int step = 0; step < steps; ++step)
    lateness.steps.push_back({.index = step, .time = {at(step * step_ns), at((step + 1) * step_ns)}});
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    lateness.ranks.push_back(RankId{rank});
    for (int step = 0; step < steps; ++step)
      lateness.cells.emplace_back(
          LatenessCell{.window = {}, .own_ns = 0, .lag_ns = rank == late_rank && step == late_step ? step_ns : 0});
  }
  return facts;
}

int count(const QImage& image, QRgb colour) {
  int found = 0;
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) found += image.pixel(x, y) == colour ? 1 : 0;
  return found;
}

TEST(HeatStrip, HasALineForEachOfAFewRanks) {
  const QImage strip = heat_strip(facts_with_one_late(4, 10, 1, 3), {100, 40}, Theme::light);
  EXPECT_EQ(count(strip, colour_of_lateness(1)), 10 * 9) << "the tenth pixel of each line is between ranks";
  EXPECT_EQ(strip.pixel(35, 10), colour_of_lateness(1));
  EXPECT_EQ(strip.pixel(25, 10), colour_of_lateness(0));
  EXPECT_EQ(strip.pixel(35, 19), colours_of(Theme::light).lane);
}

/// Whichever of the ranks and steps that share its pixel is late.
TEST(HeatStrip, OfRanksThatShareAPixelTheLateOneIsSeen) {
  for (const std::uint32_t late : {0U, 1U, 511U, 512U, 1022U, 1023U})
    for (const int step : {0, 150, 299}) {
      const QImage strip = heat_strip(facts_with_one_late(1024, 300, late, step), {100, 40}, Theme::light);
      EXPECT_GE(count(strip, colour_of_lateness(1)), 1) << late << " in " << step;
    }
}

TEST(HeatStrip, ShowsWhereRanksWereBusyUntilTheirLatenessIsKnown) {
  Facts facts;
  facts.run = *run_from_text("0 compute 0 500 gemm\n1 compute 500 1000 gemm\n");
  facts.lod = lod::RunLod::build(facts.run, {});
  const QImage strip = heat_strip(facts, {100, 40}, Theme::dark);
  EXPECT_EQ(strip.pixel(20, 5), strip.pixel(70, 25));
  EXPECT_EQ(strip.pixel(20, 25), colours_of(Theme::dark).lane);
  EXPECT_NE(strip.pixel(20, 5), strip.pixel(20, 25));
}

TEST(HeatStrip, IsOfTheStreamsOfARankIfThereAreAny) {
  Facts facts;
  facts.run = *run_from_text("0 compute 500 1000 gemm\n0 op 0 10 mm\n0 op 20 30 mm\n0 op 40 50 mm\n0 op 60 400 mm\n");
  facts.lod = lod::RunLod::build(facts.run, {});
  const QImage strip = heat_strip(facts, {100, 10}, Theme::light);
  EXPECT_EQ(strip.pixel(25, 5), colours_of(Theme::light).lane) << "only the host works";
  EXPECT_NE(strip.pixel(75, 5), colours_of(Theme::light).lane);
}

}  // namespace
}  // namespace rankscope::gui
