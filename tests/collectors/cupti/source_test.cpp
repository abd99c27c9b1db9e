// Recording of CUDA activities, with a stand-in for libcupti that behaves as each version does.
#include <gmock/gmock.h>

#include <fstream>

#include "cupti/play.h"

namespace rankscope::collectors {
namespace {

using namespace testing;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

class EveryCupti : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Cupti, EveryCupti,
                         ::testing::Values("22", "24", "26", "27", "28", "130001", "130100", "130200", "130400"));

TEST_P(EveryCupti, EveryKindArrivesWithWhatItSays) {
  const Folder folder;
  RecordOptions options;
  options.details.add(Detail::memory);
  const Recorded recorded = play(folder, "all", {.version = GetParam()}, options);
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  const Span* const kernel = span_named(run, "gemm(float*)");
  ASSERT_NE(kernel, nullptr) << "names are demangled";
  EXPECT_EQ(kernel->kind, SpanKind::compute);
  EXPECT_EQ(kernel->time.length(), nanoseconds{20'000});
  EXPECT_EQ(run.text(run.lane(kernel->lane).name), "stream 7");
  EXPECT_EQ(run.lane(kernel->lane).device, 0);
  EXPECT_THAT(attributes_of(run, *kernel),
              IsSupersetOf({"correlation=1", "context=1", "grid=[4,2,1]", "block=[128,1,1]", "registers per thread=40",
                            "shared memory=1536"}));
  const auto launches = run.links_to(LinkKind::launch, run.id_of(*kernel));
  ASSERT_EQ(launches.size(), 1U);
  EXPECT_EQ(run.text(run.span(launches.front().from).name), "cudaLaunchKernel");
  EXPECT_EQ(run.text(run.lane(run.span(launches.front().from).lane).name), "main");
  const Span* const copy = span_named(run, "Memcpy HtoD (Pinned -> Device)");
  ASSERT_NE(copy, nullptr);
  EXPECT_THAT(attributes_of(run, *copy), Contains("bytes=4096"));
  EXPECT_THAT(attributes_of(run, *span_named(run, "cudaMemcpyAsync")), Contains("return value=1"));
  EXPECT_THAT(attributes_of(run, *span_named(run, "Memcpy PtoP (Device -> Device)")),
              IsSupersetOf({"bytes=8192", "fromDevice=0", "toDevice=1"}));
  EXPECT_THAT(attributes_of(run, *span_named(run, "Memset (Device)")), Contains("bytes=16"));
  EXPECT_THAT(attributes_of(run, *span_named(run, "cuLaunchKernel")), Contains("cat=cuda_driver"));
  EXPECT_EQ(span_named(run, "ncclDevKernel_AllReduce_Sum_f32_RING_LL")->kind, SpanKind::comm);
  EXPECT_THAT(attributes_of(run, *span_named(run, "Stream Wait Event")),
              IsSupersetOf({"wait_on_cuda_event_id=5", "wait_on_stream=7", "wait_on_cuda_event_record_corr_id=4"}));
  EXPECT_EQ(span_named(run, "Activity Buffer Request")->kind, SpanKind::overhead);
  EXPECT_EQ(std::ranges::count(marks_of(run), "[memory]"), 2);
  EXPECT_EQ(std::ranges::count(marks_of(run), "[memory pool]"), 1);
  EXPECT_EQ(told(run, "details_recorded"), "memory");
  EXPECT_THAT(recorded.summary.notes, Not(Contains(HasSubstr("--memory"))));
  ASSERT_EQ(run.devices().size(), 1U);
  EXPECT_EQ(run.text(run.devices()[0].name), "NVIDIA Stand-in");
  EXPECT_EQ(run.text(run.devices()[0].uuid), "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f");
  EXPECT_EQ(told(run, "cupti_version"), GetParam());
  for (const Counter counter : {Counter::activities_dropped, Counter::activities_unknown, Counter::sources_failed,
                                Counter::times_unusable, Counter::correlation_reused})
    EXPECT_EQ(lost(run, counter), 0U) << info_of(counter).name;
}

TEST(Cupti, TheDevicesClockIsReadThroughAnchors) {
  const Folder folder;
  const Recorded recorded = play(folder, "some", {.ahead_ns = "-5000000000000"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  EXPECT_EQ(spans_of_kind(run, SpanKind::compute), 100U);
  const Process& process = run.processes()[0];
  EXPECT_LT(process.recorded.length(), nanoseconds{60'000'000'000})
      << "5000 s of difference between the clocks are gone";
}

TEST(Cupti, NothingIsLostBetweenLaunchesAndKernels) {
  const Folder folder;
  RecordOptions options;
  options.ring_kib = 16 * 1024;
  const Recorded recorded = play(folder, "many", {}, options);
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  EXPECT_EQ(lost(run, Counter::events_dropped), 0U);
  EXPECT_EQ(spans_of_kind(run, SpanKind::compute), 60'000U);
  EXPECT_EQ(spans_of_kind(run, SpanKind::runtime), 60'000U);
  EXPECT_EQ(run.links().size(), 60'000U);
  nanoseconds sum{0};
  for (const Span& span : run.spans())
    if (span.kind == SpanKind::compute) sum += span.time.length();
  EXPECT_EQ(sum, nanoseconds{60'000 * 30});
}

TEST(Cupti, SeveralThreadsHandBackBuffersAtATime) {
  const Folder folder;
  const Recorded recorded = play(folder, "threads");
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(spans_of_kind(*recorded.run, SpanKind::compute) + lost(*recorded.run, Counter::events_dropped), 8'000U);
  EXPECT_EQ(lost(*recorded.run, Counter::kernels_without_launch), 8'000U);
}

TEST(Cupti, ExhaustedBuffersAreCountedByRecord) {
  for (const char* version : {"26", "130001"}) {  // the older one crashes if it gets no buffer
    const Folder folder;
    const Recorded recorded = play(folder, "many", {.version = version, .keeps = "1", .buffers = "1"});
    EXPECT_EQ(recorded.status, 0) << version;
    ASSERT_TRUE(recorded.run) << recorded.why;
    EXPECT_GT(lost(*recorded.run, Counter::activities_dropped), 0U) << version;
  }
}

TEST(Cupti, AKilledProcessKeepsWhatWasFlushed) {
  const Folder folder;
  const Recorded recorded = play(folder, "death");
  EXPECT_EQ(recorded.status, 128 + 9);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(spans_of_kind(*recorded.run, SpanKind::compute), 100U);
  EXPECT_EQ(recorded.run->links().size(), 100U);
}

TEST(Cupti, AKilledProcessWithABusyGpuLosesLessThanOneBuffer) {
  const Folder folder;
  const Recorded recorded = play(folder, "busy death");
  EXPECT_EQ(recorded.status, 128 + 9);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_GT(spans_of_kind(*recorded.run, SpanKind::compute), 4'000U) << "of 9000, in buffers of 1 MiB";
}

TEST(Cupti, AProfilerThatTakesTheBuffersIsNoticed) {
  const Folder folder;
  const Variable driver{"RANKSCOPE_CUDA", program("libcupti_standin.so")};
  const Recorded recorded = play(folder, "taken over");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(std::string{told(*recorded.run, "cupti_problem")},
              HasSubstr("another profiler in the process has taken the records of CUPTI"));
  EXPECT_EQ(lost(*recorded.run, Counter::sources_failed), 1U);
  EXPECT_EQ(spans_of_kind(*recorded.run, SpanKind::compute), 10U) << "those before it";
  EXPECT_THAT(recorded.summary.sources.problems, ::testing::SizeIs(1)) << "record says it at its end";
}

TEST(Cupti, ABufferOfAProfilerThatCameBeforeIsLeftToIt) {
  const Folder folder;
  RecordOptions options;
  options.ring_kib = 16 * 1024;
  const Recorded recorded = play(folder, "came second", {}, options);
  EXPECT_EQ(recorded.status, 0) << "it is smaller than those of the recorder, which would write behind its end";
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(spans_of_kind(*recorded.run, SpanKind::compute), 60'000U);
}

TEST(Cupti, AnIdleProgramIsNotTakenForOneWhoseRecordsGoElsewhere) {
  const Folder folder;
  const Variable driver{"RANKSCOPE_CUDA", program("libcupti_standin.so")};
  const Recorded recorded = play(folder, "idle");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(told(*recorded.run, "cupti_problem"), "");
  EXPECT_EQ(spans_of_kind(*recorded.run, SpanKind::runtime), 10U) << "calls of the recorder are not the program's";
}

TEST(Cupti, TheChildOfAForkLeavesCuptiAlone) {
  const Folder folder;
  const Recorded recorded = play(folder, "fork");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(spans_of_kind(*recorded.run, SpanKind::compute), 10U) << "each of them once";
}

TEST(Cupti, TheChildOfAForkDoesNotWaitForAFlushOfItsParent) {
  const Folder folder;
  const Recorded recorded = play(folder, "fork in flush");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(spans_of_kind(*recorded.run, SpanKind::compute), 10U);
}

TEST(Cupti, RecordsWithoutUsableTimesAreCounted) {
  const Folder folder;
  const Recorded recorded = play(folder, "bad");
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(lost(*recorded.run, Counter::times_unusable), 2U) << "no time at all, and two days early";
  EXPECT_EQ(lost(*recorded.run, Counter::negative_duration), 1U);
  EXPECT_EQ(spans_of_kind(*recorded.run, SpanKind::compute), 3U);
}

class SomeCupti : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Cupti, SomeCupti, ::testing::Values("22", "26", "130001"));

TEST_P(SomeCupti, BuffersOfGarbageNeitherEndTheProgramNorGetLost) {
  const Folder folder;
  const std::string said = folder / "said";
  RecordOptions options{.command = {"/bin/sh", "-c", "exec '" + program("cupti_actor") + "' fuzz > '" + said + "'"}};
  options.ring_kib = 64 * 1024;
  const Recorded recorded = play(folder, "", {.version = GetParam()}, options);
  EXPECT_EQ(recorded.status, 7) << "the program's own";
  std::uint64_t told_of = 0;
  std::string behind;
  std::ifstream{said} >> told_of >> behind;
  EXPECT_GT(told_of, 5'000U);
  EXPECT_EQ(behind, "records");
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  EXPECT_GT(run.spans().size(), 1'000U);
  EXPECT_GT(lost(run, Counter::activities_unknown), 500U);
  EXPECT_EQ(run.spans().size() + run.marks().size() + lost(run, Counter::activities_unknown) +
                lost(run, Counter::times_unusable) + lost(run, Counter::events_dropped),
            told_of + 1)
      << "each of them, and the mark of the program";
}

TEST(Cupti, QueriesAreNotRecorded) {
  const Folder folder;
  const Recorded recorded = play(folder, "polls");
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(names_of(*recorded.run), ::testing::ElementsAre("cudaLaunchKernel"));
}

TEST(Cupti, LaunchesOfGraphsAreRecordedAsWholesOnRequest) {
  const auto kinds_of = [](const std::string& level) {
    const Folder folder;
    RecordOptions options;
    options.cuda_graphs = level;
    const Recorded recorded = play(folder, "graph", {}, options);
    return std::pair{recorded.run ? spans_of_kind(*recorded.run, SpanKind::graph) : 99,
                     recorded.run ? lost(*recorded.run, Counter::graphs_opaque) : 99};
  };
  EXPECT_EQ(kinds_of(""), (std::pair<std::uint64_t, std::uint64_t>{0, 0}));
  EXPECT_EQ(kinds_of("node"), (std::pair<std::uint64_t, std::uint64_t>{0, 0}));
  EXPECT_EQ(kinds_of("graph"), (std::pair<std::uint64_t, std::uint64_t>{1, 1}));
}

TEST(Cupti, AGraphLevelThatDoesNotExistIsRefused) {
  const Folder folder;
  RecordOptions options{.command = {"true"}};
  options.cuda_graphs = "kernel";
  EXPECT_EQ(record(folder, options).why, "--cuda-graphs must be node or graph (is \"kernel\")");
}

TEST(Cupti, AnotherProfilerThatHoldsItIsNamedAndTheRestIsRecorded) {
  for (const char* version : {"28", "130001", "130400"}) {
    const Folder folder;
    const Recorded recorded = play(folder, "refused", {.version = version, .holder = "Kineto"});
    EXPECT_EQ(recorded.status, 0);
    ASSERT_TRUE(recorded.run) << recorded.why;
    EXPECT_THAT(std::string{told(*recorded.run, "cupti_problem")},
                AllOf(HasSubstr("CUPTI for Kineto"), HasSubstr("already uses CUPTI")))
        << version;
    EXPECT_EQ(lost(*recorded.run, Counter::sources_failed), 1U);
  }
}

TEST(Cupti, VersionsWithKnownFaultsAreRefusedWithASentence) {
  const auto why = [](const char* version) {
    const Folder folder;
    const Recorded recorded = play(folder, "let go", {.version = version});
    EXPECT_EQ(recorded.status, 0) << version;
    return recorded.run ? std::string{told(*recorded.run, "cupti_problem")} : recorded.why;
  };
  EXPECT_THAT(why("21"), HasSubstr("older than the one in CUDA 12.4"));
  EXPECT_THAT(why("130000"), HasSubstr("use CUDA 13.0 Update 1"));
  EXPECT_THAT(why("140000"), HasSubstr("use a newer rankscope"));
}

TEST(Cupti, AKindThatIsRefusedIsSaidAndTheOthersAreRecorded) {
  const Folder folder;
  const Recorded recorded = play(folder, "some", {.refuses = "5"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(std::string{told(*recorded.run, "cupti_problem")},
              HasSubstr("CUPTI refuses records of kind 5: CUPTI_ERROR_UNKNOWN"));
  EXPECT_EQ(spans_of_kind(*recorded.run, SpanKind::compute), 100U);
  EXPECT_EQ(spans_of_kind(*recorded.run, SpanKind::runtime), 0U);
}

TEST(Cupti, DevicesThatAreRefusedWhileCudaIsInitialisedAreAskedForAgain) {
  const Folder folder;
  const Variable at_first{"STANDIN_CUPTI_REFUSES_AT_FIRST", "8"};
  const Recorded recorded = play(folder, "late device");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(told(*recorded.run, "cupti_problem"), "");
  EXPECT_EQ(recorded.run->devices().size(), 1U);
  EXPECT_EQ(lost(*recorded.run, Counter::sources_failed), 0U);
}

TEST(Cupti, DevicesThatAreRefusedForGoodAreSaidOnce) {
  const Folder folder;
  const Recorded recorded = play(folder, "no device", {.refuses = "8"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(std::string{told(*recorded.run, "cupti_problem")}, HasSubstr("CUPTI refuses records of kind 8"));
  EXPECT_EQ(lost(*recorded.run, Counter::sources_failed), 1U);
}

TEST(Cupti, AllocationsThatAreRefusedAreNotSaidToBeRecorded) {
  const Folder folder;
  RecordOptions options;
  options.details.add(Detail::memory);
  const Recorded recorded = play(folder, "some", {.refuses = "49"}, options);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(told(*recorded.run, "details_recorded"), "");
  EXPECT_THAT(recorded.summary.notes, Contains(HasSubstr("--memory: no allocations were recorded")));
}

TEST(Cupti, DetailsOfTheProgramAndOfCuptiAddUp) {
  const Folder folder;
  RecordOptions options;
  options.details.add(Detail::shapes);
  options.details.add(Detail::memory);
  const Recorded recorded = play(folder, "details", {}, options);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(recorded.summary.details, options.details);
  const auto& run = *recorded.run;
  for (const std::string_view said : {run.metadata("details_recorded"), told(run, "details_recorded")})
    EXPECT_EQ(details_from(said), options.details) << said;
}

TEST(Cupti, WithoutALibraryTheProgramRunsAndTheReasonIsKept) {
  const Folder folder;
  const Variable library{"RANKSCOPE_CUPTI", "/nonexistent/libcupti.so"};
  const Recorded recorded = record(folder, {program("cupti_actor"), "nothing"});
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(std::string{told(*recorded.run, "cupti_problem")}, HasSubstr("/nonexistent/libcupti.so"));
}

TEST(Cupti, WhatCannotRecordOnAHostWithoutGpuIsAFailureOnlyWhereItWasNamed) {
  if (fs::exists("/dev/nvidiactl")) GTEST_SKIP() << "this machine has a GPU";
  const Variable library{"RANKSCOPE_CUPTI", "/nonexistent/libcupti.so"};
  const auto failures = [](const std::string& collect) {
    const Folder folder;
    RecordOptions options{.command = {program("cupti_actor"), "nothing"}};
    options.collect = collect;
    const Recorded recorded = record(folder, options);
    return recorded.run ? lost(*recorded.run, Counter::sources_failed) : 99;
  };
  EXPECT_EQ(failures(""), 0U);
  EXPECT_EQ(failures("annotate,cupti"), 1U);
}

TEST(Cupti, ASourceThatIsNotAskedForIsNotLoaded) {
  const Folder folder;
  RecordOptions options;
  options.collect = "annotate,host";
  const Recorded recorded = play(folder, "nothing", {}, options);
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(told(*recorded.run, "cupti_version"), "");
}

std::string real_cupti() {
  if (const char* named = std::getenv("RANKSCOPE_TEST_CUPTI")) return named;
  for (const char* path : {"/usr/local/cuda/lib64/libcupti.so.13", "/usr/local/cuda/lib/libcupti.so.13"})
    if (fs::exists(path)) return path;
  return {};
}

TEST(Cupti, TheRealLibraryWithoutADriverIsReportedAndHarmless) {
  const std::string library = real_cupti();
  if (library.empty()) GTEST_SKIP() << "no libcupti.so.13; name one with RANKSCOPE_TEST_CUPTI";
  if (fs::exists("/dev/nvidiactl")) GTEST_SKIP() << "this machine has a driver";
  const Folder folder;
  const Variable named{"RANKSCOPE_CUPTI", library};
  const Recorded recorded = record(folder, {program("cupti_actor"), "nothing"});
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(told(*recorded.run, "cupti_library"), fs::path{library}.filename().string());
  EXPECT_THAT(std::string{told(*recorded.run, "cupti_problem")}, HasSubstr("CUPTI refused"));
}

}  // namespace
}  // namespace rankscope::collectors
