// Moving through a run without a window.
#include <gtest/gtest.h>

#include "gui/waiting.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/models/timeline/flows.h"
#include "rankscope/gui/models/timeline/navigator.h"

namespace rankscope::gui {
namespace {

/// Two ranks with two steps; rank 1 comes late to the allreduce. Rows of spans by lane: rank 0 main 0-1, comm 2-3,
/// stream 4-6; rank 1 the same from 7 on.
constexpr const char* events_of_two_ranks =
    "@run world_size=2 clock=same_host clock_error=1\n"
    "@group dp 0,1\n"
    "0 step 0 1000 step index=0\n"
    "0 step 1000 2000 step index=1\n"
    "0 compute 0 300 gemm\n"
    "0 compute 300 400 relu\n"
    "0 compute 1000 1300 gemm\n"
    "0 comm 400 900 allreduce group=dp seq=0\n"
    "0 comm 1400 1900 allreduce group=dp seq=1\n"
    "1 step 0 1000 step index=0\n"
    "1 step 1000 2000 step index=1\n"
    "1 compute 0 600 gemm\n"
    "1 compute 600 700 relu\n"
    "1 compute 1000 1600 gemm\n"
    "1 comm 700 900 allreduce group=dp seq=0\n"
    "1 comm 1700 1900 allreduce group=dp seq=1\n";

struct Viewer {
  Session session;
  TimelineModel model{session};
  Navigator navigator{session, model};

