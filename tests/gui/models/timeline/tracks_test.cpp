// What stands below what on the timeline, and how it is named.
#include "rankscope/gui/models/timeline/tracks.h"

#include <gtest/gtest.h>

#include "gui/runs.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/models/timeline/lane_names.h"
#include "rankscope/gui/models/timeline/timeline_model.h"

namespace rankscope::gui {
namespace {

/// Names of the tracks from top to bottom; folded ones end in "+".
std::vector<std::string> shown(const std::string& text, const TrackOptions& options = {}) {
  const auto run = run_from_text(text);
  EXPECT_TRUE(run) << run.error().message;
  std::vector<std::string> names;
  const auto lod = lod::RunLod::build(*run, {});
  for (const Track& track : make_tracks(*lod, options).tracks) names.push_back(track.name + (track.folded ? "+" : ""));
  return names;
}

using Names = std::vector<std::string>;

constexpr const char* of_a_gpu = "@group dp 0,1\n0 op 0 10 mm\n0 compute 0 10 gemm\n0 comm 0 10 allreduce group=dp\n";

TEST(Tracks, StreamsComeBeforeThreadsUnderARankWithAnAccelerator) {
  EXPECT_EQ(shown(of_a_gpu), (Names{"rank 0", "steps", "stream 0", "comm", "main"}));
  EXPECT_EQ(shown("@group dp 0,1\n0 op 0 10 mm\n0 comm 0 10 allreduce group=dp\n"),
            (Names{"rank 0", "steps", "main", "comm"}));
}

TEST(Tracks, ADeepThreadBesideAnAcceleratorHasAFewRowsAtFirst) {
  std::string text = "0 compute 0 100 gemm\n";
  for (int i = 0; i < 40; ++i) text += format("0 python {} {} f{}\n", i, 1000 - i, i);
  const auto run = *run_from_text(text);
  const auto lod = lod::RunLod::build(run, {});
  const auto thread = [&](const TrackOptions& options) {
    const TrackList list = make_tracks(*lod, options);
    return list.tracks.back();
  };
  const Track at_first = thread({});
  EXPECT_EQ(at_first.rows, 8U);
  EXPECT_EQ(at_first.deeper_rows, 32U);
  EXPECT_TRUE(at_first.folded);
  const Track all = thread({.lane_rows = {{at_first.lane, LaneRows::all}}});
  EXPECT_EQ(all.rows, 40U);
  EXPECT_FALSE(all.folded);
  EXPECT_EQ(thread({.lane_rows = {{at_first.lane, LaneRows::one}}}).rows, 1U);
}

TEST(Tracks, CountersOfTheHostAreFoldedAtFirstAndThoseOfAGpuAreNot) {
  const std::string text =
      "0 compute 0 10 gemm\n0 counter 0 1 rss_bytes\n0 counter 0 1 cpu_percent\n"
      "0 counter 0 1 \"GPU 0 power_watts\"\n";
  EXPECT_EQ(shown(text), (Names{"rank 0", "steps", "stream 0", "GPU 0 power", "2 counters of the host+"}));
  EXPECT_EQ(
      shown(text, {.unfolded_counters = {0}}),
      (Names{"rank 0", "steps", "stream 0", "GPU 0 power", "2 counters of the host", "Host CPU", "Host memory (RSS)"}));
  EXPECT_EQ(shown("0 compute 0 10 gemm\n0 counter 0 1 rss_bytes\n"),
            (Names{"rank 0", "steps", "stream 0", "Host memory (RSS)"}))
      << "one needs no head";
}

TEST(Tracks, ACounterCanBePinned) {
  const auto run = *run_from_text("0 compute 0 10 gemm\n0 counter 0 1 rss_bytes\n");
  const auto lod = lod::RunLod::build(run, {});
  const TrackList list = make_tracks(*lod, {.pinned_counters = {0}});
  ASSERT_TRUE(list.tracks.front().pinned);
  EXPECT_EQ(list.tracks.front().full_name, "rank 0 / Host memory (RSS)");
  EXPECT_GT(list.pinned_height, 0);
  EXPECT_EQ(list.tracks.back().name, "Host memory (RSS)") << "and at its own place";
}

TEST(Tracks, LanesAreHiddenMovedAndChosenByName) {
  EXPECT_EQ(shown(of_a_gpu, {.hidden_lanes = {LaneId{0}, LaneId{1}}}).size(), 3U);
  EXPECT_EQ(shown(of_a_gpu, {.lanes = "STREAM"}), (Names{"rank 0", "steps", "stream 0"}));
  const auto run = *run_from_text(of_a_gpu);
  std::vector<LaneId> order;
  for (const char* const name : {"comm", "main"})
    for (const Lane& lane : run->lanes())
      if (run->text(lane.name) == name) order.push_back(run->id_of(lane));
  EXPECT_EQ(shown(of_a_gpu, {.order = {{0, order}}}), (Names{"rank 0", "steps", "comm", "main", "stream 0"}));
}

/// The model of a run, and the lanes of its first rank.
struct ShownLanes {
  Session session;
  TimelineModel model{session};

