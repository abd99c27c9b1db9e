// A process that announces its operations and has NCCL tell of them, too: read, each is there once.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "rankscope/core/model/run.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"
#include "support/temporary_folder.h"
#include "synthetic/segment_image.h"

namespace rankscope::recording {
namespace {

using synthetic::ProcessImage;
using synthetic::ThreadImage;
using ::testing::Contains;
using ::testing::ElementsAre;

constexpr std::string_view communicator = "communicator 0xab";
constexpr std::int64_t us = 1'000;

/// Rank `rank` of two: the thread that trains, and one that carries out what it enqueues.
struct Process {
  ProcessImage image;
  explicit Process(std::int32_t rank) {
    image = {.rank = rank, .world_size = 2, .local_rank = rank, .host = "a", .end_ns = 10'000 * us};
    image.clock.boot_ns = 1'000'000'000;
    image.threads.emplace_back(100 + rank * 10, image.clock);
    image.threads.emplace_back(101 + rank * 10, image.clock);
    training().clock_pair(0);
    training().clock_pair(10'000 * us);
    comm().thread_name("comm dp", 0);
    comm().communicator(communicator, 2, rank);
  }
  ThreadImage& training() { return image.threads[0]; }
  ThreadImage& comm() { return image.threads[1]; }

  /// Announced at `at`, carried out 10 us later for 80 us.
  void announce(std::uint64_t uid, std::int64_t at, std::string_view op, std::int64_t bytes) {
    const auto sequence = static_cast<std::int64_t>(uid) - 1;
    training().enqueued({.uid = uid, .sequence = sequence, .bytes = bytes, .group = "dp", .op = op, .members = "0,1"},
                        at);
    comm().started(uid, at + 10 * us);
    comm().finished(uid, at + 90 * us);
  }
  /// What NCCL tells of it, behind the launch of its kernel.
  void carry(std::uint64_t uid, std::int64_t at, std::string_view op, std::int64_t bytes) {
    comm().enqueued({.uid = uid,
                     .sequence = static_cast<std::int64_t>(uid) % 100,
                     .bytes = bytes,
                     .group = communicator,
                     .op = op,
                     .members = "",
                     .peer = 0},
                    at);
  }
  /// All of it, with a kernel that runs from 30 us after `at` for 30 us.
  void announce_and_carry(std::uint64_t uid, std::int64_t at) {
    announce(uid, at, "allreduce", 64);
    launch(static_cast<std::uint32_t>(uid), at + 20 * us, at + 30 * us, at + 60 * us);
    carry(100 + uid, at + 22 * us, "allreduce", 64);
  }
  void launch(std::uint32_t correlation, std::int64_t at, std::int64_t begin, std::int64_t end) {
    comm().kernel({.name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                   .launched = at,
                   .begin = begin,
                   .end = end,
                   .correlation = correlation});
  }
};

std::shared_ptr<const Run> read(const std::vector<Process>& processes) {
  const rankscope::testing::TemporaryFolder folder;
  std::filesystem::create_directory(folder / segment_folder);
  for (const Process& process : processes)
    synthetic::write_segment(process.image,
                             folder / segment_folder / (std::to_string(process.image.rank) + segment_suffix));
  auto run = read_recording(folder.path());
  if (!run) throw std::runtime_error(run.error().message);
  return *run;
}

/// "dp#0 allreduce 64: 40-70 on stream 7", in us.
std::vector<std::string> collectives_of(const Run& run, RankId rank) {
  std::vector<std::string> texts;
  for (const Collective& one : run.collectives()) {
    if (one.rank != rank) continue;
    const auto at = [](RunTime time) { return std::to_string(time.time_since_epoch().count() / us); };
    texts.push_back(std::string{run.text(run.groups()[one.group.index()].name)} + "#" + std::to_string(one.sequence) +
                    " " + std::string{run.text(one.op)} + " " + std::to_string(one.bytes) + ": " + at(one.started) +
                    "-" + at(one.finished) + " on " + std::string{run.text(run.lane(one.lane).name)});
  }
  return texts;
}

std::uint64_t lost(const Run& run, Counter counter) { return run.quality().of(counter); }

TEST(ToldTwice, TheProgramSaysWhichOperationItIsAndTheKernelWhenItRan) {
  std::vector<Process> processes{Process{0}, Process{1}};
  for (Process& process : processes) {
    process.announce_and_carry(1, 10 * us);
    process.announce(2, 110 * us, "allreduce", 64);
    process.launch(2, 130 * us, 145 * us, 190 * us);
    process.carry(102, 132 * us, "allreduce", 64);
  }
  const auto run = read(processes);
  for (const RankId rank : {RankId{0}, RankId{1}})
    EXPECT_THAT(collectives_of(*run, rank),
                ElementsAre("dp#0 allreduce 64: 40-70 on stream 7", "dp#1 allreduce 64: 145-190 on stream 7"));
  ASSERT_EQ(run->groups().size(), 1U) << "the communicator is no second group";
  const Collective& first = run->collectives()[0];
  EXPECT_EQ(first.enqueued, RunTime{} + nanoseconds{10 * us}) << "when the program enqueued it";
  EXPECT_EQ(run->text(first.dtype), "f32");
  ASSERT_TRUE(first.span.is_set());
  EXPECT_EQ(run->text(run->span(first.span).name), "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  EXPECT_EQ(lost(*run, Counter::comm_not_announced), 0U);
  EXPECT_EQ(lost(*run, Counter::comm_announced_only), 0U);
  EXPECT_EQ(lost(*run, Counter::comm_times_unknown), 0U);
}

TEST(ToldTwice, WhatTheThreadDidAroundAKernelIsNoCommunicationOfItsOwn) {
  std::vector<Process> processes{Process{0}, Process{1}};
  for (Process& process : processes) process.announce_and_carry(1, 10 * us);
  const auto run = read(processes);
  std::vector<std::string> on_host;
  for (const Span& span : run->spans())
    if (run->text(run->lane(span.lane).name) == "comm dp" && run->text(span.name) == "allreduce")
      on_host.emplace_back(name_of(span.kind));
  EXPECT_THAT(on_host, ElementsAre("api", "api")) << "one per rank";
}

TEST(ToldTwice, WhereNobodySawTheKernelTheProgramsTimesStay) {
  std::vector<Process> processes{Process{0}, Process{1}};
  for (Process& process : processes) {
    process.announce(1, 10 * us, "allreduce", 64);
    process.carry(101, 32 * us, "allreduce", 64);
  }
  const auto run = read(processes);
  EXPECT_THAT(collectives_of(*run, RankId{0}), ElementsAre("dp#0 allreduce 64: 20-100 on comm dp"));
  EXPECT_EQ(lost(*run, Counter::comm_times_unknown), 0U);
  EXPECT_EQ(run->spans().size(), 2U) << "nor is there a second span of the call";
}

TEST(ToldTwice, AnOperationStaysOneAcrossRanksIfNcclsRecordOfItIsMissingOnOne) {
  std::vector<Process> processes{Process{0}, Process{1}};
  for (Process& process : processes) {
    const bool is_told = process.image.rank == 0;
    process.announce(1, 10 * us, "allreduce", 64);
    if (is_told) process.launch(1, 30 * us, 40 * us, 70 * us);
    if (is_told) process.carry(101, 32 * us, "allreduce", 64);
    process.announce_and_carry(2, 110 * us);
  }
  const auto run = read(processes);
  EXPECT_THAT(collectives_of(*run, RankId{0}),
              ElementsAre("dp#0 allreduce 64: 40-70 on stream 7", "dp#1 allreduce 64: 140-170 on stream 7"));
  EXPECT_THAT(collectives_of(*run, RankId{1}),
              ElementsAre("dp#0 allreduce 64: 20-100 on comm dp", "dp#1 allreduce 64: 140-170 on stream 7"));
  EXPECT_EQ(lost(*run, Counter::comm_announced_only), 1U);
  EXPECT_EQ(lost(*run, Counter::comm_not_announced), 0U);
}

TEST(ToldTwice, WhatNobodyAnnouncedStaysAndIsCounted) {
  std::vector<Process> processes{Process{0}, Process{1}};
  for (Process& process : processes) {
    process.announce_and_carry(1, 10 * us);
    process.launch(2, 330 * us, 340 * us, 370 * us);
    process.carry(102, 332 * us, "allreduce", 64);
  }
  const auto run = read(processes);
  EXPECT_THAT(collectives_of(*run, RankId{1}), ElementsAre("dp#0 allreduce 64: 40-70 on stream 7",
                                                           "communicator 0xab#2 allreduce 64: 340-370 on stream 7"));
  EXPECT_EQ(lost(*run, Counter::comm_not_announced), 2U) << "one on each rank";
}

TEST(ToldTwice, OneOperationInSeveralOfNcclRanFromTheFirstOfThemToTheLast) {
  std::vector<Process> processes{Process{0}, Process{1}};
  for (Process& process : processes) {
    process.announce(1, 10 * us, "reduce_scatter", 64);
    process.launch(1, 30 * us, 35 * us, 50 * us);
    process.carry(101, 32 * us, "reduce", 40);
    process.launch(2, 40 * us, 55 * us, 80 * us);
    process.carry(102, 42 * us, "reduce", 24);
  }
  const auto run = read(processes);
  EXPECT_THAT(collectives_of(*run, RankId{0}), ElementsAre("dp#0 reduce_scatter 64: 35-80 on stream 7"));
  EXPECT_FALSE(run->collectives()[0].span.is_set()) << "of two kernels none is the operation";
  std::vector<std::string> whose;
  for (const Span& span : run->spans())
    for (const Attribute& attribute : run->attributes_of(run->id_of(span)))
      if (run->text(attribute.key) == "part_of") whose.emplace_back(run->text(attribute.value.text));
  EXPECT_THAT(whose, ElementsAre("reduce_scatter 0 of dp", "reduce_scatter 0 of dp", "reduce_scatter 0 of dp",
                                 "reduce_scatter 0 of dp"));
  EXPECT_EQ(lost(*run, Counter::comm_not_announced), 0U);
}

TEST(ToldTwice, OfAGroupInOneKernelEachIsThereAndTheFirstHasTheKernel) {
  std::vector<Process> processes{Process{0}, Process{1}};
  for (Process& process : processes) {
    for (std::uint64_t uid = 1; uid <= 2; ++uid)
      process.comm().enqueued({.uid = uid,
                               .sequence = static_cast<std::int64_t>(uid) - 1,
                               .bytes = 64,
                               .group = "dp",
                               .op = "allreduce",
                               .members = "0,1"},
                              10 * us);
    process.launch(1, 30 * us, 40 * us, 70 * us);
    for (const std::uint64_t uid : {101U, 102U}) process.carry(uid, 32 * us, "allreduce", 64);
  }
  const auto run = read(processes);
  EXPECT_THAT(collectives_of(*run, RankId{1}),
              ElementsAre("dp#0 allreduce 64: 40-70 on stream 7", "dp#1 allreduce 64: 40-70 on stream 7"));
  EXPECT_TRUE(run->collectives()[0].span.is_set());
  EXPECT_FALSE(run->collectives()[1].span.is_set());
}

}  // namespace
}  // namespace rankscope::recording
