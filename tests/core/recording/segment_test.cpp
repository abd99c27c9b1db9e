#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "rankscope/core/model/run.h"
#include "rankscope/core/process_stat.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"
#include "rankscope/core/recording/segment_writer.h"

namespace rankscope::recording {
namespace {

namespace fs = std::filesystem;

/// A recording folder that is removed with its test.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "rankscope-test-XXXXXX").string();
    path_ = mkdtemp(name.data());
    fs::create_directory(path_ / segment_folder);
  }
  ~Folder() { fs::remove_all(path_); }
  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] fs::path segment(const std::string& name = "a") const {
    return path_ / segment_folder / (name + segment_suffix);
  }

 private:
  fs::path path_;
};

std::unique_ptr<SegmentWriter> create(const Folder& folder, std::uint32_t ring_kib = 1024) {
  auto writer = SegmentWriter::create(
      {.path = folder.segment(), .ring_kib = ring_kib, .rank = 2, .world_size = 4, .rank_source = "RANK"});
  EXPECT_TRUE(writer) << writer.error().message;
  return std::move(*writer);
}

TEST(Segment, AWorldThatNoJobHasIsCountedAndNotBelieved) {
  const Folder folder;
  create(folder)->thread()->mark("here");
  Manifest manifest;
  manifest.world_size = 5'000'000'000;
  ASSERT_TRUE(write_manifest(folder.path(), manifest));
  const auto run = read_recording(folder.path());
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->info().world_size, 4) << "what the segment says";
  EXPECT_EQ((*run)->quality().of(Counter::manifest_unreadable), 1U);
}

TEST(Segment, WhatIsWrittenIsRead) {
  const Folder folder;
  {
    const auto segment = create(folder);
    const auto pen = segment->thread();
    pen->push(SpanKind::step, "step");
    pen->attribute("index", 7);
    pen->attribute("note", "hello");
    pen->push(SpanKind::forward, "forward");
    pen->pop();
    pen->comm_enqueued({.uid = 1,
                        .sequence = 0,
                        .bytes = 4096,
                        .group = "dp",
                        .op = "allreduce",
                        .dtype = "f32",
                        .members = "0,1,2,3"});
    std::thread{[&segment] {
      const auto comm = segment->thread();
      comm->thread_name("comm dp");
      comm->comm_started(1);
      comm->comm_finished(1);
    }}.join();
    pen->mark("here");
    pen->counter("rss_bytes", 42);
    pen->metadata("model", "mlp");
    pen->metadata("injected_faults", "slow:rank=2");
    pen->pop();
    segment->note_exit(3);
  }
  const auto run = read_recording(folder.path());
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ((*run)->ranks().size(), 1U);
  const Process& process = (*run)->process_of(RankId{2});
  EXPECT_EQ(process.ending, Ending::exited);
  EXPECT_EQ(process.exit_status, 3);
  EXPECT_EQ((*run)->metadata(process, "model"), "mlp");
  EXPECT_EQ((*run)->metadata(process, "injected_faults"), "");
  EXPECT_EQ((*run)->info().world_size, 4);
  EXPECT_EQ((*run)->quality().of(Counter::ranks_missing), 3U);
  ASSERT_EQ((*run)->collectives().size(), 1U);
  EXPECT_EQ((*run)->collectives()[0].bytes, 4096);
  EXPECT_EQ((*run)->lane((*run)->collectives()[0].lane).kind, LaneKind::comm);
  EXPECT_EQ((*run)->spans().size(), 3U);
  EXPECT_EQ((*run)->number(SpanId{0}, "index"), 7);
  std::vector<std::string_view> texts;
  for (std::uint32_t span = 0; span < (*run)->spans().size(); ++span)
    for (const Attribute& attribute : (*run)->attributes_of(SpanId{span}))
      if (attribute.value.kind == AttributeKind::text) texts.push_back((*run)->text(attribute.value.text));
  EXPECT_EQ(texts, (std::vector<std::string_view>{"hello"}));
}

TEST(Segment, AListOfMembersThatCannotBeReadIsCountedAndNotBelieved) {
  std::string cut = "0";
  for (int rank = 1; cut.size() < 5000; ++rank) cut += "," + std::to_string(rank);
  for (const std::string& members : {std::string{"0,1,x"}, cut}) {
    const Folder folder;
    {
      const auto segment = create(folder);
      segment->thread()->comm_enqueued(
          {.uid = 1, .sequence = 0, .bytes = 8, .group = "dp", .op = "allreduce", .dtype = "f32", .members = members});
    }
    const auto run = read_recording(folder.path());
    ASSERT_TRUE(run) << run.error().message;
    ASSERT_EQ((*run)->collectives().size(), 1U);
    EXPECT_FALSE((*run)->collectives()[0].group.is_set());
    EXPECT_EQ((*run)->quality().of(Counter::no_comm_args), 1U);
  }
}

