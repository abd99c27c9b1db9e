// The file that keeps pins, marks and what was in sight.
#include <gmock/gmock.h>

#include "gui/runs.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/run_builder.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/models/window/view_file.h"
#include "support/temporary_folder.h"

namespace rankscope::gui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::shared_ptr<const Run> view_of_two_ranks() {
  return *run_from_text("0 compute 0 1000 gemm\n1 compute 0 400 gemm\n1 comm 500 1000 allreduce\n");
}

struct Looked {
  Session session;
  TimelineModel model{session};
  Navigator navigator{session, model};

  explicit Looked(std::shared_ptr<const Run> run = view_of_two_ranks()) { session.show(std::move(run)); }
};

ViewState full_state() {
  ViewState state;
  state.recording = recording_of(*view_of_two_ranks());
  state.visible = {at(100), at(900)};
  state.pinned = {{1, 17, "stream 7", PinnedLane::Which{"stream", 7, 0}}, {std::nullopt, 9, "main", std::nullopt}};
  state.marks = {{{at(200), at(300)}, true, "late \"here\" ä\n"},
                 {{at(1'700'000'000'123'456'789), at(1'700'000'000'123'456'790)}, true, {}}};
  state.ranks = {0, 1};
  state.colour = "lateness";
  state.critical_path = true;
  state.row_height = 24.5;
  state.panels = {"details", "findings"};
  return state;
}

TEST(ViewFile, StandsBesideTheRecording) {
  EXPECT_EQ(view_file_of({.paths = {"a/run.rankscope"}}), "a/run.rankscope-view");
  EXPECT_EQ(view_file_of({.paths = {"a/run.rankscope/"}}), "a/run.rankscope-view");
  EXPECT_EQ(view_file_of({.paths = {"t.json.gz"}}), "t.json.gz.rankscope-view");
  EXPECT_EQ(view_file_of({.paths = {"r0.json", "r1.json", "r2.json"}}), "r0.json+2.rankscope-view");
  EXPECT_EQ(view_file_of({}), "");
}

TEST(ViewFile, ComesBackAsItWasWritten) {
  const testing::TemporaryFolder folder;
  ASSERT_TRUE(write_view(folder / "run.rankscope-view", full_state()));
  const auto read = read_view(folder / "run.rankscope-view", *view_of_two_ranks());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, full_state());
  EXPECT_EQ(folder.file_count(), 1U);
}

TEST(ViewFile, MayBeAbsent) {
  const auto read = read_view("no/such.rankscope-view", *view_of_two_ranks());
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, std::nullopt);
}

TEST(ViewFile, RestoresPinsMarksRanksAndRange) {
  Looked before;
  before.session.toggle_pin(before.session.run()->span(SpanId{1}).lane);
  before.session.select(SpanId{1});
  before.navigator.note("waits");
  before.session.select(SpanId{0});
  before.navigator.mark_selection(false);
  before.session.set_filter({.ranks = {RankId{1}}});
  before.session.set_visible({at(300), at(700)});
  const ViewState state = view_of(before.session, before.navigator);
  EXPECT_THAT(state.marks, ElementsAre(TimeMark{{at(500), at(1000)}, true, "waits"})) << "others are for now only";

  Looked after;
  restore(state, after.session, after.navigator);
  EXPECT_EQ(after.session.pinned(), before.session.pinned());
  EXPECT_EQ(after.navigator.marks(), state.marks);
  EXPECT_EQ(after.session.filter().ranks, std::vector{RankId{1}});
  EXPECT_EQ(after.session.visible(), (TimeRange{at(300), at(700)}));
}

/// Threads of one program, and streams of two devices in one process.
std::shared_ptr<const Run> run_with_lanes_of_one_name() {
  RunBuilder builder;
  const auto process = builder.add_process({.rank = RankId{0}, .pid = 5});
  const StringId name = builder.intern("work");
  for (const LaneId lane : {builder.add_lane(process, LaneKind::thread, "worker", 11),
                            builder.add_lane(process, LaneKind::thread, "worker", 12),
                            builder.add_lane(process, LaneKind::stream, "stream 7", 7, 0),
                            builder.add_lane(process, LaneKind::stream, "stream 7", 7, 1)})
    builder.add_span(lane, SpanKind::compute, name, {at(0), at(100)});
  return *std::move(builder).build();
}

