// Runs that are no Kineto traces, exported as one and opened again: nothing that a report reads may be lost.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "rankscope/analyzer/export.h"
#include "rankscope/analyzer/open.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "support/temporary_folder.h"

namespace rankscope::analyzer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TemporaryFolder;

std::shared_ptr<const Run> run_of(std::string_view text) {
  const auto run = run_from_text(text);
  EXPECT_TRUE(run) << run.error().message;
  return run ? *run : nullptr;
}

Result<void> export_kineto(const Run& run, const std::filesystem::path& out) {
  const auto all = exports();
  const auto kineto = std::ranges::find(all, "kineto", &ExportInfo::id);
  return kineto->write(run, out, {});
}

/// The run as it comes back.
std::shared_ptr<const Run> sent_around(const Run& run) {
  const TemporaryFolder folder;
  const auto written = export_kineto(run, folder / "out");
  EXPECT_TRUE(written) << written.error().message;
  const auto again = open_run(folder / "out");
  EXPECT_TRUE(again) << again.error().message;
  return again ? *again : nullptr;
}

/// All that is recorded of a collective, as one line.
std::vector<std::string> collectives_of(const Run& run) {
  std::vector<std::string> rows;
  const auto time = [](RunTime moment) { return std::to_string(ns_of(moment)); };
  const auto lane = [&run](LaneId id) { return id.is_set() ? std::string{run.text(run.lane(id).name)} : "-"; };
  for (const Collective& row : run.collectives())
    rows.push_back(std::to_string(row.rank.value) + " " + std::string{run.text(row.op)} + " of " +
                   (row.group.is_set() ? std::string{run.text(run.groups()[row.group.index()].name)} : "-") + " #" +
                   std::to_string(row.sequence) + " " + std::to_string(row.bytes) + " " +
                   std::string{run.text(row.dtype)} + " peer " + std::to_string(row.peer) + " state " +
                   std::to_string(static_cast<int>(row.state)) + " at " + time(row.enqueued) + " " +
                   (row.state == CommState::enqueued ? "-" : time(row.started)) + " " +
                   (row.state == CommState::finished ? time(row.finished) : "-") + " on " + lane(row.lane) + " from " +
                   lane(row.enqueued_on) + (row.span.is_set() ? " with span" : ""));
  return rows;
}

std::vector<std::string> kinds_of(const Run& run) {
  std::vector<std::string> kinds;
  for (const Span& span : run.spans())
    if (run.text(span.name) != "record_param_comms")
      kinds.push_back(std::string{name_of(span.kind)} + " cut " + std::to_string(span.flags));
  return kinds;
}

/// Each span with its lane.
std::vector<std::string> lanes_of(const Run& run) {
  std::vector<std::string> lanes;
  for (const Span& span : run.spans())
    if (run.text(span.name) != "record_param_comms")
      lanes.push_back(std::string{run.text(run.lane(span.lane).name)} + " " + std::to_string(ns_of(span.time.begin)));
  std::ranges::sort(lanes);
  return lanes;
}

constexpr std::string_view native =
    "@run source=rankscope world_size=2 clock=wall_clock clock_error=777 origin_unix=1700000000000000000\n"
    "@group dp 0,1\n"
    "@rank 0 pid=7 host=n0 local_rank=0 recorded=0:1000 ended=exited:0\n"
    "0 step 0 1000 step index=0\n"
    "0 forward 0 300 forward\n"
    "0 wait 300 500 wait\n"
    "0 comm 310 500 allreduce group=dp seq=4 bytes=400 dtype=f32 enqueued=305 on=main\n"
    "0 backward 500 900 backward cut=end\n"
    "0 comm 950 - allreduce group=dp seq=5 bytes=400 dtype=f32 on=main\n"
    "0 user 960 970 nccl:mine\n"
    "@rank 1 pid=8 host=n1 local_rank=0 recorded=0:800 ended=vanished:0\n"
    "1 step 0 800 step index=0\n"
    "1 comm 320 500 allreduce group=dp seq=4 bytes=400 dtype=f32 enqueued=320 on=main\n";