TEST(Segment, AKilledProcessLosesNothingThatItPushed) {
  const Folder folder;
  constexpr int spans = 20'000;
  const pid_t child = fork();
  if (child == 0) {
    const auto segment =
        SegmentWriter::create({.path = folder.segment(), .rank = 0, .world_size = 1, .rank_source = ""});
    const auto pen = (*segment)->thread();
    for (int i = 0; i < spans; ++i) {
      pen->push(SpanKind::op, i % 2 == 0 ? "even" : "odd");
      pen->pop();
    }
    pen->push(SpanKind::step, "open");
    kill(getpid(), SIGKILL);
  }
  waitpid(child, nullptr, 0);
  const auto run = read_recording(folder.path());
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->spans().size(), spans + 1U);
  EXPECT_EQ((*run)->quality().of(Counter::events_dropped), 0U);
  EXPECT_EQ((*run)->quality().of(Counter::spans_unclosed), 1U);
  EXPECT_EQ((*run)->process_of(RankId{0}).ending, Ending::vanished);
}

TEST(Segment, AProcessThatStillRunsIsReadWhereItsRecorderKeepsItAndHasNotVanished) {
  const Folder spool;
  const Folder recording;
  std::ofstream{recording.path() / (std::string{"host-1"} + spool_mark_suffix)} << spool.path().string() << '\n';
  Manifest manifest;
  std::string boot;
  std::ifstream{"/proc/sys/kernel/random/boot_id"} >> boot;
  manifest.spooled = Spooled{{.host = "host", .boot_id = boot, .pid = getpid(), .start_ticks = 0}, "run.rankscope"};
  ASSERT_TRUE(write_manifest(spool.path(), manifest));
  const auto segment = create(spool);
  segment->thread()->mark("here");
  EXPECT_FALSE(read_recording(recording.path())) << "a recorder with that number began at another time";
  manifest.spooled->recorder.start_ticks = process_stat(getpid())->start_ticks_of_boot;
  ASSERT_TRUE(write_manifest(spool.path(), manifest));
  const auto running = read_recording(recording.path());
  ASSERT_TRUE(running) << running.error().message;
  EXPECT_EQ((*running)->process_of(RankId{2}).ending, Ending::unknown);
  EXPECT_EQ((*running)->metadata("still_running"), "1 of 1 processes");
  EXPECT_EQ((*running)->quality().of(Counter::not_gathered), 1U);
  segment->note_exit(0);
  const auto ended = read_recording(recording.path());
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ((*ended)->process_of(RankId{2}).ending, Ending::exited);
  EXPECT_EQ((*ended)->metadata("still_running"), "");
}

TEST(Segment, AFullRingDropsAndCountsAndKeepsTheNesting) {
  const Folder folder;
  constexpr std::uint64_t spans = 400'000;
  {
    const auto segment = create(folder);
    const auto pen = segment->thread();
    pen->push(SpanKind::step, "outer");
    for (std::uint64_t i = 0; i < spans; ++i) {
      pen->push(SpanKind::op, "inner");
      pen->pop();
    }
    pen->pop();
  }
  const auto run = read_recording(folder.path());
  ASSERT_TRUE(run) << run.error().message;
  const std::uint64_t dropped = (*run)->quality().of(Counter::events_dropped);
  EXPECT_GT(dropped, 0U);
  EXPECT_EQ((*run)->spans().size() * 2 + dropped, (spans + 1) * 2);
  EXPECT_EQ((*run)->text((*run)->spans()[0].name), "outer");
  EXPECT_EQ((*run)->quality().of(Counter::spans_unclosed), 0U);
}

TEST(Segment, ManyNamesAndChunksStayRight) {
  const Folder folder;
  constexpr int names = 30'000;
  {
    const auto segment = create(folder);
    const auto pen = segment->thread();
    for (int i = 0; i < names; ++i) {
      pen->push(SpanKind::op, "name " + std::to_string(i));
      pen->attribute("number", i);
      pen->attribute("text", "value " + std::to_string(i));
      pen->pop();
      segment->refill();
    }
  }
  const auto run = read_recording(folder.path());
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ((*run)->spans().size(), static_cast<std::size_t>(names));
  EXPECT_EQ((*run)->quality().of(Counter::events_dropped), 0U);
  for (const Span& span : (*run)->spans()) {
    const auto number = (*run)->number((*run)->id_of(span), "number");
    ASSERT_TRUE(number);
    ASSERT_EQ((*run)->text(span.name), "name " + std::to_string(*number));
    ASSERT_EQ((*run)->text(std::next((*run)->attributes_of((*run)->id_of(span)).begin())->value.text),
              "value " + std::to_string(*number));
  }
}

