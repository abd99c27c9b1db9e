// From when on, and for which communicators, RCCL's timer says when channels ran.
#include "inject/nccl/timer.h"

#include <gmock/gmock.h>

#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/segment_writer.h"
#include "recorded.h"

namespace rankscope::collectors {
namespace {

using namespace testing;
using inject::nccl::CommTimer;
using inject::nccl::GlobalTimer;
using inject::nccl::Noticed;
using inject::nccl::TickProof;
using Verdict = TickProof::Verdict;
using ::testing::HasSubstr;

constexpr std::int64_t one_ms = 1'000'000, second_ms = 1000;

/// A GPU whose timer began at another time than the host's, and counts `speed` times as fast as it should.
struct Gpu {
  double speed = 1;
  std::int64_t began_ns = -7'000'000'000;
  /// Shown at a time of the host, and noticed so much later.
  [[nodiscard]] Noticed at(std::int64_t ms, std::int64_t late_ns = 5'000) const {
    const std::int64_t shown = ms * one_ms - late_ns;
    return {.ticks = static_cast<std::uint64_t>(ms * one_ms),
            .host_ns = ms * one_ms,
            .gpu_ns = static_cast<std::int64_t>(static_cast<double>(shown) * speed) - began_ns};
  }
};

/// Channels each 100 ms, from second to second: the verdict after the last one.
Verdict verdict_of(TickProof& proof, const Gpu& gpu, std::int64_t from_s, std::int64_t to_s, std::int64_t late_ns = 0) {
  Verdict verdict = Verdict::open;
  for (std::int64_t ms = from_s * second_ms; ms < to_s * second_ms; ms += 100)
    verdict = proof.saw(gpu.at(ms + 1, late_ns + 5'000));
  return verdict;
}

TEST(TickProof, NeedsTwoWholeSeconds) {
  TickProof proof;
  const Gpu gpu;
  EXPECT_EQ(verdict_of(proof, gpu, 0, 2), Verdict::open);
  EXPECT_EQ(proof.saw(gpu.at(2001)), Verdict::proven);
}

TEST(TickProof, TakesChannelsThatAreFarApart) {
  TickProof proof;
  const Gpu gpu;
  EXPECT_EQ(proof.saw(gpu.at(1)), Verdict::open);
  EXPECT_EQ(proof.saw(gpu.at(5001)), Verdict::open);
  EXPECT_EQ(proof.saw(gpu.at(90'001)), Verdict::proven);
}

TEST(TickProof, IsNotDisturbedByOneTimeThatWasNoticedLate) {
  TickProof proof;
  const Gpu gpu;
  EXPECT_EQ(proof.saw(gpu.at(1, 400 * one_ms)), Verdict::open);
  EXPECT_EQ(verdict_of(proof, gpu, 0, 2), Verdict::open);
  EXPECT_EQ(proof.saw(gpu.at(2001, 900 * one_ms)), Verdict::proven);
}

TEST(TickProof, OutlivesASecondInWhichTheHostWasAlwaysLate) {
  TickProof proof;
  const Gpu gpu;
  EXPECT_EQ(verdict_of(proof, gpu, 0, 1, 300 * one_ms), Verdict::open);
  EXPECT_EQ(verdict_of(proof, gpu, 1, 3), Verdict::open) << "refuted once";
  EXPECT_EQ(verdict_of(proof, gpu, 3, 4), Verdict::proven);
}

TEST(TickProof, WaitsForTimesThatAreFarEnoughApart) {
  TickProof proof;
  const Gpu gpu;
  proof.saw(gpu.at(0, 50'000));
  proof.saw(gpu.at(990, 5'000));    // best of the first second
  proof.saw(gpu.at(1010, 4'000));   // of the second one
  proof.saw(gpu.at(2010, 90'000));  // 20 ms say nothing about the rate
  EXPECT_FALSE(proof.to().has_value());
  EXPECT_EQ(proof.saw(gpu.at(3010)), Verdict::proven);
  EXPECT_EQ(proof.to()->host_ns - proof.from()->host_ns, 1020 * one_ms);
}

TEST(TickProof, GivesUpAfterThreeMeasurementsThatRefuteTheRate) {
  for (const double speed : {0.25, 0.85, 1.2, 4.0, -1.0}) {
    TickProof proof;
    const Gpu gpu{.speed = speed};
    EXPECT_EQ(verdict_of(proof, gpu, 0, 4), Verdict::open) << speed;
    EXPECT_EQ(verdict_of(proof, gpu, 4, 6), Verdict::refuted) << speed;
    EXPECT_EQ(verdict_of(proof, Gpu{}, 6, 12), Verdict::refuted) << "once and for all";
  }
}

TEST(TickProof, SaysHowFastTheTimerCounts) {
  const Gpu gpu{.speed = 0.25};
  EXPECT_EQ(inject::nccl::refusal_of(gpu.at(1000), gpu.at(2000), 10),
            "the timer of the GPU did not advance as expected: in each of 3 measurements it was too fast or too slow "
            "(in the last one, it counted 25 million times a second instead of 100 million), so the times of channels "
            "are those at which RCCL's proxy noticed the channels");
}

/// A process with operations of which only the GPU's timer says when they ran.
class TimedRecording {
 public:
  TimedRecording() {
    fs::create_directory(folder_ / recording::segment_folder);
    auto made = recording::SegmentWriter::create(
        {.path = folder_ / recording::segment_folder / ("0" + std::string{recording::segment_suffix}),
         .ring_kib = 1024,
         .rank = 0,
         .world_size = 1,
         .rank_source = "RANK"});
    if (!made) throw std::runtime_error(made.error().message);
    segment_ = std::move(*made);
    pen_ = segment_->thread();
    pen_->communicator("c", 1, 0);
    first_ticks_ = segment_->clock().pair().ticks;
  }
  bool sees(CommTimer& timer, Noticed noticed) {
    noticed.ticks += first_ticks_;
    return timer.saw(*pen_, noticed);
  }
  /// Channels each 100 ms: how many of them have times of the timer.
  int used(CommTimer& timer, const Gpu& gpu, std::int64_t from_s, std::int64_t to_s) {
    int used = 0;
    for (std::int64_t ms = from_s * second_ms; ms < to_s * second_ms; ms += 100)
      used += sees(timer, gpu.at(ms + 1)) ? 1 : 0;
    return used;
  }
  std::shared_ptr<const Run> read_with(const Noticed& begin) {
    pen_->comm_enqueued(
        {.uid = 9, .sequence = 0, .bytes = 64, .group = "c", .op = "allreduce", .dtype = "f32", .members = ""});
    pen_->comm_device_times(9, begin.gpu_ns, begin.gpu_ns + 40'000);
    pen_.reset();
    segment_.reset();
    auto run = recording::read_recording(folder_.path());
    if (!run) throw std::runtime_error(run.error().message);
    return *run;
  }

 private:
  Folder folder_;
  std::unique_ptr<recording::SegmentWriter> segment_;
  std::unique_ptr<recording::ThreadWriter> pen_;
  std::uint64_t first_ticks_ = 0;
};

TEST(CommTimer, OfNcclIsUsedAtOnce) {
  TimedRecording recording;
  GlobalTimer global;
  CommTimer timer{global};
  EXPECT_EQ(timer.ns_per_count(), 1U);
  EXPECT_TRUE(recording.sees(timer, Gpu{}.at(1)));
  EXPECT_EQ(lost(*recording.read_with(Gpu{}.at(1)), Counter::comm_times_unknown), 0U);
}

TEST(CommTimer, OfRcclLeavesNoTraceBeforeItIsProven) {
  TimedRecording recording;
  GlobalTimer global;
  CommTimer timer{global};
  timer.counts_ticks();
  EXPECT_EQ(timer.ns_per_count(), 10U);
  EXPECT_EQ(recording.used(timer, Gpu{}, 0, 2), 0);
  EXPECT_EQ(lost(*recording.read_with(Gpu{}.at(1)), Counter::comm_times_unknown), 1U) << "there is no anchor";
}

TEST(CommTimer, OfRcclIsUsedOnceItIsProven) {
  TimedRecording recording;
  GlobalTimer global;
  CommTimer timer{global};
  timer.counts_ticks();
  EXPECT_EQ(recording.used(timer, Gpu{}, 0, 3), 10);
  const auto run = recording.read_with(Gpu{}.at(1));
  EXPECT_EQ(lost(*run, Counter::comm_times_unknown), 0U);
  EXPECT_EQ(told(*run, "nccl_timer_problem"), "");
}

TEST(CommTimer, ThatCountsAtAnotherRateIsNotUsedAndThatIsSaid) {
  TimedRecording recording;
  GlobalTimer global;
  CommTimer timer{global};
  timer.counts_ticks();
  EXPECT_EQ(recording.used(timer, Gpu{.speed = 0.25}, 0, 9), 0);
  const auto run = recording.read_with(Gpu{}.at(1));
  EXPECT_THAT(std::string{told(*run, "nccl_timer_problem")}, HasSubstr("25 million times"));
  EXPECT_EQ(lost(*run, Counter::comm_times_unknown), 1U);
}

TEST(CommTimer, OfASecondCommunicatorIsProvenByItself) {
  TimedRecording recording;
  GlobalTimer global;
  CommTimer first{global}, second{global};
  first.counts_ticks();
  second.counts_ticks();
  EXPECT_EQ(recording.used(first, Gpu{}, 0, 3), 10);
  EXPECT_EQ(recording.used(second, Gpu{}, 100, 102), 0);
  EXPECT_EQ(recording.used(second, Gpu{}, 102, 103), 10) << "of the same GPU, 100 s later";
  EXPECT_EQ(told(*recording.read_with(Gpu{}.at(1)), "nccl_timer_problem"), "");
}

TEST(CommTimer, OfAnotherGpuIsNotMixedWithTheFirstOne) {
  TimedRecording recording;
  GlobalTimer global;
  CommTimer first{global}, second{global};
  first.counts_ticks();
  second.counts_ticks();
  EXPECT_EQ(recording.used(first, Gpu{}, 0, 3), 10);
  EXPECT_EQ(recording.used(second, Gpu{.began_ns = -7'004'000'000}, 3, 9), 0);
  EXPECT_EQ(recording.used(first, Gpu{}, 9, 10), 10);
  EXPECT_THAT(std::string{told(*recording.read_with(Gpu{}.at(1)), "nccl_timer_problem")}, HasSubstr("several GPUs"));
}

}  // namespace
}  // namespace rankscope::collectors
