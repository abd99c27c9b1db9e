#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "rankscope/analyzer/export.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/text.h"
#include "support/temporary_folder.h"

namespace rankscope::analyzer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using Json = nlohmann::json;
using testing::read_file;
using testing::TemporaryFolder;

Result<void> export_tensorboard(const Run& run, const std::filesystem::path& out, const Progress& progress = {}) {
  for (const auto& row : exports()) {
    if (row.id == "tensorboard") return row.write(run, out, progress);
  }
  return fail(ErrorKind::usage, "no export named tensorboard");
}

/// The files of an export by name.
std::map<std::string, Json> files_of(const std::string& run_text) {
  const auto run = run_from_text(run_text);
  EXPECT_TRUE(run) << run.error().message;
  const TemporaryFolder folder;
  const auto written = export_tensorboard(**run, folder / "out");
  EXPECT_TRUE(written) << written.error().message;
  std::map<std::string, Json> files;
  for (const auto& entry : std::filesystem::directory_iterator{folder / "out"})
    if (entry.path().extension() == ".json") files[entry.path().filename()] = Json::parse(read_file(entry.path()));
  return files;
}

/// The complete events of the only or first rank.
std::vector<Json> events_of(const std::string& run_text) {
  std::vector<Json> found;
  const auto files = files_of(run_text);
  const Json& trace = files.begin()->second;
  for (const auto& event : trace.at("traceEvents"))
    if (event.at("ph") == "X") found.push_back(event);
  return found;
}

Json named(const std::vector<Json>& events, const std::string& name) {
  for (const auto& event : events)
    if (event.at("name") == name) return event;
  ADD_FAILURE() << "no event " << name;
  return {};
}

/// Two ranks, one step, an all-reduce on the stream each, launched from an NCCL call inside an operator.
const std::string gpu_run =
    "@run world_size=2 origin_unix=1700000000123456789\n"
    "@rank 0 pid=1000 host=n0\n@device 0 0 name=H200 meta.computeMajor=9 meta.numSms=132\n"
    "@rank 1 pid=1001 host=n0\n@device 1 0 name=H200 meta.computeMajor=9 meta.numSms=132\n"
    "@group world 0,1\n"
    "@lane 0 \"stream 7\" kind=stream number=7 device=0\n@lane 1 \"stream 7\" kind=stream number=7 device=0\n"
    "0 step 0 1000 s index=4\n0 op 10 100 aten::mm \"Input Dims\"=@\"[[2,3],[3,4]]\"\n0 runtime 20 30 "
    "cudaLaunchKernel\n"
    "0 op 200 300 c10d::allreduce_\n0 api 210 290 nccl:all_reduce\n0 runtime 220 230 cudaLaunchKernelExC\n"
    "0 compute 50 90 ampere_sgemm grid=@\"[1,2,3]\" lane=\"stream 7\"\n"
    "0 comm 240 700 ncclDevKernel_AllReduce group=world seq=1 op=allreduce bytes=64 dtype=f32 lane=\"stream 7\"\n"
    "@link launch 2 6\n@link launch 5 7\n"
    "1 step 0 1000 s index=4\n1 op 500 600 c10d::allreduce_\n1 api 510 590 nccl:all_reduce\n"
    "1 runtime 520 530 cudaLaunchKernelExC\n"
    "1 comm 540 700 ncclDevKernel_AllReduce group=world seq=1 op=allreduce bytes=64 dtype=f32 lane=\"stream 7\"\n"
    "@link launch 11 12\n";

TEST(Tensorboard, EachRankIsAWorkerWithItsHostAndTheSameTime) {
  std::vector<std::string> names;
  for (const auto& [name, file] : files_of(gpu_run)) {
    names.push_back(name);
    EXPECT_EQ(file.at("schemaVersion"), 1);
    EXPECT_EQ(file.at("distributedInfo").at("backend"), "nccl");
    EXPECT_EQ(file.at("distributedInfo").at("world_size"), 2);
    EXPECT_EQ(file.at("deviceProperties").at(0).at("computeMajor"), 9);
  }
  EXPECT_THAT(names, ElementsAre("n0_0.1700000000123.pt.trace.json", "n0_1.1700000000123.pt.trace.json"));
}