TEST(Segment, NamesLongerThanARecordHoldsAreShortenedAndStayDifferent) {
  const Folder folder;
  const std::string longest(longest_string, 'x');
  const std::string umlauts = [] {
    std::string text = "a";
    while (text.size() < 2 * longest_string) text += "ä";
    return text;
  }();
  {
    const auto segment = create(folder);
    const auto pen = segment->thread();
    for (const std::string& name : {longest, longest + "a", longest + "b", longest + "a", umlauts}) {
      pen->push(SpanKind::op, name);
      pen->pop();
    }
  }
  const auto run = read_recording(folder.path());
  ASSERT_TRUE(run) << run.error().message;
  std::vector<std::string> names;
  for (const Span& span : (*run)->spans()) names.emplace_back((*run)->text(span.name));
  ASSERT_EQ(names.size(), 5U);
  EXPECT_EQ(names[0], longest);
  EXPECT_THAT(names[1], ::testing::MatchesRegex("x+… #[0-9a-f]+"));
  EXPECT_NE(names[1], names[2]);
  EXPECT_EQ(names[1], names[3]);
  EXPECT_THAT(names[4], ::testing::MatchesRegex("a(ä)+ ?… #[0-9a-f]+"));
  for (const std::string& name : names) EXPECT_LE(name.size(), longest_string);
  EXPECT_EQ((*run)->quality().of(Counter::names_shortened), 4U);
  EXPECT_EQ((*run)->quality().of(Counter::names_lost), 0U);
}

void write_two_chunks(const Folder& folder) {
  const auto segment = create(folder);
  const auto pen = segment->thread();
  for (int i = 0; i < 4000; ++i) {
    pen->push(SpanKind::op, "op");
    pen->pop();
  }
  segment->note_exit(0);
}

TEST(Segment, GatheringKeepsEveryEventAndSealsTheChunks) {
  const Folder folder;
  write_two_chunks(folder);
  const auto summary = gather_segment(folder.segment(), folder.path() / "segments" / "b.rseg");
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->events, 8000U);
  EXPECT_LT(summary->bytes, 200'000U);
  fs::remove(folder.segment());
  const auto run = read_recording(folder.path());
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->spans().size(), 4000U);
  EXPECT_EQ((*run)->quality().of(Counter::segment_cut), 0U);
}

TEST(Segment, WhatSourcesOfAProcessRecordAddsUpAndOtherFactsAreReplaced) {
  const Folder folder;
  {
    const auto segment = create(folder);
    const auto pen = segment->thread();
    pen->metadata("details_recorded", "shapes,memory");
    pen->metadata("model", "mlp");
    pen->metadata("details_recorded", "memory");
    pen->metadata("details_recorded", "memory,stack");
    pen->metadata("model", "gpt");
    pen->mark("an event");
    segment->note_exit(0);
  }
  const auto summary = gather_segment(folder.segment(), folder.path() / "segments" / "b.rseg");
  ASSERT_TRUE(summary) << summary.error().message;
  const std::vector<std::pair<std::string, std::string>> expected{{"details_recorded", "shapes,memory,stack"},
                                                                  {"model", "gpt"}};
  EXPECT_EQ(summary->metadata, expected);
  fs::remove(folder.segment());
  const auto run = read_recording(folder.path());
  ASSERT_TRUE(run) << run.error().message;
  const Process& process = (*run)->process_of(RankId{2});
  EXPECT_EQ((*run)->metadata(process, "details_recorded"), "shapes,memory,stack");
  EXPECT_EQ((*run)->metadata(process, "model"), "gpt");
}

