// What a trace of Kineto becomes.
#include <gmock/gmock.h>

#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "trace_text.h"

namespace rankscope {
namespace {

using testing::complete;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::on_stream;
using testing::op;
using testing::open_text;
using testing::trace;

std::string one_step() {
  return complete("user_annotation", "ProfilerStep#3", R"("pid": 7, "tid": 7, "ts": 0.5, "dur": 100)") + "," +
         op("aten::mm", 1, 20, R"({"External id": 5})") + "," +
         complete(
             "cuda_runtime", "cudaLaunchKernel",
             R"("pid": 7, "tid": 7, "ts": 2, "dur": 3, "args": {"cbid": 211, "correlation": 11, "External id": 5})") +
         "," + on_stream("kernel", "gemm", 6, 4, R"({"correlation": 11, "device": 0, "stream": 7, "grid": [1, 2, 1]})");
}

const Span& span_named(const Run& run, std::string_view name) {
  for (const Span& span : run.spans())
    if (run.text(span.name) == name) return span;
  ADD_FAILURE() << "no span " << name;
  return run.spans().front();
}

TEST(Kineto, EventsBecomeSpansOnThreadsAndStreams) {
  const auto run = open_text(trace(one_step()));
  ASSERT_TRUE(run) << run.error().message;
  const rankscope::Run& r = **run;
  EXPECT_EQ(r.info().source, "kineto");
  EXPECT_EQ(r.info().origin_unix_ns, 1700000000000000500);
  EXPECT_EQ(span_named(r, "ProfilerStep#3").kind, SpanKind::step);
  EXPECT_EQ(r.number(r.id_of(span_named(r, "ProfilerStep#3")), "index"), 3);
  EXPECT_EQ(span_named(r, "aten::mm").kind, SpanKind::op);
  EXPECT_EQ(span_named(r, "cudaLaunchKernel").kind, SpanKind::runtime);
  const Span& kernel = span_named(r, "gemm");
  EXPECT_EQ(kernel.kind, SpanKind::compute);
  EXPECT_EQ(kernel.time, (TimeRange{at(5500), at(9500)}));
  EXPECT_EQ(r.lane(kernel.lane).kind, LaneKind::stream);
  EXPECT_EQ(r.text(r.lane(kernel.lane).name), "stream 7");
  EXPECT_EQ(r.lane(kernel.lane).device, 0);
}

TEST(Kineto, LaunchesAreJoinedByCorrelation) {
  const auto run = open_text(trace(one_step()));
  ASSERT_TRUE(run) << run.error().message;
  const auto links = (*run)->links_to(LinkKind::launch, (*run)->id_of(span_named(**run, "gemm")));
  ASSERT_EQ(links.size(), 1U);
  EXPECT_EQ((*run)->text((*run)->span(links.front().from).name), "cudaLaunchKernel");
}

TEST(Kineto, ArgumentsKeepTheirNamesAndListsLoseTheirBlanks) {
  const auto run = open_text(trace(one_step()));
  ASSERT_TRUE(run) << run.error().message;
  std::ostringstream text;
  write_text(**run, text);
  EXPECT_THAT(text.str(), HasSubstr("correlation=11 grid=@\"[1,2,1]\""));
  EXPECT_THAT(text.str(), HasSubstr("\"External id\"=5"));
}

TEST(Kineto, MetadataMayFollowTheEvents) {
  const auto run =
      open_text(R"({"traceEvents": [)" + op("a", 1, 2) +
                R"(], "distributedInfo": {"rank": 6, "world_size": 8}, "baseTimeNanoseconds": 1700000000000000000})");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_THAT((*run)->ranks(), ElementsAre(RankId{6}));
  EXPECT_EQ((*run)->info().world_size, 8);
  EXPECT_EQ((*run)->info().origin_unix_ns, 1700000000000001000);
}

TEST(Kineto, ABareListOfEventsIsATrace) {
  const auto run = open_text("[" + op("a", 1, 2) + "]");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_THAT(testing::span_names(**run), ElementsAre("a"));
  EXPECT_EQ((*run)->quality().of(Counter::time_origin_unknown), 1U);
  EXPECT_EQ((*run)->quality().of(Counter::rank_unknown), 1U);
}

TEST(Kineto, IntegersAboveTheLargestAreKeptAsTheyAre) {
  const auto run = open_text(trace(op("a", 1, 2, R"({"Comms Id": 10159970886766084423})")));
  ASSERT_TRUE(run) << run.error().message;
  std::ostringstream text;
  write_text(**run, text);
  EXPECT_THAT(text.str(), HasSubstr("\"Comms Id\"=@\"10159970886766084423\""));
}

TEST(Kineto, CollectiveKernelsTakeWhatTheHostSaidOfThem) {
  const auto run = open_text(trace(
      op("record_param_comms", 1, 20,
         R"({"Collective name": "_allgather_base", "dtype": "BFloat16", "In msg nelems": 100, "Out msg nelems": 200,
             "Group size": 2, "Process Group Name": "3", "Global rank start": 0, "Global rank stride": 4, "Seq": 9})") +
      "," +
      complete("cuda_runtime", "cudaLaunchKernel",
               R"("pid": 7, "tid": 7, "ts": 5, "dur": 3, "args": {"correlation": 11})") +
      "," +
      on_stream("kernel", "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 30, 4,
                R"({"correlation": 11})")));
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ((*run)->collectives().size(), 1U);
  const Collective& row = (*run)->collectives().front();
  EXPECT_EQ((*run)->text(row.op), "allgather");
  EXPECT_EQ((*run)->text(row.dtype), "bf16");
  EXPECT_EQ(row.bytes, 200);
  EXPECT_EQ(row.sequence, 9);
  EXPECT_EQ((row.started - row.enqueued).count(), 25000);
  EXPECT_THAT((*run)->groups()[row.group.index()].members, ElementsAre(RankId{0}, RankId{4}));
  EXPECT_EQ((*run)->span(row.span).kind, SpanKind::comm);
}

TEST(Kineto, AKernelWithoutArgumentsIsNamedByItsRangeAndHasNoGroup) {
  const std::pair<const char*, const char*> ranges[] = {{"nccl:all_to_all", "alltoall"},
                                                        {"nccl:_all_gather_base", "allgather"},
                                                        {"nccl:all_reduce", "allreduce"},
                                                        {"aten::copy_", "sendrecv"}};
  for (const auto& [range, op] : ranges) {
    const auto run = open_text(trace(
        complete("user_annotation", range, R"("pid": 7, "tid": 7, "ts": 1, "dur": 9)") + "," +
        complete("cuda_runtime", "cudaLaunchKernel",
                 R"("pid": 7, "tid": 7, "ts": 5, "dur": 3, "args": {"correlation": 11})") +
        "," + on_stream("kernel", "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", 30, 4, R"({"correlation": 11})")));
    ASSERT_TRUE(run) << run.error().message;
    ASSERT_EQ((*run)->collectives().size(), 1U);
    EXPECT_EQ((*run)->text((*run)->collectives().front().op), op);
    EXPECT_FALSE((*run)->collectives().front().group.is_set());
    EXPECT_EQ((*run)->quality().of(Counter::no_comm_args), 1U);
  }
}

TEST(Kineto, AllocatorEventsBecomeMarksAndTotals) {
  const auto memory = [](int time, int order, int bytes, int total) {
    return R"({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 7, "tid": 7, "ts": )" +
           std::to_string(time) + R"(, "args": {"Device Type": 1, "Device Id": 0, "Addr": 140000000000000, "Bytes": )" +
           std::to_string(bytes) + R"(, "Total Allocated": )" + std::to_string(total) +
           R"(, "Total Reserved": 4096, "Ev Idx": )" + std::to_string(order) + "}}";
  };
  const auto run = open_text(trace(memory(5, 2, -8, 24) + "," + memory(5, 1, 16, 32) + "," + op("a", 1, 9)));
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->marks().size(), 2U);
  ASSERT_EQ((*run)->counters().size(), 2U);
  EXPECT_EQ((*run)->text((*run)->counters()[0].name), "allocated_bytes");
  const auto samples = (*run)->samples_of((*run)->counters()[0]);
  EXPECT_EQ(samples[0].value, 32);
  EXPECT_EQ(samples[1].value, 24);
}

