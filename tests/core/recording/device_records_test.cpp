// What accelerators and communication libraries tell afterwards: written, read, and joined.
#include <gmock/gmock.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>

#include "rankscope/core/model/run.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"
#include "rankscope/core/recording/segment_writer.h"
#include "support/temporary_folder.h"

namespace rankscope::recording {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t epoch = 1'700'000'000'000'000'000;

/// One process that writes, and what is read of it.
class Recorded {
 public:
  explicit Recorded(std::int32_t rank = 0, std::int32_t world_size = 1) {
    std::filesystem::create_directory(folder_ / segment_folder);
    add(rank, world_size);
  }
  ThreadWriter& add(std::int32_t rank, std::int32_t world_size) {
    const auto path = folder_ / segment_folder / (std::to_string(rank) + segment_suffix);
    auto made = SegmentWriter::create(
        {.path = path, .ring_kib = 1024, .rank = rank, .world_size = world_size, .rank_source = "RANK"});
    if (!made) throw std::runtime_error(made.error().message);
    segments_.push_back(std::move(*made));
    pens_.push_back(segments_.back()->thread());
    const ClockPair now = segments_.back()->clock().pair();
    pens_.back()->anchor(ForeignClock::activities, now.ticks, epoch);
    return *pens_.back();
  }
  ThreadWriter& pen(std::size_t which = 0) { return *pens_[which]; }
  std::shared_ptr<const Run> read() {
    auto run = read_recording(folder_.path());
    if (!run) throw std::runtime_error(run.error().message);
    return *run;
  }