TEST(Segment, GatheringCountsCollectivesThatNcclRanAndThoseThatItReported) {
  const Folder folder;
  {
    const auto segment = create(folder);
    const auto pen = segment->thread();
    const ActivityFields fields{.begin = 1, .end = 2, .device = 0, .context = 0, .stream = 7, .correlation = 0};
    for (const char* const kernel : {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ncclDevKernel_SendRecv", "put_signal"})
      pen->activity(SpanKind::comm, kernel, fields);
    pen->activity(SpanKind::compute, "gemm", fields);
    pen->comm_enqueued({.uid = 1, .group = "communicator 0x1", .op = "allreduce", .dtype = "f32", .members = ""});
    pen->comm_enqueued({.uid = 2, .group = "world", .op = "allreduce", .dtype = "f32", .members = "0,1"});
    segment->note_exit(0);
  }
  const auto summary = gather_segment(folder.segment(), folder.path() / "segments" / "b.rseg");
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->activities, 4U);
  EXPECT_EQ(summary->nccl_kernels, 1U) << "a send is not a collective, and other kernels are not NCCL's";
  EXPECT_EQ(summary->library_operations, 1U) << "the program announced the other one";
}

TEST(Segment, AFileCutAnywhereGivesWhatItStillHolds) {
  const Folder folder;
  write_two_chunks(folder);
  const fs::path packed = folder.path() / "packed.rseg";
  ASSERT_TRUE(gather_segment(folder.segment(), packed));
  fs::remove(folder.segment());
  const auto size = fs::file_size(packed);
  for (int percent = 0; percent < 100; ++percent) {
    fs::copy_file(packed, folder.segment(), fs::copy_options::overwrite_existing);
    fs::resize_file(folder.segment(), size * static_cast<std::uintmax_t>(percent) / 100);
    const fs::path hidden = folder.path() / "packed.keep";
    fs::rename(packed, hidden);
    const auto run = read_recording(folder.path());
    fs::rename(hidden, packed);
    if (!run) {
      EXPECT_FALSE(run.error().message.empty());
      continue;
    }
    EXPECT_GT((*run)->quality().of(Counter::segment_cut), 0U) << percent;
    EXPECT_LT((*run)->spans().size(), 4000U);
  }
}

TEST(Segment, AFlippedBitIsNoticed) {
  const Folder folder;
  write_two_chunks(folder);
  const fs::path packed = folder.path() / "segments" / "b.rseg";
  ASSERT_TRUE(gather_segment(folder.segment(), packed));
  fs::remove(folder.segment());
  {
    std::fstream file{packed, std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(segment_header_bytes + chunk_header_bytes + 5000);
    file.put('\x5A');
  }
  const auto run = read_recording(folder.path());
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->quality().of(Counter::chunks_corrupt), 1U);
  EXPECT_LT((*run)->spans().size(), 4000U);
  ASSERT_EQ((*run)->info().places.size(), 1U);
  EXPECT_EQ((*run)->info().places[0].counter, Counter::chunks_corrupt);
  EXPECT_EQ((*run)->info().places[0].where, "b.rseg (rank 2)") << "what to copy again";
  EXPECT_EQ((*run)->info().places[0].rank, RankId{2});
  ASSERT_TRUE((*run)->info().places[0].time) << "before the next chunk of the thread";
  const auto spans = (*run)->spans();
  EXPECT_EQ((*run)->info().places[0].time->end,
            std::ranges::min(spans, {}, [](const Span& span) { return span.time.begin; }).time.begin);
}

TEST(Segment, ADamagedChunkWithoutALaterOneOfItsThreadWasLostAtAnUnknownTime) {
  const Folder folder;
  {
    const auto writer = create(folder);
    writer->thread()->mark("here");
    writer->thread()->mark("there");
  }
  const fs::path packed = folder.path() / "segments" / "b.rseg";
  ASSERT_TRUE(gather_segment(folder.segment(), packed));
  fs::remove(folder.segment());
  {
    std::fstream file{packed, std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(segment_header_bytes + chunk_header_bytes + 16);
    file.put('\x5A');
  }
  const auto run = read_recording(folder.path());
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ((*run)->info().places.size(), 1U);
  EXPECT_EQ((*run)->info().places[0].rank, RankId{2});
  EXPECT_FALSE((*run)->info().places[0].time);
}

TEST(Segment, AMissingChunkIsCounted) {
  const Folder folder;
  write_two_chunks(folder);
  {
    std::fstream file{folder.segment(), std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(segment_header_bytes + offsetof(ChunkHeader, thread));
    file.write("\xFF\xFF\xFF\xFF", sizeof free_thread);
  }
  const auto run = read_recording(folder.path());
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->quality().of(Counter::chunks_missing), 1U);
  EXPECT_EQ((*run)->quality().of(Counter::chunks_corrupt), 0U);
  ASSERT_EQ((*run)->info().places.size(), 1U);
  EXPECT_EQ((*run)->info().places[0].counter, Counter::chunks_missing);
  EXPECT_EQ((*run)->info().places[0].rank, RankId{2});
  EXPECT_TRUE((*run)->info().places[0].time);
}

std::vector<std::string> attributes_as_text(const Run& run, const AttributeRange& attributes) {
  std::vector<std::string> texts;
  for (const Attribute& attribute : attributes)
    texts.push_back(std::string{run.text(attribute.key)} + "=" +
                    (attribute.value.kind == AttributeKind::number ? std::to_string(attribute.value.number)
                                                                   : std::string{run.text(attribute.value.text)}));
  return texts;
}

TEST(Segment, MarksAndRangesAreDescribedWhoeverDoesSo) {
  const Folder folder;
  {
    const auto segment = create(folder);
    std::unique_ptr<ThreadWriter> ends;  // read before the thread that starts
    std::thread{[&] { ends = segment->thread(); }}.join();
    const auto starts = segment->thread();
    EXPECT_TRUE(starts->range_start(SpanKind::user, "range", 9));
    starts->attribute("first", 1, Owner::range(9));
    ends->attribute("last", "two", Owner::range(9));
    ends->range_end(9);
    starts->push(SpanKind::user, "span");
    starts->mark("mark");
    starts->attribute("of", "mark", Owner::latest_mark());
    starts->attribute("of", "span");
    starts->attribute_json("dims", "[[2,3]]");
    starts->pop();
  }
  const auto run = read_recording(folder.path());
  ASSERT_TRUE(run) << run.error().message;
  for (const Span& span : (*run)->spans()) {
    const auto texts = attributes_as_text(**run, (*run)->attributes_of((*run)->id_of(span)));
    if ((*run)->text(span.name) == "range")
      EXPECT_EQ(texts, (std::vector<std::string>{"last=two", "first=1"}));
    else
      EXPECT_EQ(texts, (std::vector<std::string>{"of=span", "dims=[[2,3]]"}));
  }
  ASSERT_EQ((*run)->marks().size(), 1U);
  EXPECT_EQ(attributes_as_text(**run, (*run)->attributes_of((*run)->marks()[0])),
            (std::vector<std::string>{"of=mark"}));
  EXPECT_EQ((*run)->quality().of(Counter::pop_without_push), 0U);
}

TEST(Segment, ARangeWhoseHandleComesAgainIsKeptAndMarkedAsCut) {
  const Folder folder;
  {
    const auto segment = create(folder);
    const auto pen = segment->thread();
    EXPECT_TRUE(pen->range_start(SpanKind::user, "first", 9));
    EXPECT_TRUE(pen->range_start(SpanKind::user, "second", 9));
    pen->range_end(9);
    pen->range_end(7);
    pen->range_end(7);
  }
  const auto run = read_recording(folder.path());
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ((*run)->spans().size(), 2U);
  EXPECT_EQ((*run)->text((*run)->spans()[0].name), "first");
  EXPECT_EQ((*run)->spans()[0].flags, span_flag::cut_end);
  EXPECT_EQ((*run)->spans()[0].time.end, (*run)->spans()[1].time.begin);
  EXPECT_EQ((*run)->spans()[1].flags, 0);
  EXPECT_EQ((*run)->quality().of(Counter::spans_unclosed), 1U);
  EXPECT_EQ((*run)->quality().of(Counter::pop_without_push), 2U);
}

/// Mappings of a file in this process.
int mappings_of(const fs::path& path) {
  std::ifstream maps{"/proc/self/maps"};
  int count = 0;
  for (std::string line; std::getline(maps, line);) count += line.ends_with(path.string()) ? 1 : 0;
  return count;
}

TEST(Segment, WhatIsSealedIsNoLongerMapped) {
  const Folder folder;
  const auto segment = create(folder);
  const auto pen = segment->thread();
  const int at_first = mappings_of(folder.segment());
  for (int i = 0; i < 1'000'000; ++i) {
    pen->push(SpanKind::op, "op");
    pen->pop();
    if (i % 1000 == 0) segment->refill();
  }
  EXPECT_GT(fs::file_size(folder.segment()), 30'000'000U);
  EXPECT_LE(mappings_of(folder.segment()), at_first + 2);
}

TEST(Segment, ANewerMajorVersionIsRefusedInWords) {
  const Folder folder;
  write_two_chunks(folder);
  {
    std::fstream file{folder.segment(), std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(offsetof(SegmentStatic, major));
    file.put(static_cast<char>(format_major + 1));
  }
  const auto run = read_recording(folder.path());
  ASSERT_FALSE(run);
  EXPECT_NE(run.error().message.find("newer rankscope"), std::string::npos) << run.error().message;
}

}  // namespace
}  // namespace rankscope::recording