TEST(Tensorboard, EveryEventHasWhatThePluginReads) {
  const auto files = files_of(gpu_run);
  ASSERT_EQ(files.size(), 2U);
  for (const auto& [name, file] : files) {
    ASSERT_FALSE(file.at("traceEvents").empty()) << name;
    for (const auto& event : file.at("traceEvents")) {
      EXPECT_TRUE(event.at("name").is_string()) << event;
      if (event.at("ph") != "X") continue;
      EXPECT_TRUE(event.at("cat").is_string() && event.at("ts").is_number() && event.at("dur").is_number()) << event;
      EXPECT_NE(event.at("cat"), "gpu_user_annotation");
    }
  }
}

TEST(Tensorboard, AKernelBelongsToTheOperatorAroundItsLaunch) {
  const auto events = events_of(gpu_run);
  const auto operation = named(events, "aten::mm").at("args");
  const auto call = named(events, "cudaLaunchKernel");
  const auto kernel = named(events, "ampere_sgemm");
  EXPECT_EQ(call.at("cat"), "runtime");
  EXPECT_EQ(kernel.at("cat"), "kernel");
  EXPECT_EQ(kernel.at("args").at("External id"), operation.at("External id"));
  EXPECT_EQ(call.at("args").at("External id"), operation.at("External id"));
  EXPECT_EQ(kernel.at("args").at("correlation"), call.at("args").at("correlation"));
  EXPECT_EQ(kernel.at("args").at("device"), 0);
  EXPECT_EQ(kernel.at("pid"), 0);
  EXPECT_EQ(kernel.at("args").at("grid"), Json::parse("[1,2,3]"));
  EXPECT_EQ(operation.at("Input Dims"), Json::parse("[[2,3],[3,4]]"));
}

TEST(Tensorboard, ACommunicationKernelBelongsToTheNcclCallNotToTheOperator) {
  const auto events = events_of(gpu_run);
  const auto call = named(events, "nccl:all_reduce");
  const auto kernel = named(events, "ncclDevKernel_AllReduce");
  EXPECT_EQ(call.at("cat"), "user_annotation");
  EXPECT_EQ(kernel.at("args").at("External id"), call.at("args").at("External id"));
  EXPECT_EQ(named(events, "cudaLaunchKernelExC").at("args").at("External id"), call.at("args").at("External id"));
  EXPECT_EQ(call.at("args").at("Input Dims"), Json::parse("[[16]]"));
  EXPECT_EQ(call.at("args").at("Input type"), Json::parse("[\"float\"]"));
}

TEST(Tensorboard, StepsAreProfilerStepsWithTheirNumber) {
  const auto step = named(events_of(gpu_run), "ProfilerStep#4");
  EXPECT_EQ(step.at("cat"), "user_annotation");
}

TEST(Tensorboard, WithoutAnNcclCallARangeIsAddedForTheKernel) {
  std::string text = gpu_run;
  for (const std::string line : {"0 api 210 290 nccl:all_reduce\n", "1 api 510 590 nccl:all_reduce\n"}) {
    text.replace(text.find(line), line.size(), line.substr(0, 1) + " user 999 1000 other\n");
  }
  const auto events = events_of(text);
  EXPECT_EQ(named(events, "ncclDevKernel_AllReduce").at("args").at("External id"),
            named(events, "nccl:all_reduce").at("args").at("External id"));
}

/// Names of the communication nodes of each rank.
std::vector<std::vector<std::string>> nodes_of(const std::string& run_text) {
  const std::set<std::string> known{"gloo:all_reduce", "gloo:all_gather", "gloo:broadcast", "gloo:reduce",
                                    "gloo:reduce_scatter"};
  std::vector<std::vector<std::string>> nodes;
  for (const auto& [name, file] : files_of(run_text)) {
    nodes.emplace_back();
    for (const auto& event : file.at("traceEvents"))
      if (known.contains(event.at("name").get<std::string>())) nodes.back().push_back(event.at("name"));
  }
  return nodes;
}

