// Processes whose rank nobody said: the only one, launchers beside ranks, and ranks that are not known.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "rankscope/core/model/run.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"
#include "rankscope/core/recording/segment_writer.h"
#include "support/temporary_folder.h"

namespace rankscope::recording {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int32_t no_rank = -1;
constexpr std::int64_t begin_ns = 1'700'000'000'000'000'000;
constexpr ActivityFields any_activity{begin_ns, begin_ns + 1'000, 0, 1, 7, 1};

void count_devices(ThreadWriter& pen) {
  pen.metadata("cuda", "initialised");
  pen.call(SpanKind::runtime, "cuDeviceGetCount", {begin_ns, begin_ns + 1'000, 1, 1, 0});
  pen.activity(SpanKind::overhead, "Activity Buffer Request", any_activity);
}
void import_torch(ThreadWriter& pen) {
  pen.push(SpanKind::op, "torchvision::_cuda_version");
  pen.pop();
}
void launch(ThreadWriter& pen) { pen.activity(SpanKind::compute, "gemm", any_activity); }
void copy(ThreadWriter& pen) { pen.activity(SpanKind::memory, "Memcpy HtoD", any_activity); }
void step(ThreadWriter& pen) {
  pen.push(SpanKind::step, "step");
  pen.pop();
}
void reduce(ThreadWriter& pen) {
  pen.comm_enqueued(
      {.uid = 1, .sequence = 0, .bytes = 8, .group = "dp", .op = "allreduce", .dtype = "f32", .members = "0,1"});
}
void sample(ThreadWriter& pen) { pen.counter("rss_bytes", 42); }

/// Some processes, one segment each.
class Job {
 public:
  Job() { std::filesystem::create_directory(folder_ / segment_folder); }
  template <class... Deeds>
  Job& process(std::int32_t rank, Deeds... deeds) {
    const auto path = folder_ / segment_folder / (std::to_string(count_++) + segment_suffix);
    const auto segment = SegmentWriter::create(
        {.path = path, .ring_kib = 1024, .rank = rank, .rank_source = rank == no_rank ? "" : "RANK"});
    if (!segment) throw std::runtime_error(segment.error().message);
    const auto pen = (*segment)->thread();
    pen->anchor(ForeignClock::activities, (*segment)->clock().pair().ticks, begin_ns);
    (deeds(*pen), ...);
    return *this;
  }
  [[nodiscard]] std::shared_ptr<const Run> run() const {
    auto run = read_recording(folder_.path());
    if (!run) throw std::runtime_error(run.error().message);
    return *run;
  }
  /// What `record` is told of each segment when it gathers them.
  [[nodiscard]] std::vector<RankEvidence> evidence() const {
    std::vector<RankEvidence> evidence;
    for (const auto& path : segments_of(folder_.path()))
      evidence.push_back(gather_segment(path, folder_ / "gathered").value().evidence);
    return evidence;
  }

 private:
  rankscope::testing::TemporaryFolder folder_;
  int count_ = 0;
};

std::uint64_t unknown(const Run& run) { return run.quality().of(Counter::rank_unknown); }
std::uint64_t launchers(const Run& run) { return run.quality().of(Counter::processes_without_rank); }

TEST(Unranked, TheOnlyProcessIsRank0AndNoError) {
  for (const auto deed : {count_devices, import_torch, launch, copy, step, reduce}) {
    Job job;
    const auto run = job.process(no_rank, deed, sample).run();
    EXPECT_THAT(run->ranks(), ElementsAre(RankId{0}));
    EXPECT_EQ(unknown(*run), 0U);
    EXPECT_EQ(launchers(*run), 0U);
    EXPECT_EQ(only_rank(job.evidence()), 0U);
  }
}

TEST(Unranked, ALauncherThatOnlyInitialisedCudaBesideRanksIsNoErrorButSaid) {
  Job job;
  const auto run =
      job.process(no_rank, count_devices, import_torch, sample).process(0, launch).process(1, launch).run();
  EXPECT_THAT(run->ranks(), ElementsAre(RankId{0}, RankId{1}));
  EXPECT_EQ(unknown(*run), 0U);
  EXPECT_EQ(launchers(*run), 1U);
  EXPECT_EQ(info_of(Counter::processes_without_rank).severity, Severity::info);
  EXPECT_EQ(only_rank(job.evidence()), std::nullopt) << "the ranks are known";
}

TEST(Unranked, AProcessThatWorksBesideRanksIsARankThatIsNotKnown) {
  for (const auto deed : {launch, copy, step, reduce}) {
    Job job;
    const auto run = job.process(no_rank, deed).process(0, launch).run();
    EXPECT_EQ(unknown(*run), 1U);
    EXPECT_EQ(launchers(*run), 0U);
  }
}

TEST(Unranked, OfALauncherAndItsWorkerTheWorkerIsRank0) {
  Job job;
  const auto run = job.process(no_rank, count_devices).process(no_rank, count_devices, launch).run();
  ASSERT_THAT(run->ranks(), ElementsAre(RankId{0}));
  const auto kernel = std::ranges::find(run->spans(), SpanKind::compute, &Span::kind);
  ASSERT_NE(kernel, run->spans().end());
  EXPECT_EQ(run->lane(kernel->lane).rank, RankId{0});
  EXPECT_EQ(unknown(*run), 0U);
  EXPECT_EQ(launchers(*run), 1U);
  EXPECT_EQ(only_rank(job.evidence()), 1U);
}

TEST(Unranked, TwoProcessesThatWorkAreRanksThatAreNotKnown) {
  Job job;
  const auto run = job.process(no_rank, launch).process(no_rank, launch).process(no_rank, count_devices).run();
  EXPECT_THAT(run->ranks(), IsEmpty());
  EXPECT_EQ(unknown(*run), 2U);
  EXPECT_EQ(launchers(*run), 1U);
  EXPECT_EQ(only_rank(job.evidence()), std::nullopt);
}

TEST(Unranked, WhereNobodyWorksTwoProcessesWithEventsMayBothBeRanks) {
  Job job;
  const auto run = job.process(no_rank, import_torch).process(no_rank, count_devices).process(no_rank, sample).run();
  EXPECT_THAT(run->ranks(), IsEmpty());
  EXPECT_EQ(unknown(*run), 2U);
  EXPECT_EQ(run->quality().of(Counter::processes_without_events), 1U);
}

TEST(Unranked, AProcessThatIsWatchedFromOutsideIsNone) {
  EXPECT_EQ(only_rank({}), std::nullopt);
  EXPECT_EQ(only_rank(std::vector{RankEvidence{}}), std::nullopt);
}

}  // namespace
}  // namespace rankscope::recording