  explicit ShownLanes(const char* text) {
    EXPECT_TRUE(testing::shows(session, *run_from_text(text)));
    EXPECT_TRUE(testing::comes_true([this] { return model.facts() != nullptr && model.facts()->report_fits; }));
  }
  [[nodiscard]] Names names() const {
    Names all;
    for (const Track& track : model.tracks().tracks)
      if (track.kind == TrackKind::lane && track.rank == RankId{0}) all.push_back(track.name);
    return all;
  }
  [[nodiscard]] Track track(std::string_view name) const {
    for (const Track& one : model.tracks().tracks)
      if (one.kind == TrackKind::lane && one.name == name) return one;
    ADD_FAILURE() << "no " << name;
    return {};
  }
};

TEST(TimelineModel, ALaneThatIsHiddenKeepsItsPlaceWhenOthersAreMoved) {
  ShownLanes shown{of_a_gpu};
  shown.model.hide(shown.track("stream 0"));
  shown.model.move_lane(shown.track("main"), TimelineModel::Side::above);
  EXPECT_EQ(shown.names(), (Names{"main", "comm"}));
  shown.model.show_hidden();
  EXPECT_EQ(shown.names(), (Names{"stream 0", "main", "comm"}));
}

TEST(TimelineModel, ALaneThatIsHiddenIsShownWhenItsEventIsGoneTo) {
  ShownLanes shown{of_a_gpu};
  const LaneId lane = shown.track("stream 0").lane;
  shown.model.hide(shown.track("stream 0"));
  shown.model.hide(shown.track("comm"));
  shown.model.show_row(lane, 0);
  EXPECT_EQ(shown.names(), (Names{"stream 0", "main"}));
}

TEST(Tracks, ThoseBetweenTwoPlacesAreFoundAmongMany) {
  const auto run = *run_from_text(of_a_gpu);
  const auto lod = lod::RunLod::build(run, {});
  const TrackList list = make_tracks(*lod, {.pinned = {LaneId{0}, LaneId{1}}});
  using Part = TrackList::Part;
  for (const Part part : {Part::pinned, Part::scrolled})
    for (const double top : {-5.0, 0.0, 10.0, 16.0, 18.0, 19.0, 40.0, 1000.0})
      for (const double height : {0.5, 3.0, 30.0, 1000.0}) {
        std::vector<const Track*> expected;
        for (const Track& track : list.tracks)
          if (track.pinned == (part == Part::pinned) && track.y + track.height > top && track.y < top + height)
            expected.push_back(&track);
        std::vector<const Track*> found;
        for (const Track& track : list.between(part, top, top + height)) found.push_back(&track);
        EXPECT_EQ(found, expected) << top << " to " << top + height;
      }
  EXPECT_EQ(list.at(Part::scrolled, 0), &list.tracks[2]) << "behind the pinned ones";
  EXPECT_EQ(list.at(Part::scrolled, 21), nullptr) << "between two tracks";
}

TEST(Tracks, SomeRanksStandAboveAllOthers) {
  EXPECT_EQ(shown("0 op 0 10 mm\n1 op 0 10 mm\n2 op 0 10 mm\n",
                  {.folded_processes = {0, 1, 2}, .first_ranks = {RankId{2}, RankId{1}}}),
            (Names{"rank 2+", "rank 1+", "rank 0+"}));
}

TEST(Tracks, OfManyRanksThoseWithFindingsStandFirst) {
  Session session;
  const TimelineModel model{session};
  ASSERT_TRUE(testing::shows(
      session,
      testing::recorded(
          {.ranks = 20, .steps = 8, .operators = 4, .faults = {synthetic::fault_from("slow:rank=17,factor=1.6")}})));
  ASSERT_TRUE(testing::comes_true([&] { return model.facts() != nullptr && model.facts()->report_fits; }));
  ASSERT_FALSE(model.tracks().tracks.empty());
  EXPECT_EQ(model.tracks().tracks.front().rank, RankId{17});
}

TEST(Tracks, OfVeryManyRanksThoseWithoutFindingsAreOneRow) {
  Session session;
  TimelineModel model{session};
  ASSERT_TRUE(testing::shows(
      session,
      testing::recorded(
          {.ranks = 70, .steps = 8, .operators = 4, .faults = {synthetic::fault_from("slow:rank=17,factor=1.6")}})));
  ASSERT_TRUE(testing::comes_true([&] { return model.facts() != nullptr && model.facts()->report_fits; }));
  const auto& tracks = model.tracks().tracks;
  ASSERT_EQ(tracks.size(), 2U);
  EXPECT_EQ(tracks.front().rank, RankId{17});
  EXPECT_EQ(tracks.back().name, "rank 0 and 68 others");
  model.unfold(RankId{5});
  EXPECT_NE(model.tracks().of_rank(RankId{5}), nullptr);
  EXPECT_GT(tracks.size(), 70U);
  model.fold_all(true);
  EXPECT_EQ(tracks.size(), 2U);
  model.toggle_fold(Track{tracks.back()});
  EXPECT_EQ(tracks.size(), 70U) << "each in a row of its own";
}

TEST(Tracks, AFoldedRankShowsItsCommunicationBelowItsKernels) {
  const auto run = *run_from_text(of_a_gpu);
  const auto lod = lod::RunLod::build(run, {});
  const TrackList list = make_tracks(*lod, {.folded_processes = {0}});
  const Track& rank = list.tracks.front();
  EXPECT_EQ(run->text(run->lane(rank.lane).name), "stream 0");
  EXPECT_EQ(run->text(run->lane(rank.comm_lane).name), "comm");
  EXPECT_EQ(list.drawing(rank.comm_lane, 0), &rank);
  EXPECT_EQ(list.drawing(rank.lane, 0), &rank);
}

TEST(Tracks, ARankSaysWhichAcceleratorsItHas) {
  const auto run = *run_from_text(
      "@rank 0\n@device 0 0 name=\"NVIDIA H100\"\n@device 0 1 name=\"NVIDIA H100\"\n@rank 1\n"
      "0 compute 0 10 gemm\n1 compute 0 10 gemm\n");
  EXPECT_EQ(accelerators_of(*run), (Names{"2 × NVIDIA H100", ""}));
  const auto lod = lod::RunLod::build(run, {});
  EXPECT_EQ(make_tracks(*lod, {}).tracks.front().note, "2 × NVIDIA H100");
}

TEST(LaneNames, AThreadHasItsNumberBehindItsName) {
  const auto title = [](const char* name) {
    const auto run =
        run_from_text(format("@rank 0\n@lane 0 \"{}\" kind=thread number=17\n0 op 0 10 mm lane=\"{}\"\n", name, name));
    EXPECT_TRUE(run) << run.error().message;
    return run ? lane_title(**run, (*run)->lanes().front()) : std::string{};
  };
  EXPECT_EQ(title("thread 17 (pt_autograd_0)"), "pt_autograd_0 · 17");
  EXPECT_EQ(title("pt_autograd_0 17"), "pt_autograd_0 · 17");
  EXPECT_EQ(title("thread 17"), "thread 17");
  EXPECT_EQ(title("main"), "main");
}

TEST(LaneNames, AStreamOfCommunicationSaysSo) {
  const auto title = [](const char* kernel) {
    const auto run =
        *run_from_text(format("@rank 0\n@lane 0 s4 kind=stream number=4 device=0\n0 comm 0 10 {} group=- lane=s4\n0 "
                              "comm 20 30 {} group=- lane=s4\n",
                              kernel, kernel));
    return lane_title(*run, run->lanes().front());
  };
  EXPECT_EQ(title("ncclDevKernel_AllReduce"), "s4 (NCCL)");
  EXPECT_EQ(title("send_kernel"), "s4 (communication)");
  const auto run = *run_from_text("@rank 0\n@lane 0 s4 kind=stream number=4 device=0\n0 compute 0 10 gemm lane=s4\n");
  EXPECT_EQ(lane_title(*run, run->lanes().front()), "s4");
}

TEST(LaneNames, WhatTheSameLanesOfOtherRanksAreCalledHasNoNumberOfAThread) {
  EXPECT_EQ(shared_title("pt_autograd_0 · 17"), "pt_autograd_0");
  EXPECT_EQ(shared_title("stream 4 (NCCL)"), "stream 4");
  EXPECT_EQ(shared_title("main"), "main");
}

TEST(LaneNames, CountersHaveWordsAndNoUnits) {
  EXPECT_EQ(counter_title("rss_bytes"), "Host memory (RSS)");
  EXPECT_EQ(counter_title("GPU 1 dram_read_percent"), "GPU 1 DRAM read");
  EXPECT_EQ(counter_title("GPU 0 temperature_celsius"), "GPU 0 temperature");
  EXPECT_EQ(counter_title("queue_length"), "Queue length");
}

}  // namespace
}  // namespace rankscope::gui