TEST(Tensorboard, CollectivesOfACpuRunAreGloosWithTheNearestKnownName) {
  const auto nodes = nodes_of(
      "@group dp 0,1\n0 comm 0 5 allreduce group=dp\n1 comm 1 5 allreduce group=dp\n"
      "0 comm 10 15 alltoall group=dp\n1 comm 11 15 alltoall group=dp\n");
  EXPECT_THAT(nodes, ElementsAre(ElementsAre("gloo:all_reduce", "gloo:all_gather"),
                                 ElementsAre("gloo:all_reduce", "gloo:all_gather")));
}

TEST(Tensorboard, WhereRanksCommunicateDifferentlyOnlyWhatAllDidCounts) {
  const auto nodes = nodes_of(
      "@group world 0,1,2\n@group pair 0,1\n"
      "0 comm 0 5 allreduce group=world\n1 comm 1 5 allreduce group=world\n2 comm 1 5 allreduce group=world\n"
      "0 comm 10 15 broadcast group=pair\n1 comm 11 15 broadcast group=pair\n");
  EXPECT_THAT(nodes, ElementsAre(ElementsAre("gloo:all_reduce"), ElementsAre("gloo:all_reduce"),
                                 ElementsAre("gloo:all_reduce")));
}

TEST(Tensorboard, CommunicationOutsideOfStepsIsNoNode) {
  const auto nodes = nodes_of(
      "@group dp 0,1\n0 step 100 200 s index=0\n1 step 100 200 s index=0\n"
      "0 comm 0 5 allreduce group=dp\n1 comm 1 5 allreduce group=dp\n"
      "0 comm 110 150 allreduce group=dp\n1 comm 120 150 allreduce group=dp\n");
  EXPECT_THAT(nodes, ElementsAre(ElementsAre("gloo:all_reduce"), ElementsAre("gloo:all_reduce")));
}

TEST(Tensorboard, DataLoadingAndTheOptimizerHaveTheNamesThePluginKnows) {
  std::set<std::string> names;
  for (const auto& event : events_of("0 data 0 5 next\n0 optimizer 5 9 sgd\n0 step 0 10 s index=0\n"))
    names.insert(event.at("cat").get<std::string>() + " " + event.at("name").get<std::string>());
  EXPECT_THAT(names, UnorderedElementsAre("cpu_op enumerate(DataLoader)#next.__next__", "cpu_op Optimizer.step#sgd",
                                          "user_annotation ProfilerStep#0", "Trace PyTorch Profiler (0)"));
}

TEST(Tensorboard, OperatorsOfOneThreadNest) {
  std::map<std::int64_t, std::vector<std::pair<double, double>>> threads;
  for (const auto& event : events_of("0 op 0 100 a\n0 op 50 150 b\n0 op 60 70 c\n")) {
    if (event.at("cat") != "cpu_op") continue;
    const double begin = event.at("ts");
    threads[event.at("tid")].emplace_back(begin, begin + event.at("dur").get<double>());
  }
  EXPECT_EQ(threads.size(), 2U);
}

std::vector<Json> memory_of(const std::string& run_text) {
  std::vector<Json> found;
  const auto files = files_of(run_text);
  for (const auto& event : files.begin()->second.at("traceEvents"))
    if (event.at("name") == "[memory]") found.push_back(event.at("args"));
  return found;
}