TEST(ViewFile, TellsLanesOfOneNameApart) {
  const auto run = run_with_lanes_of_one_name();
  for (const Lane& lane : run->lanes()) {
    Looked before{run};
    before.session.toggle_pin(run->id_of(lane));
    const auto state = view_from_json(to_json(view_of(before.session, before.navigator)));
    ASSERT_TRUE(state) << state.error().message;
    Looked after{run};
    restore(*state, after.session, after.navigator);
    EXPECT_THAT(after.session.pinned(), ElementsAre(run->id_of(lane)));
  }
}

TEST(ViewFile, RestoresAPinnedCounter) {
  const auto run = *run_from_text("0 compute 0 100 gemm\n0 counter 0 1 rss_bytes\n0 counter 0 1 cpu_percent\n");
  Looked before{run};
  before.session.toggle_counter_pin(1);
  const auto state = view_from_json(to_json(view_of(before.session, before.navigator)));
  ASSERT_TRUE(state) << state.error().message;
  Looked after{run};
  restore(*state, after.session, after.navigator);
  EXPECT_THAT(after.session.pinned_counters(), ElementsAre(1U));
  EXPECT_TRUE(after.session.pinned().empty());
}

TEST(ViewFile, OfAnOlderVersionPinsTheFirstLaneOfTheName) {
  Looked looked{run_with_lanes_of_one_name()};
  ViewState state = view_of(looked.session, looked.navigator);
  state.pinned = {{0, 5, "worker", std::nullopt}};
  restore(*view_from_json(to_json(state)), looked.session, looked.navigator);
  ASSERT_EQ(looked.session.pinned().size(), 1U);
  EXPECT_EQ(looked.session.run()->lane(looked.session.pinned().front()).number, 11);
}

TEST(ViewFile, LeavesOutLanesAndRanksThatTheRunDoesNotHave) {
  Looked looked;
  restore(full_state(), looked.session, looked.navigator);
  EXPECT_TRUE(looked.session.pinned().empty());
  EXPECT_THAT(looked.session.filter().ranks, ElementsAre(RankId{0}, RankId{1}));
}

TEST(ViewFile, SaysInOneSentenceWhatIsWrongWithIt) {
  const testing::TemporaryFolder folder;
  const auto why = [&](const std::string& text) {
    std::ofstream{folder / "v"} << text;
    const auto read = read_view(folder / "v", *view_of_two_ranks());
    return read ? std::string{"nothing"} : read.error().message;
  };
  const std::string good = to_json(full_state());
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  EXPECT_EQ(why(good), "nothing");
  EXPECT_THAT(why(""), HasSubstr("is damaged or not a rankscope view; the recording is shown without this file"));
  EXPECT_THAT(why(good.substr(0, good.size() / 2)), HasSubstr("is damaged"));
  EXPECT_THAT(why("{}"), HasSubstr("is not a rankscope view"));
  EXPECT_THAT(why("[1]"), HasSubstr("not a rankscope view"));
  EXPECT_THAT(why(changed("rankscope.view/1", "rankscope.view/2")),
              HasSubstr("was written by a newer rankscope (rankscope.view/2; this one reads rankscope.view/1)"));
  EXPECT_THAT(why(changed("\"ranks\": 2", "\"ranks\": 3")), HasSubstr("belongs to another recording"));
  EXPECT_THAT(why(changed("\"critical_path\": true", "\"critical_path\": 1")),
              HasSubstr("is damaged: 'critical_path' is missing or wrong"));
  EXPECT_THAT(why(changed("\"begin_ns\": 100", "\"begin_ns\": \"x\"")), HasSubstr("'begin_ns' is missing or wrong"));
  EXPECT_THAT(why(changed("\"lateness\"", "\"red\"")), HasSubstr("'colour' must be kind, name or lateness, not 'red'"));
}

/// Cut anywhere it is refused, and nothing worse.
TEST(ViewFile, IsRefusedWhereverItIsCut) {
  const std::string good = to_json(full_state());
  for (std::size_t length = 0; length + 2 < good.size(); ++length)
    EXPECT_FALSE(view_from_json(std::string_view{good}.substr(0, length))) << length;
}

TEST(ViewFile, SaysWhereItCannotBeWritten) {
  const auto written = write_view("no/such/folder/v", full_state());
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("cannot write no/such/folder/v"));
}

}  // namespace
}  // namespace rankscope::gui