TEST(Kineto, ForwardOperatorsAreLinkedToBackward) {
  const auto flow = [](const char* phase, int tid, int time) {
    return R"({"ph": ")" + std::string{phase} + R"(", "cat": "fwdbwd", "name": "fwdbwd", "id": 4, "pid": 7, "tid": )" +
           std::to_string(tid) + R"(, "ts": )" + std::to_string(time) + "}";
  };
  const auto run = open_text(trace(op("aten::mm", 1, 2) + "," + flow("s", 7, 1) + "," +
                                   complete("cpu_op", "MmBackward0", R"("pid": 7, "tid": 8, "ts": 6, "dur": 3)") + "," +
                                   flow("f", 8, 6)));
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ((*run)->links().size(), 1U);
  EXPECT_EQ((*run)->links().front().kind, LinkKind::forward_backward);
  EXPECT_EQ((*run)->text((*run)->span((*run)->links().front().to).name), "MmBackward0");
}

TEST(Kineto, DevicesKeepTheirProperties) {
  const auto run = open_text(trace(op("a", 1, 2), R"("deviceProperties": [{"id": 0, "name": "H100", "numSms": 132}])"));
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ((*run)->devices().size(), 1U);
  EXPECT_EQ((*run)->text((*run)->devices().front().name), "H100");
}