  explicit Viewer(const char* text = events_of_two_ranks) {
    session.show(*run_from_text(text));
    const bool there = testing::comes_true([this] {
      return session.state() == LoadState::ready && model.facts() != nullptr && model.facts()->waits_known;
    });
    EXPECT_TRUE(there);
    navigator.set_width(1000);
  }
  /// How long a span is drawn as waiting.
  nanoseconds waited(SpanId span) const {
    const std::uint32_t row = session.run()->span(span).collective;
    return model.facts()->wait_ends[row] - session.run()->collectives()[row].started;
  }
  /// The n-th span of a name on a rank.
  SpanId find(RankId rank, std::string_view name, int which = 0) const {
    const Run& run = *session.run();
    for (const Span& span : run.spans())
      if (run.lane(span.lane).rank == rank && run.text(span.name) == name && which-- == 0) return run.id_of(span);
    return {};
  }
};

TEST(Navigator, ShowsActivityOfTheGpuButNotAllThatWasSampled) {
  const Viewer viewer{
      "0 compute 0 100 gemm\n"
      "0 counter 0 1 \"GPU 0 sm_active_percent\"\n"
      "0 counter 0 1 \"GPU 0 dram_read_percent\"\n"
      "0 counter 0 1 \"GPU 0 nvlink_sent_bytes_per_second\"\n"
      "0 counter 0 1 \"GPU 0 nvlink_sent_bytes\"\n"};
  std::vector<std::string> names;
  for (const Track& track : viewer.model.tracks().tracks)
    if (track.kind == TrackKind::counter) names.push_back(track.name);
  EXPECT_EQ(names, (std::vector<std::string>{"GPU 0 DRAM read", "GPU 0 NVLink sent", "GPU 0 SM active"}));
}

TEST(Navigator, GoesBackAndForwardThroughRanges) {
  Viewer viewer;
  const TimeRange all = viewer.session.visible();
  viewer.navigator.show({at(0), at(500)});
  viewer.navigator.show({at(100), at(200)});
  viewer.navigator.back();
  EXPECT_EQ(viewer.session.visible(), (TimeRange{at(0), at(500)}));
  viewer.navigator.back();
  EXPECT_EQ(viewer.session.visible(), all);
  viewer.navigator.back();
  EXPECT_EQ(viewer.session.visible(), all);
  viewer.navigator.forward();
  EXPECT_EQ(viewer.session.visible(), (TimeRange{at(0), at(500)}));
}

TEST(Navigator, TurnsOfTheWheelAreOneMove) {
  Viewer viewer;
  const TimeRange all = viewer.session.visible();
  for (int i = 0; i < 5; ++i) viewer.navigator.zoom(0.8, 500);
  viewer.navigator.back();
  EXPECT_EQ(viewer.session.visible(), all);
}

TEST(Navigator, FocusCentresTheSelectionThenFitsIt) {
  Viewer viewer;
  viewer.session.select(viewer.find(RankId{1}, "relu"));
  viewer.navigator.show({at(0), at(1000)});
  viewer.navigator.focus_selection();
  EXPECT_EQ(viewer.session.visible(), (TimeRange{at(150), at(1150)}));
  viewer.navigator.focus_selection();
  EXPECT_EQ(viewer.session.visible(), (TimeRange{at(589), at(711)}));
}

TEST(Navigator, GoesAlongALane) {
  Viewer viewer;
  viewer.session.select(viewer.find(RankId{0}, "gemm"));
  viewer.navigator.next_event(Direction::forward);
  EXPECT_EQ(viewer.session.selection(), viewer.find(RankId{0}, "relu"));
  viewer.navigator.next_event(Direction::back);
  viewer.navigator.next_same_name(Direction::forward);
  EXPECT_EQ(viewer.session.selection(), viewer.find(RankId{0}, "gemm", 1));
  viewer.navigator.next_event(Direction::forward);
  EXPECT_EQ(viewer.session.selection(), viewer.find(RankId{0}, "gemm", 1)) << "the last one stays";
}

TEST(Navigator, FindsTheSameOperationOnTheNextRank) {
  Viewer viewer;
  viewer.session.select(viewer.find(RankId{0}, "gemm", 1));
  viewer.navigator.next_rank(Direction::forward);
  EXPECT_EQ(viewer.session.selection(), viewer.find(RankId{1}, "gemm", 1)) << "the one of the same step";
  viewer.navigator.next_rank(Direction::back);
  EXPECT_EQ(viewer.session.selection(), viewer.find(RankId{0}, "gemm", 1));
  viewer.session.select(viewer.find(RankId{0}, "allreduce", 1));
  viewer.navigator.next_rank(Direction::forward);
  EXPECT_EQ(viewer.session.selection(), viewer.find(RankId{1}, "allreduce", 1));
}

TEST(Navigator, GoesFromCollectiveToCollectiveAndStepToStep) {
  Viewer viewer;
  viewer.session.select(viewer.find(RankId{1}, "allreduce", 0));
  viewer.navigator.next_collective(Direction::forward);
  EXPECT_EQ(viewer.session.selection(), viewer.find(RankId{1}, "allreduce", 1));
  viewer.navigator.show({at(0), at(1000)});
  viewer.navigator.next_step(Direction::forward);
  EXPECT_TRUE(viewer.session.visible().contains(at(1500)));
  EXPECT_FALSE(viewer.session.visible().contains(at(500)));
}

TEST(Navigator, FindsMatchesOfTheSearchInOrderOfTime) {
  Viewer viewer;
  viewer.session.set_filter({.ranks = {}, .text = "RELU"});
  viewer.session.select(viewer.find(RankId{0}, "gemm"));
  viewer.navigator.next_match(Direction::forward);
  EXPECT_EQ(viewer.session.selection(), viewer.find(RankId{0}, "relu"));
  viewer.navigator.next_match(Direction::forward);
  EXPECT_EQ(viewer.session.selection(), viewer.find(RankId{1}, "relu"));
  viewer.navigator.next_match(Direction::back);
  EXPECT_EQ(viewer.session.selection(), viewer.find(RankId{0}, "relu"));
}

TEST(Navigator, BeginsWithTheFirstMatchInSightAndEscapeLeavesTheSearch) {
  Viewer viewer;
  viewer.session.set_filter({.ranks = {RankId{1}}, .text = "relu"});
  viewer.navigator.next_match(Direction::forward);
  EXPECT_EQ(viewer.session.selection(), viewer.find(RankId{1}, "relu")) << "of the chosen rank";
  viewer.navigator.clear();
  EXPECT_EQ(viewer.session.filter().text, "relu");
  viewer.navigator.clear();
  EXPECT_TRUE(viewer.session.filter().text.empty());
  EXPECT_EQ(viewer.session.filter().ranks, std::vector{RankId{1}});
}

TEST(Navigator, KeepsMarksThatAreToBeKept) {
  Viewer viewer;
  viewer.session.select(SpanId{0});
  viewer.navigator.mark_selection(false);
  viewer.navigator.mark_selection(true);
  viewer.navigator.mark_selection(false);
  EXPECT_EQ(viewer.navigator.marks().size(), 2U) << "a passing mark takes the place of the one before";
  viewer.navigator.remove_mark();
  ASSERT_EQ(viewer.navigator.marks().size(), 1U);
  EXPECT_TRUE(viewer.navigator.marks().front().kept);
}

TEST(Navigator, DoesNothingWithoutARunOrASelection) {
  Session session;
  TimelineModel model{session};
  Navigator navigator{session, model};
  for (const Direction direction : {Direction::back, Direction::forward}) {
    navigator.next_event(direction);
    navigator.next_rank(direction);
    navigator.next_collective(direction);
    navigator.next_step(direction);
    navigator.next_finding(direction);
    navigator.next_match(direction);
    navigator.follow_flow(direction);
  }
  navigator.focus_selection();
  navigator.select_all();
  navigator.mark_selection(true);
  EXPECT_EQ(session.selection(), std::nullopt);
  EXPECT_TRUE(navigator.marks().empty());
}

TEST(Flows, LeadFromTheRankThatCameLastToAllThatWaited) {
  Viewer viewer;
  const SpanId early = viewer.find(RankId{0}, "allreduce");
  const SpanId late = viewer.find(RankId{1}, "allreduce");
  const std::vector<Flow> expected{{FlowKind::members, late, early}};
  EXPECT_EQ(flows_of(*viewer.model.facts(), early), expected);
  EXPECT_EQ(flow_neighbour(*viewer.model.facts(), early, Direction::forward), late);
  EXPECT_EQ(flow_neighbour(*viewer.model.facts(), late, Direction::back), early);
}

/// Rank 2 comes last, but nobody waits for it.
TEST(Flows, OfABroadcastLeadFromItsRoot) {
  Viewer viewer{
      "@run clock=same_host\n@group dp 0,1,2\n"
      "0 comm 30000 60000 broadcast group=dp peer=0\n"
      "1 comm 0 60000 broadcast group=dp peer=0\n"
      "2 comm 50000 60000 broadcast group=dp peer=0\n"};
  const auto of_rank = [&viewer](std::uint32_t rank) { return viewer.find(RankId{rank}, "broadcast"); };
  const std::vector<Flow> expected{{FlowKind::members, of_rank(0), of_rank(1)},
                                   {FlowKind::members, of_rank(0), of_rank(2)}};
  for (const std::uint32_t rank : {0U, 1U, 2U}) EXPECT_EQ(flows_of(*viewer.model.facts(), of_rank(rank)), expected);
}

TEST(Flows, OfAReduceLeadFromTheLastToTheRootThatWaitsForIt) {
  Viewer viewer{
      "@run clock=same_host\n@group dp 0,1,2\n"
      "0 comm 30000 60000 reduce group=dp peer=0\n"
      "1 comm 0 60000 reduce group=dp peer=0\n"
      "2 comm 50000 60000 reduce group=dp peer=0\n"};
  const auto of_rank = [&viewer](std::uint32_t rank) { return viewer.find(RankId{rank}, "reduce"); };
  const std::vector<Flow> expected{{FlowKind::members, of_rank(2), of_rank(0)}};
  EXPECT_EQ(flows_of(*viewer.model.facts(), of_rank(1)), expected);
}

TEST(Flows, LeadFromALaunchToItsKernel) {
  Viewer viewer{
      "0 runtime 0 10 cudaLaunchKernel\n"
      "0 compute 20 80 gemm\n"
      "@link launch 0 1\n"};
  const SpanId launch = viewer.find(RankId{0}, "cudaLaunchKernel");
  const SpanId kernel = viewer.find(RankId{0}, "gemm");
  const std::vector<Flow> expected{{FlowKind::launch, launch, kernel}};
  EXPECT_EQ(flows_of(*viewer.model.facts(), launch), expected);
  EXPECT_EQ(flows_of(*viewer.model.facts(), kernel), expected);
  EXPECT_EQ(flow_neighbour(*viewer.model.facts(), kernel, Direction::back), launch);
}

TEST(TimelineModel, KnowsUntilWhenEachRankWaited) {
  Viewer viewer;
  const auto& run = *viewer.session.run();
  const Span& early = run.span(viewer.find(RankId{0}, "allreduce"));
  const Span& late = run.span(viewer.find(RankId{1}, "allreduce"));
  EXPECT_EQ(viewer.model.facts()->wait_ends[early.collective], at(700));
  EXPECT_EQ(viewer.model.facts()->wait_ends[late.collective], at(700)) << "its own start";
}

TEST(TimelineModel, ABroadcastWaitsForItsRootAndNotForThoseThatComeAfterIt) {
  const Viewer viewer{
      "@run clock=same_host\n@group dp 0,1,2\n"
      "0 comm 30000 60000 broadcast group=dp peer=0\n"
      "1 comm 0 60000 broadcast group=dp peer=0\n"
      "2 comm 50000 60000 broadcast group=dp peer=0\n"};
  EXPECT_EQ(viewer.waited(viewer.find(RankId{0}, "broadcast")), nanoseconds{0});
  EXPECT_EQ(viewer.waited(viewer.find(RankId{1}, "broadcast")), nanoseconds{30'000});
  EXPECT_EQ(viewer.waited(viewer.find(RankId{2}, "broadcast")), nanoseconds{0});
}

TEST(TimelineModel, OfAReduceOnlyTheRootWaits) {
  const Viewer viewer{
      "@run clock=same_host\n@group dp 0,1,2\n"
      "0 comm 0 60000 reduce group=dp peer=0\n"
      "1 comm 10000 60000 reduce group=dp peer=0\n"
      "2 comm 50000 60000 reduce group=dp peer=0\n"};
  EXPECT_EQ(viewer.waited(viewer.find(RankId{0}, "reduce")), nanoseconds{50'000});
  EXPECT_EQ(viewer.waited(viewer.find(RankId{1}, "reduce")), nanoseconds{0});
}

TEST(TimelineModel, WhereClocksCannotBeComparedDurationsTellWhoWaited) {
  const Viewer viewer{
      "@rank 0 host=a\n@rank 1 host=b\n@group dp 0,1\n"
      "0 comm 0 100000 allreduce group=dp\n1 comm 9000000 9020000 allreduce group=dp\n"};
  EXPECT_EQ(viewer.waited(viewer.find(RankId{0}, "allreduce")), nanoseconds{80'000});
  EXPECT_EQ(viewer.waited(viewer.find(RankId{1}, "allreduce")), nanoseconds{0});
}

TEST(TimelineModel, FoldsRanksAndUnfoldsTheOneThatIsAskedFor) {
  Viewer viewer;
  const std::size_t all = viewer.model.tracks().tracks.size();
  viewer.model.fold_all(true);
  EXPECT_EQ(viewer.model.tracks().tracks.size(), 2U);
  viewer.model.unfold(RankId{1});
  EXPECT_GT(viewer.model.tracks().tracks.size(), 2U);
  EXPECT_LT(viewer.model.tracks().tracks.size(), all);
  viewer.session.set_filter({.ranks = {RankId{0}}, .text = {}});
  EXPECT_EQ(viewer.model.tracks().tracks.size(), 1U);
}

TEST(TimelineModel, PinnedLanesStandOnTopWithTheirRank) {
  Viewer viewer;
  const LaneId lane = viewer.session.run()->span(viewer.find(RankId{1}, "gemm")).lane;
  viewer.session.toggle_pin(lane);
  const TrackList& tracks = viewer.model.tracks();
  ASSERT_TRUE(tracks.tracks.front().pinned);
  EXPECT_EQ(tracks.tracks.front().full_name.substr(0, 9), "rank 1 / ");
  EXPECT_GT(tracks.pinned_height, 0);
  EXPECT_FALSE(tracks.of_lane(lane, *viewer.session.run())->pinned) << "arrows lead to where it stands among its rank";
}

TEST(Navigator, ANoteIsOnTheMarkOfTheSelectionElseOnTheLastOne) {
  Viewer viewer;
  EXPECT_EQ(viewer.navigator.note_here(), std::nullopt);
  viewer.navigator.note("nowhere");
  EXPECT_TRUE(viewer.navigator.marks().empty());
  viewer.session.select(viewer.find(RankId{0}, "relu"));
  EXPECT_EQ(viewer.navigator.note_here(), "");
  viewer.navigator.note("first");
  EXPECT_EQ(viewer.navigator.marks(), (std::vector{TimeMark{{at(300), at(400)}, true, "first"}}));
  viewer.navigator.note("second");
  EXPECT_EQ(viewer.navigator.note_here(), "second");
  viewer.session.select(viewer.find(RankId{1}, "relu"));
  viewer.navigator.mark_selection(false);
  viewer.session.select(std::nullopt);
  viewer.navigator.note("last");
  ASSERT_EQ(viewer.navigator.marks().size(), 2U);
  EXPECT_EQ(viewer.navigator.marks().back(), (TimeMark{{at(600), at(700)}, true, "last"}));
}

TEST(Navigator, GoesFromMarkToMarkInTimeAndKeepsTheZoom) {
  Viewer viewer;
  viewer.navigator.set_marks({{{at(1500), at(1510)}, true, {}}, {{at(500), at(520)}, true, {}}});
  viewer.navigator.show({at(0), at(200)});
  viewer.navigator.next_mark(Direction::forward);
  EXPECT_EQ(viewer.session.visible(), (TimeRange{at(410), at(610)}));
  viewer.navigator.next_mark(Direction::forward);
  EXPECT_EQ(viewer.session.visible(), (TimeRange{at(1405), at(1605)}));
  viewer.navigator.next_mark(Direction::forward);
  EXPECT_EQ(viewer.session.visible(), (TimeRange{at(1405), at(1605)}));
  viewer.navigator.next_mark(Direction::back);
  EXPECT_EQ(viewer.session.visible(), (TimeRange{at(410), at(610)}));
  viewer.navigator.back();
  EXPECT_EQ(viewer.session.visible(), (TimeRange{at(1405), at(1605)}));
}

TEST(Navigator, MarksThatCannotBeCentredAreStillGoneThroughOneByOne) {
  Viewer viewer;
  viewer.navigator.set_marks({{{at(10), at(12)}, true, "a"}, {{at(20), at(22)}, true, "b"}});
  viewer.navigator.show({at(0), at(200)});
  QStringList said;
  QObject::connect(&viewer.navigator, &Navigator::said, [&](const QString& sentence) { said.push_back(sentence); });
  for (int i = 0; i < 3; ++i) viewer.navigator.next_mark(Direction::back);
  EXPECT_EQ(said, (QStringList{QStringLiteral("Mark at 20 ns: b"), QStringLiteral("Mark at 10 ns: a"),
                               QStringLiteral("There is no earlier mark.")}));
  EXPECT_EQ(viewer.session.visible(), (TimeRange{at(0), at(200)})) << "nothing is before the run";
  viewer.navigator.fit_all();
  viewer.navigator.centre(at(1900));
  EXPECT_EQ(viewer.session.visible(), viewer.session.extent());
}

}  // namespace
}  // namespace rankscope::gui