TEST(Tensorboard, AllocationsAreTakenFromTheCounterWhereNothingBetterIsKnown) {
  const auto events = memory_of(
      "0 op 0 50 a\n0 counter 10 1000 allocated_bytes\n0 counter 20 1000 allocated_bytes\n"
      "0 counter 30 400 allocated_bytes\n");
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].at("Bytes"), 1000);
  EXPECT_EQ(events[0].at("Device Type"), 0);
  EXPECT_EQ(events[0].at("Device Id"), -1);
  EXPECT_EQ(events[1].at("Bytes"), -600);
  EXPECT_EQ(events[1].at("Total Allocated"), 400);
  EXPECT_EQ(events[1].at("Total Reserved"), 400);
}

TEST(Tensorboard, RecordedAllocationsPassAsTheyAre) {
  const auto events = memory_of(
      "0 op 0 50 a\n0 counter 10 1000 allocated_bytes\n"
      "0 mark 10 [memory] Bytes=1000 Addr=77 \"Device Type\"=1 \"Device Id\"=0\n");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].at("Addr"), 77);
}

TEST(Tensorboard, ARunWithoutRanksSaysSo) {
  const auto run = run_from_text("@process - pid=7\n- op 0 10 a\n");
  const TemporaryFolder folder;
  const auto written = export_tensorboard(**run, folder / "out");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::not_computable);
}

TEST(Tensorboard, AFolderWithOtherFilesIsNotTouched) {
  const auto run = run_from_text("0 op 0 50 a\n");
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "out");
  std::ofstream{folder / "out/thesis.tex"} << "x";
  const auto written = export_tensorboard(**run, folder / "out");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::cannot_write);
  EXPECT_TRUE(std::filesystem::exists(folder / "out/thesis.tex"));
  EXPECT_EQ(folder.file_count(), 1U);
}

TEST(Tensorboard, AnEarlierExportIsReplacedAndACancelledOneLeavesIt) {
  const auto earlier = run_from_text("@rank 0 host=old\n0 op 0 50 a\n");
  const auto run = run_from_text("@rank 0 host=n0\n0 op 0 50 a\n");
  const TemporaryFolder folder;
  ASSERT_TRUE(export_tensorboard(**earlier, folder / "out"));
  const auto old = folder / "out/old_0.0000000000000.pt.trace.json";
  ASSERT_TRUE(std::filesystem::exists(old));
  const auto cancelled = export_tensorboard(**run, folder / "out", [](double) { return false; });
  ASSERT_FALSE(cancelled);
  EXPECT_TRUE(std::filesystem::exists(old));
  ASSERT_TRUE(export_tensorboard(**run, folder / "out"));
  EXPECT_FALSE(std::filesystem::exists(old));
  EXPECT_TRUE(std::filesystem::exists(folder / "out/n0_0.0000000000000.pt.trace.json"));
  EXPECT_EQ(folder.file_count(), 1U);
}

TEST(Tensorboard, AFolderOfOtherTracesIsNotReplaced) {
  const auto run = run_from_text("@rank 0 host=n0\n0 op 0 50 a\n");
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "out");
  std::ofstream{folder / "out/mine_0.1.pt.trace.json"} << "{}";
  const auto written = export_tensorboard(**run, folder / "out");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("contains mine_0.1.pt.trace.json, which no rankscope export wrote"),
            std::string::npos)
      << written.error().message;
  EXPECT_EQ(read_file(folder / "out/mine_0.1.pt.trace.json"), "{}");
}

TEST(Tensorboard, AFolderOfOursIsNotReplacedOnceSomebodyPutAFileIntoIt) {
  const auto run = run_from_text("@rank 0 host=n0\n0 op 0 50 a\n");
  const TemporaryFolder folder;
  ASSERT_TRUE(export_tensorboard(**run, folder / "out"));
  std::ofstream{folder / "out/notes.txt"} << "mine";
  const auto again = export_tensorboard(**run, folder / "out");
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("contains notes.txt"), std::string::npos) << again.error().message;
  EXPECT_EQ(read_file(folder / "out/notes.txt"), "mine");
  std::filesystem::remove(folder / "out/notes.txt");
  EXPECT_TRUE(export_tensorboard(**run, folder / "out"));
}

}  // namespace
}  // namespace rankscope::analyzer