TEST(KinetoExport, ANativeRunComesBackWithItsKindsCollectivesAndClock) {
  const auto run = run_of(native);
  const auto again = sent_around(*run);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(collectives_of(*again), collectives_of(*run));
  EXPECT_EQ(kinds_of(*again), kinds_of(*run));
  EXPECT_EQ(again->info().clock, run->info().clock);
  EXPECT_EQ(again->info().source, "rankscope");
  EXPECT_EQ(again->info().origin_unix_ns, run->info().origin_unix_ns);
  EXPECT_EQ(again->quality(), run->quality());
  EXPECT_EQ(again->processes()[1].ending, Ending::vanished);
  EXPECT_EQ(again->processes()[1].recorded, run->processes()[1].recorded);
  EXPECT_EQ(collectives_of(*sent_around(*again)), collectives_of(*run)) << "a second time";
}

TEST(KinetoExport, AStepThatWasCutOffBeforeItHadANumberComesBackWithoutOne) {
  const auto run = run_of("0 step 0 100 step index=7\n0 step 100 150 step index=-1\n");
  const auto again = sent_around(*run);
  ASSERT_NE(again, nullptr);
  ASSERT_EQ(again->spans().size(), 2U);
  EXPECT_EQ(again->number(again->id_of(again->spans()[0]), "index"), 7);
  EXPECT_EQ(again->number(again->id_of(again->spans()[1]), "index"), -1);
}

TEST(KinetoExport, SendsAndReceivesOfOneKernelComeBack) {
  const auto run = run_of(
      "@run source=nsys world_size=2 clock=same_host clock_error=5000\n@group pp 0,1\n"
      "@rank 0 pid=7\n@lane 0 \"stream 7\" kind=stream number=7 device=0\n"
      "0 comm 100 200 ncclDevKernel_SendRecv group=pp op=alltoall bytes=64 enqueued=90 lane=\"stream 7\" on=main\n"
      "0 op 0 95 aten::x\n"
      "@rank 1 pid=8\n1 op 80 95 aten::x\n");
  const auto again = sent_around(*run);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(collectives_of(*again), collectives_of(*run));
  EXPECT_EQ(again->info().clock, run->info().clock) << "of an export that does not say when it was recorded";
  EXPECT_EQ(again->quality().of(Counter::time_origin_unknown), 0U);
  EXPECT_EQ(again->extent(), run->extent());
}

TEST(KinetoExport, ACollectiveThatStartsBeforeItIsEnqueuedComesBackAsEnqueuedThen) {
  const auto again = sent_around(
      *run_of("@group dp 0,1\n0 op 0 400 x\n0 comm 310 500 allreduce group=dp seq=4 bytes=400 enqueued=320 on=main\n"));
  ASSERT_NE(again, nullptr);
  ASSERT_EQ(again->collectives().size(), 1U);
  EXPECT_EQ(again->collectives()[0].enqueued, at(310));
  EXPECT_TRUE(again->collectives()[0].span.is_set());
}

TEST(KinetoExport, ThreadsThatAUserNamedLikeThoseOfKinetoComeBack) {
  const auto run = run_of(
      "@group dp 0,1\n@rank 0 pid=7\n"
      "0 forward 0 300 forward lane=profiler\n0 overhead 310 320 flush lane=main\n"
      "0 comm 310 500 allreduce group=dp seq=4 enqueued=305 on=\"profiler overhead\" lane=profiler\n"
      "0 wait 300 500 wait lane=\"profiler overhead\"\n");
  const auto again = sent_around(*run);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(collectives_of(*again), collectives_of(*run));
  EXPECT_EQ(kinds_of(*again), kinds_of(*run));
  EXPECT_EQ(lanes_of(*again), lanes_of(*run));
}

TEST(KinetoExport, StreamsOfOneDeviceAndNumberStayApart) {
  const auto run = run_of(
      "@rank 0 pid=7\n@lane 0 first kind=stream number=7 device=0\n@lane 0 second kind=stream number=7 device=0\n"
      "0 compute 0 300 a lane=first\n0 compute 100 200 b lane=second\n");
  const auto again = sent_around(*run);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(lanes_of(*again), lanes_of(*run));
}

TEST(KinetoExport, CallsKeepTheirKindBesideACategoryThatKinetoLacks) {
  const auto run = run_of(
      "@run source=nsys\n@rank 0 pid=7\n0 runtime 0 50 ioctl lane=main cat=os_runtime\n"
      "0 runtime 60 70 cuInit lane=main cat=cuda_driver\n0 api 80 90 MPI_Barrier lane=main cat=mpi\n"
      "0 user 91 92 mine lane=main cat=kernel\n");
  const auto again = sent_around(*run);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(kinds_of(*again), kinds_of(*run));
  EXPECT_EQ(lanes_of(*again), lanes_of(*run));
  EXPECT_EQ(again->quality().of(Counter::categories_unknown), 0U);
}