TEST(Kineto, UnknownBlocksAndSecretsAreDroppedAndCounted) {
  const auto run = open_text(trace(op("a", 1, 2), R"("environment": {"HOME": "/root"}, "extra": [1, 2],
          "launch": {"HF_TOKEN": "x"}, "log": "export AWS_SECRET_ACCESS_KEY=abc", "tokenizer": "gpt2")"));
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->quality().of(Counter::secrets_dropped), 3U);
  ASSERT_EQ((*run)->info().places.size(), 3U);
  EXPECT_THAT((*run)->info().places[0].where, HasSubstr("trace.json: ")) << "the name of the block, nothing of it";
  EXPECT_EQ((*run)->quality().of(Counter::blocks_dropped), 2U);
  std::ostringstream text;
  write_text(**run, text);
  EXPECT_THAT(text.str(), ::testing::Not(HasSubstr("/root")));
}

TEST(Kineto, RanksWithDifferentBaseTimesShareOneAxis) {
  const testing::TraceFolder folder;
  folder.write("rank0.json",
               R"({"baseTimeNanoseconds": 1700000000000000000, "traceEvents": [)" + op("a", 10, 2) + "]}");
  folder.write("rank1.json", R"({"baseTimeNanoseconds": 1700000000000004000, "traceEvents": [)" + op("b", 8, 2) + "]}");
  const auto run = folder.open();
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_THAT((*run)->ranks(), ElementsAre(RankId{0}, RankId{1}));
  EXPECT_EQ(span_named(**run, "a").time.begin, at(0));
  EXPECT_EQ(span_named(**run, "b").time.begin, at(2000));
  EXPECT_EQ((*run)->quality().of(Counter::base_time_differs), 1U);
}

std::string of_world(int rank, int size, std::string_view base, std::string_view members = "") {
  return "{\"schemaVersion\": 1, \"baseTimeNanoseconds\": " + std::string{base} +
         ", \"distributedInfo\": {\"rank\": " + std::to_string(rank) + ", \"world_size\": " + std::to_string(size) +
         "}, " + std::string{members} + "\"traceEvents\": [" + op("aten::mm", 1, 20) + "]}";
}

std::vector<std::string> mixed_jobs(const std::string& first, const std::string& second) {
  const testing::TraceFolder folder;
  folder.write("a.json", first);
  folder.write("b.json", second);
  const auto run = folder.open();
  std::vector<std::string> reasons;
  if (!run) return {run.error().message};
  for (const QualityPlace& place : (*run)->info().places)
    if (place.counter == Counter::jobs_mixed) reasons.push_back(place.where);
  EXPECT_EQ((*run)->quality().of(Counter::jobs_mixed), reasons.size());
  return reasons;
}

TEST(Kineto, FilesThatCannotBeOfOneJobAreNamed) {
  const std::string first = of_world(0, 4, "1700000000000000000");
  EXPECT_THAT(mixed_jobs(first, of_world(1, 4, "1700000030000000000")), ElementsAre());
  EXPECT_THAT(mixed_jobs(first, of_world(1, 8, "1700000000000000000")),
              ElementsAre("b.json belongs to a job of 8 ranks, a.json to a job of 4 ranks"));
  EXPECT_THAT(mixed_jobs(first, of_world(1, 4, "1700200000000000000")),
              ElementsAre("a.json and b.json were recorded more than 2 days apart"));
  EXPECT_THAT(mixed_jobs(of_world(0, 4, "1700000000000000000", R"("PT_PROFILER_JOB_NAME": "x", )"),
                         of_world(1, 4, "1700000000000000000", R"("PT_PROFILER_JOB_NAME": "y", )")),
              ElementsAre("b.json belongs to job y, a.json to job x"));
}

}  // namespace
}  // namespace rankscope
