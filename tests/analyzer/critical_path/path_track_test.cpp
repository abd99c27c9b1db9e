// The critical path as a track of the timeline.
#include "rankscope/analyzer/critical_path/path_track.h"

#include <gtest/gtest.h>

#include <set>

#include "analyzer/replay/replayed.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer::replay {
namespace {

std::string text_attribute(const rankscope::Run& run, SpanId span, std::string_view key) {
  for (const Attribute& attribute : run.attributes_of(span))
    if (run.text(attribute.key) == key) return std::string{run.text(attribute.value.text)};
  return {};
}

TEST(PathTrack, TilesTheStepsOnALaneOfItsOwn) {
  const auto run = testing::make({.ranks = 3, .steps = 6, .noise = 0.1});
  const auto with = with_critical_path(*run);
  ASSERT_TRUE(with) << with.error().message;
  ASSERT_EQ((*with)->processes().size(), run->processes().size() + 1);
  EXPECT_EQ((*with)->ranks().size(), run->ranks().size());
  const Lane& lane = (*with)->lanes().back();
  EXPECT_EQ((*with)->text(lane.name), "critical path");
  const auto spans = (*with)->spans_of(lane);
  ASSERT_FALSE(spans.empty());
  for (std::size_t i = 1; i < spans.size(); ++i) EXPECT_EQ(spans[i].time.begin, spans[i - 1].time.end);
  const Replayed replayed{run};
  EXPECT_EQ((spans.back().time.end - spans.front().time.begin).count(), measured_ns(*replayed.graph));
}

TEST(PathTrack, SaysWhichRankAndWhatKind) {
  const auto with = with_critical_path(*testing::run_of(two_ranks));
  ASSERT_TRUE(with) << with.error().message;
  const rankscope::Run& run = **with;
  const auto spans = run.spans_of(run.lanes().back());
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(run.text(spans[0].name), "forward");
  EXPECT_EQ(text_attribute(run, run.id_of(spans[0]), "rank"), "1");
  EXPECT_EQ(text_attribute(run, run.id_of(spans[0]), "class"), "compute");
  EXPECT_EQ(text_attribute(run, run.id_of(spans[1]), "class"), "comm");
}

TEST(PathTrack, LeavesEveryOtherRowInItsPlace) {
  const auto run = testing::run_of(three_kernels);
  const auto with = with_critical_path(*run);
  ASSERT_TRUE(with) << with.error().message;
  ASSERT_GT((*with)->spans().size(), run->spans().size());
  for (std::size_t row = 0; row < run->spans().size(); ++row) EXPECT_EQ((*with)->spans()[row], run->spans()[row]);
}

}  // namespace
}  // namespace rankscope::analyzer::replay