TEST(KinetoExport, TwoCallsOfOneNumberAreNoErrorOfTheExport) {
  const auto run = run_of(
      "@run source=nsys\n@rank 0 pid=7\n0 runtime 0 50 cudaMemcpy lane=main correlation=5\n"
      "0 runtime 10 40 cuMemcpy lane=main correlation=5\n0 runtime 70 80 cudaLaunchKernel lane=main\n"
      "0 memory 60 90 Memcpy correlation=5\n0 compute 100 110 gemm\n"
      "@link launch 0 3\n@link launch 2 4\n");
  const auto again = sent_around(*run);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->quality(), run->quality());
  EXPECT_EQ(again->links().size(), run->links().size());
}

TEST(KinetoExport, TimesCountFromWhereTheyDidThoughWhatStoodThereIsLeftOut) {
  const auto run = run_of(
      "@run origin_unix=1700000000000000000\n@rank - pid=3 program=launcher\n- user 0 10 launch\n"
      "@rank 0 pid=7\n0 op 200 400 x\n");
  const auto again = sent_around(*run);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->extent(), (TimeRange{at(200), at(400)}));
  EXPECT_EQ(again->info().origin_unix_ns, run->info().origin_unix_ns);
}

TEST(KinetoExport, AGroupWithoutMembersComesBack) {
  const auto run = run_of("@group dp \"\"\n0 comm 310 500 allreduce group=dp members=\"\" seq=4\n");
  const auto again = sent_around(*run);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(collectives_of(*again), collectives_of(*run));
}

TEST(KinetoExport, SeveralRanksAreAFolderAndNeverOneNamedLikeAFile) {
  const TemporaryFolder folder;
  const auto refused = export_kineto(*run_of(native), folder / "out.json");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  EXPECT_THAT(refused.error().message, HasSubstr("out.json"));
  EXPECT_THAT(refused.error().message, HasSubstr("write to the folder"));
  EXPECT_EQ(folder.file_count(), 0U);
}

/// Why the second of two exports is of another job than the first: one rank of each is opened.
std::vector<std::string> mixed(const Run& first, const Run& second) {
  const TemporaryFolder folder;
  EXPECT_TRUE(export_kineto(first, folder / "a"));
  EXPECT_TRUE(export_kineto(second, folder / "b"));
  const std::array files{folder / "a" / "rank-0.json", folder / "b" / "rank-1.json"};
  const auto run = open_run(files, {});
  EXPECT_TRUE(run) << run.error().message;
  std::vector<std::string> reasons;
  for (const QualityPlace& place : (*run)->info().places)
    if (place.counter == Counter::jobs_mixed) reasons.push_back(place.where);
  EXPECT_EQ((*run)->quality().of(Counter::jobs_mixed), reasons.size());
  return reasons;
}

TEST(KinetoExport, FilesOfTwoRecordingsAreNotTakenForOneJob) {
  const auto recorded = [](std::string_view facts) {
    return run_of("@run " + std::string{facts} + "\n0 op 0 9 a\n1 op 0 9 a\n");
  };
  const auto first = recorded("origin_unix=1700000000000000000 meta.command=train");
  EXPECT_THAT(mixed(*first, *first), IsEmpty());
  EXPECT_THAT(mixed(*first, *recorded("origin_unix=1700000000000000000 meta.command=other")),
              ElementsAre("rank-1.json and rank-0.json were exported from different recordings"));
  EXPECT_THAT(mixed(*first, *recorded("origin_unix=1700000060000000000 meta.command=train")),
              ElementsAre("rank-1.json and rank-0.json were exported from different recordings"))
      << "the same command, a minute later";
}

TEST(KinetoExport, NumbersThatJsonLacksAreTexts) {
  const auto run = run_of("0 op 0 9 x dims=@\"[[1,NaN],[-Infinity,\\\"NaN\\\"]]\"\n");
  const TemporaryFolder folder;
  ASSERT_TRUE(export_kineto(*run, folder / "out.json"));
  const std::string text = testing::read_file(folder / "out.json");
  ASSERT_TRUE(nlohmann::json::accept(text)) << text;
  EXPECT_THAT(text, HasSubstr(R"("dims": [[1,"NaN"],["-Infinity","NaN"]])"));
}

}  // namespace
}  // namespace rankscope::analyzer