 private:
  rankscope::testing::TemporaryFolder folder_;
  std::vector<std::unique_ptr<SegmentWriter>> segments_;
  std::vector<std::unique_ptr<ThreadWriter>> pens_;
};

std::vector<std::string> spans_of(const Run& run) {
  std::vector<std::string> texts;
  for (const Span& span : run.spans())
    texts.push_back(std::string{run.text(run.lane(span.lane).name)} + ": " + std::string{name_of(span.kind)} + " " +
                    std::string{run.text(span.name)} + " " + std::to_string(span.time.length().count()));
  return texts;
}

std::vector<std::string> texts_of(const Run& run, const AttributeRange& attributes) {
  std::vector<std::string> texts;
  for (const Attribute& attribute : attributes)
    texts.push_back(std::string{run.text(attribute.key)} + "=" +
                    (attribute.value.kind == AttributeKind::number ? std::to_string(attribute.value.number)
                                                                   : std::string{run.text(attribute.value.text)}));
  return texts;
}

ActivityFields on_stream(std::int64_t begin, std::int64_t end, std::uint32_t stream, std::uint32_t correlation) {
  return {epoch + begin, epoch + end, 0, 1, stream, correlation};
}

CallFields by(std::int64_t thread, std::int64_t begin, std::int64_t end, std::uint32_t correlation) {
  return {epoch + begin, epoch + end, thread, correlation, 0};
}

TEST(DeviceRecords, AKernelLiesOnItsStreamAndIsLinkedToItsLaunch) {
  Recorded recorded;
  const std::array items{Item{.key = "grid", .text = "[4,1,1]", .is_json = true},
                         Item{.key = "registers per thread", .number = 40},
                         Item{.key = "bytes", .number = 5'000'000'000}};
  recorded.pen().activity(SpanKind::compute, "gemm", on_stream(100, 350, 7, 42), items);
  recorded.pen().call(SpanKind::runtime, "cudaLaunchKernel", by(4711, 50, 80, 42));
  const auto run = recorded.read();
  EXPECT_THAT(spans_of(*run), ElementsAre("thread 4711: runtime cudaLaunchKernel 30", "stream 7: compute gemm 250"));
  EXPECT_THAT(
      texts_of(*run, run->attributes_of(SpanId{1})),
      ElementsAre("correlation=42", "context=1", "grid=[4,1,1]", "registers per thread=40", "bytes=5000000000"));
  ASSERT_EQ(run->links_to(LinkKind::launch, SpanId{1}).size(), 1U);
  EXPECT_EQ(run->links_to(LinkKind::launch, SpanId{1}).front().from, SpanId{0});
  EXPECT_EQ(run->span(SpanId{1}).time.begin - run->span(SpanId{0}).time.begin, nanoseconds{50});
  EXPECT_EQ(run->quality().of(Counter::kernels_without_launch), 0U);
  EXPECT_EQ(run->quality().of(Counter::records_unknown), 0U);
}

TEST(DeviceRecords, TimesThatCannotBeAreCountedAndLeftOut) {
  Recorded recorded;
  const std::int64_t day = 86'400'000'000'000;
  recorded.pen().activity(SpanKind::compute, "no begin", {0, epoch + 5, 0, 1, 7, 1});
  recorded.pen().activity(SpanKind::compute, "no end", {epoch + 5, 0, 0, 1, 7, 2});
  recorded.pen().activity(SpanKind::compute, "long ago", on_stream(-2 * day, 5, 7, 3));
  recorded.pen().activity(SpanKind::compute, "far ahead", on_stream(5, 2 * day, 7, 4));
  recorded.pen().activity(SpanKind::compute, "sound", on_stream(5, 6, 7, 5));
  const auto run = recorded.read();
  EXPECT_THAT(spans_of(*run), ElementsAre("stream 7: compute sound 1"));
  EXPECT_EQ(run->quality().of(Counter::times_unusable), 4U);
  EXPECT_EQ(run->quality().of(Counter::kernels_without_launch), 1U);
}

TEST(DeviceRecords, StreamsOfSeveralDevicesAreToldApart) {
  Recorded recorded;
  recorded.pen().activity(SpanKind::memory, "Memset (Device)", {epoch + 1, epoch + 2, 0, 1, 7, 0});
  recorded.pen().activity(SpanKind::memory, "Memset (Device)", {epoch + 1, epoch + 2, 1, 2, 7, 0});
  recorded.pen().activity(SpanKind::sync, "Context Sync", {epoch + 1, epoch + 2, 1, 2, ActivityFields::no_stream, 0});
  recorded.pen().device("NVIDIA X", 1, "GPU-12", std::array{Item{.key = "sms", .number = 132}});
  const auto run = recorded.read();
  EXPECT_THAT(spans_of(*run),
              ElementsAre("GPU 0 stream 7: memory Memset (Device) 1", "GPU 1 stream 7: memory Memset (Device) 1",
                          "GPU 1 whole device: sync Context Sync 1"));
  ASSERT_EQ(run->devices().size(), 1U);
  EXPECT_EQ(run->text(run->devices()[0].name), "NVIDIA X");
  EXPECT_EQ(run->text(run->devices()[0].uuid), "GPU-12");
  EXPECT_EQ(run->devices()[0].ordinal, 1);
  ASSERT_EQ(run->devices()[0].metadata.size(), 1U);
  EXPECT_EQ(run->text(run->devices()[0].metadata[0].second), "132");
}

TEST(DeviceRecords, AWaitKnowsTheStreamWhoseEventItWaitsFor) {
  Recorded recorded;
  const auto event = [](std::int64_t id, std::int64_t sync) {
    return std::array{Item{.key = "event_id", .number = id}, Item{.key = "event_sync_id", .number = sync}};
  };
  recorded.pen().moment(MomentPlace::stream, "cudaEvent", {0, 0, 0, 1, 7, 10}, event(3, 100));
  recorded.pen().moment(MomentPlace::stream, "cudaEvent", {0, 0, 0, 1, 8, 11}, event(3, 101));
  const std::array numbered{Item{.key = "wait_on_cuda_event_id", .number = 3},
                            Item{.key = "event_sync_id", .number = 100}};
  recorded.pen().activity(SpanKind::sync, "Stream Wait Event", on_stream(5, 6, 9, 20), numbered);
  const std::array unnumbered{Item{.key = "wait_on_cuda_event_id", .number = 3}};
  recorded.pen().activity(SpanKind::sync, "Stream Wait Event", on_stream(7, 8, 9, 21), unnumbered);
  const auto run = recorded.read();
  ASSERT_EQ(run->spans().size(), 2U);
  EXPECT_EQ(run->number(SpanId{0}, "wait_on_stream"), 7);
  EXPECT_EQ(run->number(SpanId{0}, "wait_on_cuda_event_record_corr_id"), 10);
  EXPECT_EQ(run->number(SpanId{1}, "wait_on_stream"), 8) << "the last record of that event before";
  EXPECT_TRUE(run->marks().empty()) << "when the events happened is not known";
}

/// Two ranks with two operations of one group; how long the slower one took to report both.
std::chrono::nanoseconds record_group(Recorded& recorded) {
  std::chrono::nanoseconds longest{0};
  recorded.add(1, 2);
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    ThreadWriter& pen = recorded.pen(static_cast<std::size_t>(rank));
    pen.communicator("communicator 0xab", 2, 1 - rank);
    pen.call(SpanKind::runtime, "cudaLaunchKernelExC", by(getpid(), -2000, -1000, 5));
    pen.activity(SpanKind::comm, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", on_stream(10, 500, 9, 5));
    const auto begin = std::chrono::steady_clock::now();
    for (const std::uint64_t uid : {1U, 2U}) {
      pen.comm_enqueued({.uid = uid,
                         .sequence = static_cast<std::int64_t>(uid) - 1,
                         .bytes = 64,
                         .group = "communicator 0xab",
                         .op = "allreduce",
                         .dtype = "f32",
                         .members = "",
                         .peer = 0});
      pen.attribute("protocol", "LL", Owner::comm(uid));
      pen.comm_returned(uid);
    }
    longest = std::max<std::chrono::nanoseconds>(longest, std::chrono::steady_clock::now() - begin);
  }
  return longest;
}

TEST(DeviceRecords, ACollectiveOfACommunicatorRunsAsTheKernelLaunchedBefore) {
  // Once more where this thread was interrupted between two reports: then they are not of one group.
  std::optional<Recorded> recorded;
  auto took = std::chrono::nanoseconds::max();
  for (int attempt = 0; attempt < 200 && took > std::chrono::microseconds{20}; ++attempt) {
    recorded.emplace(0, 2);
    took = record_group(*recorded);
  }
  ASSERT_LE(took, std::chrono::microseconds{20}) << "this machine is too slow for this test";
  const auto run = recorded->read();
  ASSERT_EQ(run->groups().size(), 1U);
  EXPECT_THAT(run->groups()[0].members, ElementsAre(RankId{1}, RankId{0})) << "in the communicator's order";
  ASSERT_EQ(run->collectives().size(), 4U);
  for (const Collective& collective : run->collectives()) {
    EXPECT_EQ(collective.state, CommState::finished);
    EXPECT_EQ(collective.finished - collective.started, nanoseconds{490});
    EXPECT_EQ(collective.peer, 1) << "rank 0 of the communicator is rank 1 of the job";
  }
  const Collective& first = run->collectives()[0];
  ASSERT_TRUE(first.span.value != SpanId::none().value);
  EXPECT_EQ(run->text(run->lane(run->span(first.span).lane).name), "stream 9");
  EXPECT_THAT(texts_of(*run, run->attributes_of(first.span)), ::testing::Contains("protocol=LL"));
  EXPECT_EQ(run->quality().of(Counter::comm_times_unknown), 0U);
}

void enqueue(ThreadWriter& pen, std::uint64_t uid, const char* group) {
  pen.comm_enqueued({.uid = uid,
                     .sequence = static_cast<std::int64_t>(uid) - 9,
                     .bytes = 64,
                     .group = group,
                     .op = "allreduce",
                     .dtype = "f32",
                     .members = ""});
}

/// Until the clock of the segment has gone on by as long.
void let_pass(std::chrono::nanoseconds time) {
  for (const auto end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;) continue;
}

/// The kernels of the second and third operation of a job that hangs were never recorded.
std::shared_ptr<const Run> run_of_hung_job(Recorded& recorded) {
  recorded.add(1, 2).communicator("c", 2, 1);
  ThreadWriter& pen = recorded.pen();
  pen.communicator("c", 2, 0);
  pen.call(SpanKind::runtime, "cudaLaunchKernelExC", by(getpid(), -2000, -1000, 5));
  pen.activity(SpanKind::comm, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", on_stream(10, 500, 9, 5));
  for (const std::uint64_t uid : {9U, 10U, 11U}) {
    enqueue(pen, uid, "c");
    let_pass(std::chrono::milliseconds{1});
  }
  return recorded.read();
}

TEST(DeviceRecords, AnOperationWhoseKernelNeverEndedHasNotThatOfAnEarlierOne) {
  Recorded recorded{0, 2};
  const auto run = run_of_hung_job(recorded);
  ASSERT_EQ(run->collectives().size(), 3U);
  EXPECT_EQ(run->collectives()[0].state, CommState::finished);
  for (const std::size_t open : {1U, 2U}) {
    EXPECT_EQ(run->collectives()[open].state, CommState::enqueued);
    EXPECT_EQ(run->collectives()[open].sequence, static_cast<std::int64_t>(open));
  }
  EXPECT_EQ(run->quality().of(Counter::comm_times_unknown), 2U);
  EXPECT_EQ(run->quality().of(Counter::collectives_open), 2U);
}

/// A thread of CUDA reports what the main thread called 1 ms before.
std::shared_ptr<const Run> run_of_callback_thread(Recorded& recorded, std::int64_t called_on) {
  recorded.add(1, 2).communicator("c", 2, 1);
  ThreadWriter& pen = recorded.pen();
  pen.communicator("c", 2, 0);
  pen.call(SpanKind::runtime, "cudaLaunchKernel", by(4711, -9'000'000, -8'999'000, 4));
  pen.activity(SpanKind::compute, "gemm", on_stream(-8'000'000, -7'000'000, 7, 4));
  pen.call(SpanKind::runtime, "cudaLaunchKernelExC", by(4711, 900'000'000, 900'001'000, 5));
  pen.activity(SpanKind::comm, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", on_stream(901'000'000, 901'000'500, 9, 5));
  pen.call(SpanKind::runtime, "cudaLaunchKernelExC", by(4711, 950'000'000, 950'001'000, 6));
  pen.activity(SpanKind::comm, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", on_stream(951'000'000, 951'000'700, 9, 6));
  enqueue(pen, 9, "c");
  pen.attribute(called_on_key, called_on, Owner::comm(9));
  pen.attribute(called_ago_key, 1'000'000, Owner::comm(9));
  return recorded.read();
}

TEST(DeviceRecords, WhatAThreadOfCudaReportsRunsAsTheKernelThatItsCallerLaunchedNext) {
  Recorded recorded{0, 2};
  const auto run = run_of_callback_thread(recorded, 4711);
  ASSERT_EQ(run->collectives().size(), 1U);
  EXPECT_EQ(run->collectives()[0].finished - run->collectives()[0].started, nanoseconds{500})
      << "not the kernel before the call, nor the one after the next";
  EXPECT_EQ(run->text(run->lane(run->span(run->collectives()[0].span).lane).name), "stream 9");
  EXPECT_EQ(run->quality().of(Counter::comm_times_unknown), 0U);
  for (const std::string& text : texts_of(*run, run->attributes_of(run->collectives()[0].span)))
    EXPECT_FALSE(text.starts_with("called_")) << text;
}

TEST(DeviceRecords, WhatAnUnknownThreadCalledIsCountedNotGuessed) {
  Recorded recorded{0, 2};
  const auto run = run_of_callback_thread(recorded, 1234);
  EXPECT_TRUE(run->collectives().empty());
  EXPECT_EQ(run->quality().of(Counter::comm_times_unknown), 1U);
}

TEST(DeviceRecords, AnOperationWhoseLaunchIsMissingDoesNotGetTheKernelOfWhatWasCalledAfterItsReport) {
  Recorded recorded{0, 2};
  ThreadWriter& pen = recorded.pen();
  pen.communicator("c", 2, 0);
  enqueue(pen, 9, "c");  // reported now, and called before
  pen.attribute(called_on_key, 4711, Owner::comm(9));
  pen.attribute(called_ago_key, 100'000, Owner::comm(9));
  let_pass(std::chrono::milliseconds{3});
  enqueue(pen, 10, "c");  // called 1 ms before this report, so 2 ms after the other one
  pen.attribute(called_on_key, 4711, Owner::comm(10));
  pen.attribute(called_ago_key, 1'000'000, Owner::comm(10));
  recorded.add(1, 2).communicator("c", 2, 1);
  pen.call(SpanKind::runtime, "cudaLaunchKernelExC", by(4711, 950'000'000, 950'001'000, 6));
  pen.activity(SpanKind::comm, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", on_stream(951'000'000, 951'000'700, 9, 6));
  const auto run = recorded.read();
  ASSERT_EQ(run->collectives().size(), 1U);
  EXPECT_EQ(run->collectives()[0].sequence, 1);
  EXPECT_EQ(run->quality().of(Counter::comm_times_unknown), 1U);
}

TEST(DeviceRecords, AKernelIsNotThatOfTwoCommunicators) {
  Recorded recorded{0, 2};
  ThreadWriter& other = recorded.add(1, 2);
  for (const char* const group : {"c", "d"}) other.communicator(group, 2, 1), recorded.pen().communicator(group, 2, 0);
  ThreadWriter& pen = recorded.pen();
  pen.call(SpanKind::runtime, "cudaLaunchKernelExC", by(4711, 900'000'000, 900'001'000, 5));
  pen.activity(SpanKind::comm, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", on_stream(901'000'000, 901'000'500, 9, 5));
  for (const std::uint64_t uid : {9U, 10U, 11U}) {
    enqueue(pen, uid, uid == 10 ? "d" : "c");
    pen.attribute(called_on_key, 4711, Owner::comm(uid));
    pen.attribute(called_ago_key, 500'000'000, Owner::comm(uid));
  }
  const auto run = recorded.read();
  EXPECT_EQ(run->collectives().size(), 2U) << "of one communicator it may be two operations";
  EXPECT_EQ(run->quality().of(Counter::comm_times_unknown), 1U);
}

TEST(DeviceRecords, AKernelThatBeganBeforeTheReportIsNotThatOfTheOperation) {
  Recorded recorded{0, 2};
  recorded.add(1, 2).communicator("c", 2, 1);
  ThreadWriter& pen = recorded.pen();
  pen.communicator("c", 2, 0);
  pen.call(SpanKind::runtime, "cudaLaunchKernelExC", by(4711, -40'000'000, -39'999'000, 5));
  pen.activity(SpanKind::comm, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", on_stream(-30'000'000, -29'000'000, 9, 5));
  enqueue(pen, 9, "c");
  pen.attribute(called_on_key, 4711, Owner::comm(9));
  pen.attribute(called_ago_key, 1'000'000'000, Owner::comm(9));
  const auto run = recorded.read();
  EXPECT_TRUE(run->collectives().empty());
  EXPECT_EQ(run->quality().of(Counter::comm_times_unknown), 1U);
}

TEST(DeviceRecords, WithoutAKernelTheChannelsTellWhenACollectiveRan) {
  Recorded recorded{0, 2};
  recorded.add(1, 2).communicator("c", 2, 1);
  ThreadWriter& pen = recorded.pen();
  pen.communicator("c", 2, 0);
  pen.anchor(ForeignClock::globaltimer, TickClock::detect().now(), 5'000'000'000);
  pen.comm_enqueued(
      {.uid = 9, .sequence = 0, .bytes = 64, .group = "c", .op = "allreduce", .dtype = "f32", .members = ""});
  pen.comm_device_times(9, 5'000'001'000, 5'000'002'000);
  pen.comm_device_times(9, 5'000'001'500, 5'000'004'000);
  const auto run = recorded.read();
  ASSERT_EQ(run->collectives().size(), 1U);
  EXPECT_EQ(run->collectives()[0].finished - run->collectives()[0].started, nanoseconds{3000});
  EXPECT_THAT(spans_of(*run), ElementsAre("NCCL c: comm allreduce 3000"));
}

TEST(DeviceRecords, OtherwiseOnlyTheCallIsKnownAndThatIsSaid) {
  Recorded recorded{0, 2};
  recorded.add(1, 2).communicator("c", 2, 1);
  ThreadWriter& pen = recorded.pen();
  pen.communicator("c", 2, 0);
  pen.comm_enqueued(
      {.uid = 9, .sequence = 0, .bytes = 64, .group = "c", .op = "allreduce", .dtype = "f32", .members = ""});
  pen.attribute("channels", 4, Owner::comm(9));
  pen.comm_returned(9);
  const auto run = recorded.read();
  EXPECT_TRUE(run->collectives().empty()) << "it would look as if it had hung";
  ASSERT_EQ(run->spans().size(), 1U);
  EXPECT_EQ(run->spans()[0].kind, SpanKind::api);
  EXPECT_EQ(run->lane(run->spans()[0].lane).kind, LaneKind::comm);
  EXPECT_THAT(texts_of(*run, run->attributes_of(SpanId{0})), ElementsAre("channels=4"));
  EXPECT_EQ(run->quality().of(Counter::comm_times_unknown), 1U);
}

TEST(DeviceRecords, ManyNamesMoveTheRecordToTheNextChunkWhole) {
  Recorded recorded;
  for (int i = 0; i < 3000; ++i) {
    const std::string name = "kernel " + std::to_string(i) + std::string(100, 'x');
    const std::string grid = "[" + std::to_string(i) + ",1,1]";
    recorded.pen().activity(SpanKind::compute, name, on_stream(i * 10, i * 10 + 5, 7, 0),
                            std::array{Item{.key = "grid", .text = grid, .is_json = true}});
  }
  const auto run = recorded.read();
  std::size_t right = 0;
  for (const Span& span : run->spans()) {
    const std::string name{run->text(span.name)};
    const auto attributes = texts_of(*run, run->attributes_of(run->id_of(span)));
    const std::string i = name.substr(7, name.find('x') - 7);
    right += std::ranges::find(attributes, "grid=[" + i + ",1,1]") != attributes.end() ? 1U : 0U;
  }
  EXPECT_EQ(right + run->quality().of(Counter::events_dropped), 3000U);
  EXPECT_GT(right, 2000U);
  EXPECT_EQ(run->quality().of(Counter::names_lost), 0U);
}

}  // namespace
}  // namespace rankscope::recording
