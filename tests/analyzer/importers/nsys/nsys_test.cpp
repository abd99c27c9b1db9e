#include "importers/nsys/nsys.h"

#include <gmock/gmock.h>

#include "alignment/align.h"
#include "importers/nsys/nsys_export.h"
#include "rankscope/core/model/run.h"
#include "support/temporary_folder.h"

namespace rankscope::analyzer {
namespace {

using namespace rankscope::testing;  // NOLINT: the builders of rows
using ::testing::HasSubstr;

/// The Run of one export that holds these rows.
std::shared_ptr<const Run> run_of(const std::string& rows) {
  const TemporaryFolder folder;
  run_sql(folder / "a.sqlite", modern_tables + rows);
  const auto run = read_export(folder / "a.sqlite");
  EXPECT_TRUE(run) << run.error().message;
  return run ? *run : nullptr;
}

std::string thread_of(std::int64_t pid) { return std::to_string(thread_id(pid, 1000 + pid)); }

TEST(Nsys, KernelsLieOnStreamsOfTheirProcessWithWhatIsKnownOfThem) {
  const auto run = run_of(insert(Kernel{.begin = 1000, .end = 1500, .correlation = 5}));
  const Span& kernel = only_span(*run, "gemm");
  EXPECT_EQ(kernel.kind, SpanKind::compute);
  EXPECT_EQ(kernel.time, (TimeRange{at(0), at(500)}));  // run time 0 is the first event
  EXPECT_EQ(run->text(run->lane(kernel.lane).name), "stream 7");
  EXPECT_EQ(run->lane(kernel.lane).device, 0);
  EXPECT_EQ(text_attribute(*run, kernel, "grid"), "[4,2,1]");
  EXPECT_EQ(text_attribute(*run, kernel, "block"), "[128,1,1]");
  EXPECT_EQ(run->number(run->id_of(kernel), "shared memory"), 116);
  EXPECT_EQ(run->number(run->id_of(kernel), "registers per thread"), 32);
  EXPECT_EQ(run->number(run->id_of(kernel), "correlation"), 5);
  EXPECT_EQ(run->info().source, "nsys");
}

TEST(Nsys, LaunchesAreJoinedByProcessAndCorrelationNeverByCorrelationAlone) {
  const auto run = run_of(insert(LaunchCall{.begin = 0, .end = 10, .pid = 100, .correlation = 5}) +
                          insert(LaunchCall{.begin = 2, .end = 12, .pid = 200, .correlation = 5}) +
                          insert(Kernel{.begin = 20, .end = 30, .pid = 100, .device = 0, .correlation = 5}) +
                          insert(Kernel{.begin = 22, .end = 32, .pid = 200, .device = 1, .correlation = 5}));
  ASSERT_EQ(run->links().size(), 2U);
  for (const Link& link : run->links()) {
    EXPECT_EQ(run->lane(run->span(link.from).lane).process, run->lane(run->span(link.to).lane).process);
    EXPECT_EQ(run->text(run->span(link.from).name), "cudaLaunchKernel");
  }
}

TEST(Nsys, OneGraphLaunchOwnsAllItsNodes) {
  const auto run = run_of(insert(LaunchCall{.begin = 0, .end = 10, .correlation = 9}) +
                          insert(Kernel{.begin = 20, .end = 30, .correlation = 9}) +
                          insert(Kernel{.begin = 30, .end = 40, .correlation = 9}));
  EXPECT_EQ(run->links().size(), 2U);
  EXPECT_EQ(run->quality().of(Counter::kernels_without_launch), 0U);
}

TEST(Nsys, WhatNobodyIsSeenToLaunchIsCounted) {
  const auto run = run_of(insert(LaunchCall{.begin = 0, .end = 10, .correlation = 9}) +
                          insert(Kernel{.begin = 20, .end = 30, .correlation = 8}));
  EXPECT_EQ(run->links().size(), 0U);
  EXPECT_EQ(run->quality().of(Counter::kernels_without_launch), 1U);
}

TEST(Nsys, AStreamIsNamedWithItsDeviceWhereAProcessHasSeveral) {
  const auto run = run_of(insert(Kernel{.begin = 0, .end = 5, .device = 0, .stream = 7}) +
                          insert(Kernel{.begin = 0, .end = 5, .device = 1, .stream = 7, .name = 3}));
  EXPECT_EQ(run->text(run->lane(only_span(*run, "gemm").lane).name), "GPU 0 stream 7");
}

TEST(Nsys, AGraphReplayIsASpanOfUnknownWork) {
  const auto run = run_of(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, "
      "streamId INTEGER, correlationId INTEGER, globalPid INTEGER, graphId INTEGER, graphExecId INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (20,30,0,1,7,9," +
      std::to_string(process_id(100)) + ",1,2);" + insert(LaunchCall{.begin = 0, .end = 10, .correlation = 9}));
  const Span& replay = only_span(*run, "CUDA graph 1");
  EXPECT_EQ(replay.kind, SpanKind::graph);
  EXPECT_EQ(run->links_to(LinkKind::launch, run->id_of(replay)).size(), 1U);
  EXPECT_EQ(run->quality().of(Counter::graphs_opaque), 1U);
}

TEST(Nsys, CopiesTellDirectionMemoryAndBytes) {
  const auto run = run_of("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (0,10,0,1,7,3," +
                          std::to_string(process_id(100)) + ",4096,1,1,2,NULL,NULL,NULL);");
  const Span& copy = only_span(*run, "Memcpy HtoD (Pinned -> Device)");
  EXPECT_EQ(copy.kind, SpanKind::memory);
  EXPECT_EQ(run->number(run->id_of(copy), "bytes"), 4096);
}

TEST(Nsys, ASynchronizationTakesItsDeviceFromItsContext) {
  const std::string pid = std::to_string(process_id(100));
  // The record says device 0, but context 1 of that process is on device 1 (seen in real exports).
  const auto run = run_of(insert(Kernel{.begin = 0, .end = 5, .device = 1}) +
                          "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (5,9,0,1,7,4," + pid +
                          ",3,4294967295,4294967295);");
  EXPECT_EQ(run->lane(only_span(*run, "Stream Sync").lane).device, 1);
  EXPECT_EQ(run->devices().size(), 1U);
}

TEST(Nsys, AWaitKnowsTheEventThatItWaitsFor) {
  const std::string pid = std::to_string(process_id(100));
  const auto run = run_of(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (timestamp INTEGER, deviceId INTEGER, contextId INTEGER, streamId "
      "INTEGER, correlationId INTEGER, globalPid INTEGER, eventId INTEGER, eventSyncId INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0,0,1,20,77," +
      pid +
      ",6,42);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (5,9,0,1,7,4," +
      pid + ",2,6,42);" + insert(Kernel{.begin = 0, .end = 5}));
  const Span& wait = only_span(*run, "Stream Wait Event");
  EXPECT_EQ(wait.kind, SpanKind::sync);
  EXPECT_EQ(run->number(run->id_of(wait), "wait_on_stream"), 20);
  EXPECT_EQ(run->number(run->id_of(wait), "wait_on_cuda_event_record_corr_id"), 77);
  EXPECT_TRUE(run->marks().empty()) << "a time of 0 means: not collected";
}

TEST(Nsys, PyTorchOperatorsAreTakenApart) {
  const auto run = run_of(insert(Range{.begin = 0,
                                       .end = 9,
                                       .text = "aten::mm, seq = 5, op_id = 12, sizes = [[2, 3], "
                                               "[3, 4]], input_op_ids = [(7,0), (9,1)]"}));
  const Span& op = only_span(*run, "aten::mm");
  EXPECT_EQ(op.kind, SpanKind::op);
  EXPECT_EQ(run->number(run->id_of(op), "Sequence number"), 5);
  EXPECT_EQ(run->number(run->id_of(op), "Record function id"), 12);
  EXPECT_EQ(text_attribute(*run, op, "Input Dims"), "[[2, 3], [3, 4]]");
  EXPECT_EQ(text_attribute(*run, op, "input_op_ids"), "[[7,0],[9,1]]");
}

TEST(Nsys, RangesOfProgramsAreClassifiedByName) {
  const auto run = run_of(insert(Range{.begin = 0, .end = 90, .text = "ProfilerStep#3"}) +
                          insert(Range{.begin = 1, .end = 9, .text = "enumerate(DataLoader)#_Iter.__next__"}) +
                          insert(Range{.begin = 10, .end = 19, .text = "Optimizer.step#SGD.step"}) +
                          insert(Range{.begin = 20, .end = 29, .text = "nccl:all_reduce"}) +
                          insert(Range{.begin = 30, .end = 39, .text = "epoch, seq = of things"}));
  EXPECT_EQ(only_span(*run, "ProfilerStep#3").kind, SpanKind::step);
  EXPECT_EQ(run->number(run->id_of(only_span(*run, "ProfilerStep#3")), "index"), 3);
  EXPECT_EQ(only_span(*run, "enumerate(DataLoader)#_Iter.__next__").kind, SpanKind::data);
  EXPECT_EQ(only_span(*run, "Optimizer.step#SGD.step").kind, SpanKind::optimizer);
  EXPECT_EQ(only_span(*run, "nccl:all_reduce").kind, SpanKind::api);
  EXPECT_EQ(only_span(*run, "epoch, seq = of things").kind, SpanKind::user);
}

TEST(Nsys, DomainsAndCategoriesCountPerProcess) {
  const std::string first = thread_of(100);
  const std::string second = thread_of(200);
  const auto run = run_of(
      "INSERT INTO NVTX_EVENTS (start,eventType,text,globalTid,domainId) VALUES (0,75,'solver'," + first + ",1);" +
      "INSERT INTO NVTX_EVENTS (start,eventType,text,globalTid,domainId) VALUES (0,75,'NCCL'," + second + ",1);" +
      "INSERT INTO NVTX_EVENTS (start,eventType,text,globalTid,domainId,category) VALUES (0,33,'io'," + first +
      ",1,4);" +
      "INSERT INTO NVTX_EVENTS (start,end,eventType,text,globalTid,domainId,category,color,int64Value) VALUES "
      "(5,9,59,'load'," +
      first + ",1,4,4278190335,-7);" + insert(Kernel{.begin = 0, .end = 1, .pid = 100, .device = 0}) +
      insert(Kernel{.begin = 0, .end = 1, .pid = 200, .device = 1, .name = 3}) +
      insert(Range{.begin = 6, .end = 8, .pid = 200, .text = "ncclAllReduce", .domain = 1}));
  const Span& load = only_span(*run, "load");
  EXPECT_EQ(text_attribute(*run, load, "domain"), "solver");
  EXPECT_EQ(text_attribute(*run, load, "category"), "io");
  EXPECT_EQ(run->number(run->id_of(load), "color"), 4278190335);
  EXPECT_EQ(run->number(run->id_of(load), "payload"), -7);
  EXPECT_EQ(text_attribute(*run, only_span(*run, "ncclAllReduce"), "domain"), "NCCL");
  EXPECT_EQ(only_span(*run, "ncclAllReduce").kind, SpanKind::api);
}

TEST(Nsys, MarksAndFreeRangesHaveTheirPlace) {
  const auto run = run_of(
      "INSERT INTO NVTX_EVENTS (start,eventType,text,globalTid) VALUES (5,34,'epoch 1'," + thread_of(100) + ");" +
      "INSERT INTO NVTX_EVENTS (start,end,eventType,text,globalTid) VALUES (6,99,60,'copy'," + thread_of(100) + ");");
  ASSERT_EQ(run->marks().size(), 1U);
  EXPECT_EQ(run->text(run->marks()[0].name), "epoch 1");
  EXPECT_EQ(run->text(run->lane(only_span(*run, "copy").lane).name), "ranges");
}

TEST(Nsys, ARangeWithoutAnEndReachesTheEndOfTheRecording) {
  const auto run = run_of("INSERT INTO NVTX_EVENTS (start,end,eventType,text,globalTid) VALUES (5,NULL,59,'open'," +
                          thread_of(100) + ");" + insert(Kernel{.begin = 10, .end = 205}));
  const Span& open = only_span(*run, "open");
  EXPECT_EQ(open.time, (TimeRange{at(0), at(200)}));
  EXPECT_EQ(open.flags, span_flag::cut_end);
  EXPECT_EQ(run->quality().of(Counter::spans_unclosed), 1U);
}

TEST(Nsys, StartsAtAndBeforeZeroSurvive) {
  const auto run = run_of(insert(LaunchCall{.begin = -3000, .end = -500, .correlation = 1}) +
                          insert(Kernel{.begin = 0, .end = 1000, .correlation = 1}));
  EXPECT_EQ(only_span(*run, "cudaLaunchKernel").time, (TimeRange{at(0), at(2500)}));
  EXPECT_EQ(only_span(*run, "gemm").time, (TimeRange{at(3000), at(4000)}));
}

TEST(Nsys, TimesThatNoClockCanHaveAreLeftOutAndCounted) {
  const auto run = run_of(insert(Kernel{.begin = INT64_MAX - 5, .end = INT64_MAX}) +
                          insert(Kernel{.begin = 100, .end = 200, .name = 3}));
  EXPECT_EQ(run->spans().size(), 1U);
  EXPECT_EQ(run->quality().of(Counter::events_incomplete), 1U);
}

TEST(Nsys, MissingColumnsAreSaidNeverZero) {
  const TemporaryFolder folder;
  run_sql(folder / "a.sqlite",
          "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
          "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, shortName INTEGER);"
          "INSERT INTO StringIds VALUES (1,'gemm'); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0,10,1);");
  const auto run = read_export(folder / "a.sqlite");
  ASSERT_TRUE(run) << run.error().message;
  const Span& kernel = only_span(**run, "gemm");
  EXPECT_FALSE((*run)->number((*run)->id_of(kernel), "correlation"));
  EXPECT_FALSE((*run)->number((*run)->id_of(kernel), "shared memory"));
  EXPECT_EQ((*run)->lane(kernel.lane).device, -1);
  EXPECT_THAT(std::string{(*run)->metadata("nsys.unavailable")}, HasSubstr("correlationId (launches)"));
  EXPECT_EQ((*run)->info().origin_unix_ns, 0);
}

TEST(Nsys, TheOldestSchemaIsRead) {
  const TemporaryFolder folder;
  const std::string pid = std::to_string(process_id(100));
  run_sql(folder / "a.sqlite",
          "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
          "CREATE TABLE EXPORT_META_DATA (name TEXT, value TEXT);"
          "INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_SCHEMA_VERSION','2.9.1'),('EXPORT_USER','somebody');"
          "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,"
          " correlationId INTEGER, nameId INTEGER, returnValue INTEGER, name TEXT);"
          "CREATE TABLE PROFILER_OVERHEAD (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER, returnValue "
          "INTEGER);"
          "INSERT INTO StringIds VALUES (2,'cuInit'),(3,'Init');"
          "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0,10,1," +
              pid +
              ",1,2,3,NULL);"
              "INSERT INTO PROFILER_OVERHEAD VALUES (2,5," +
              pid + ",3,0);");
  const auto run = read_export(folder / "a.sqlite");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(text_attribute(**run, only_span(**run, "cuInit"), "cat"), "cuda_driver");
  EXPECT_EQ((*run)->number((*run)->id_of(only_span(**run, "cuInit")), "return value"), 3);
  EXPECT_EQ(only_span(**run, "Init").kind, SpanKind::overhead);
  EXPECT_EQ((*run)->metadata("nsys.schema"), "2.9.1");
  EXPECT_EQ((*run)->quality().of(Counter::secrets_dropped), 1U);
}

TEST(Nsys, SecretsAreDroppedAndCounted) {
  const auto run = run_of(
      "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE_0','TOKEN=hunter2'),"
      "('PROCESS_0:COMMAND','/data/me/secret_project'),('PROCESS_0:ARGUMENT_0','--key=hunter2');"
      "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0,'','DeviceEnvironment',0,'TOKEN=hunter2'),"
      "(0,'','Hostname',0,'n0');"
      "INSERT INTO StringIds VALUES (99,'hunter2 on stdout');"
      "CREATE TABLE ProcessStreams (globalPid INTEGER, filenameId INTEGER, contentId INTEGER);"
      "INSERT INTO ProcessStreams VALUES (1,99,99);" +
      insert(Kernel{.begin = 0, .end = 5}));
  EXPECT_EQ(run->quality().of(Counter::secrets_dropped), 5U);
  EXPECT_EQ(run->text(run->processes()[0].host), "n0");
  for (std::uint32_t id = 0; id < run->strings().size(); ++id) {
    EXPECT_EQ(run->text(StringId{id}).find("hunter2"), std::string_view::npos);
    EXPECT_EQ(run->text(StringId{id}).find("secret_project"), std::string_view::npos);
  }
  for (const auto& [key, value] : run->info().metadata) EXPECT_EQ(value.find("hunter2"), std::string::npos) << key;
}

TEST(Nsys, WarningsOfTheRecorderReachTheUser) {
  const auto run = run_of(
      "CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, severity INTEGER, text TEXT);"
      "INSERT INTO DIAGNOSTIC_EVENT VALUES (0,1,'all is well'),(0,2,'events may be\nmissing'),(0,3,'CUPTI failed'),"
      "(0,1,'Number of CUDA events that were dropped: 7.');" +
      insert(Kernel{.begin = 0, .end = 5}));
  EXPECT_EQ(run->quality().of(Counter::source_warnings), 2U);
  EXPECT_EQ(run->quality().of(Counter::source_lost_events), 1U) << "a message that expresses a doubt does not count";
  EXPECT_EQ(run->metadata("nsys.message.01"), "error: CUPTI failed");
  EXPECT_EQ(run->metadata("nsys.message.02"), "info: Number of CUDA events that were dropped: 7.");
  EXPECT_EQ(run->metadata("nsys.message.03"), "warning: events may be missing");
}

TEST(Nsys, DevicesAreIdentifiedThroughTheProcessThatUsesThem) {
  const auto run = run_of(
      "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, uuid TEXT, busLocation TEXT, smCount INTEGER);"
      "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);"
      "INSERT INTO TARGET_INFO_GPU VALUES "
      "(0,'H100','uuid-a','0000:c1:00.0',132),(1,'H100','uuid-b','0000:c2:00.0',132);"
      "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (1,0,100);" +
      insert(Kernel{.begin = 0, .end = 5, .pid = 100, .device = 0}));
  ASSERT_EQ(run->devices().size(), 1U);
  EXPECT_EQ(run->text(run->devices()[0].uuid), "uuid-b");
  EXPECT_EQ(run->text(run->devices()[0].name), "H100");
}

TEST(Nsys, WithoutTheMapOfDevicesOnlyTheProductIsKnown) {
  const auto run = run_of(
      "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, uuid TEXT);"
      "INSERT INTO TARGET_INFO_GPU VALUES (0,'A100','uuid-a'),(1,'A100','uuid-b');" +
      insert(Kernel{.begin = 0, .end = 5, .device = 0}));
  EXPECT_EQ(run->text(run->devices()[0].name), "A100");
  EXPECT_FALSE(run->devices()[0].uuid.is_set());
}

TEST(Nsys, MemoryThatProcessesHoldIsSummed) {
  const std::string pid = std::to_string(process_id(100));
  const auto run = run_of(
      "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER, deviceId INTEGER, contextId "
      "INTEGER,"
      " address INTEGER, bytes INTEGER, memKind INTEGER, memoryOperationType INTEGER);"
      "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (0," +
      pid + ",0,1,1000,4096,2,0),(5," + pid + ",0,1,9000,512,1,0),(9," + pid + ",0,1,1000,1024,2,1),(9," + pid +
      ",0,1,1000,NULL,2,1);" + insert(Kernel{.begin = 0, .end = 5}));
  EXPECT_EQ(run->quality().of(Counter::events_incomplete), 1U) << "one does not say how much";
  ASSERT_EQ(run->counters().size(), 1U);
  EXPECT_EQ(run->text(run->counters()[0].name), "reserved_bytes");
  const auto samples = run->samples_of(run->counters()[0]);
  ASSERT_EQ(samples.size(), 2U) << "pinned host memory is a mark, but no device memory";
  EXPECT_EQ(samples[0].value, 4096);
  EXPECT_EQ(samples[1].value, 3072);
  EXPECT_EQ(run->marks().size(), 3U);
}

TEST(Nsys, MetricsOfADeviceBelongToTheProcessThatUsesIt) {
  const auto run = run_of(
      "CREATE TABLE GPU_METRICS (timestamp INTEGER, typeId INTEGER, metricId INTEGER, value REAL);"
      "CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, sourceId INTEGER, typeName TEXT, metricId INTEGER, "
      "metricName TEXT);"
      "INSERT INTO TARGET_INFO_GPU_METRICS VALUES (257,0,'GA100',3,'SM Active [Throughput %]');"
      "INSERT INTO GPU_METRICS VALUES (1,257,3,50),(2,257,3,75),(3,257,3,NULL),(NULL,257,3,9);" +
      insert(Kernel{.begin = 0, .end = 5, .pid = 100, .device = 0}) +
      insert(Kernel{.begin = 0, .end = 5, .pid = 200, .device = 1, .name = 3}));
  ASSERT_EQ(run->counters().size(), 1U);
  EXPECT_EQ(run->text(run->counters()[0].name), "GPU 1 SM Active [Throughput %]");
  EXPECT_EQ(run->counters()[0].rank, RankId{1});
  EXPECT_EQ(run->quality().of(Counter::events_incomplete), 2U);
  EXPECT_EQ(run->samples_of(run->counters()[0]).size(), 2U);
}

TEST(Nsys, TablesThatAreNotReadAreNamed) {
  const auto run = run_of("CREATE TABLE SCHED_EVENTS (start INTEGER); INSERT INTO SCHED_EVENTS VALUES (1),(2);" +
                          insert(Kernel{.begin = 0, .end = 5}));
  EXPECT_EQ(run->metadata("nsys.tables_not_read"), "SCHED_EVENTS (2 rows)");
}

TEST(Nsys, SeveralReportsOfOneHostShareItsClock) {
  const TemporaryFolder folder;
  for (const int rank : {0, 1}) {
    const std::string start = std::to_string(5'000'000'000 + rank * 1'000'000);
    run_sql(folder / ("rank" + std::to_string(rank) + ".sqlite"),
            modern_tables + "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0,'','Hostname',0,'n0');" +
                "INSERT INTO ANALYSIS_DETAILS VALUES (0,9," + start + ",9);" +
                "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000+" + start + ",'','');" +
                insert(Kernel{.begin = 1'000'000, .end = 1'000'500}));
  }
  const std::vector<std::filesystem::path> files{folder / "rank1.sqlite", folder / "rank0.sqlite"};
  const auto run = nsys::read(files, {});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->info().clock.method, "same_host");
  ASSERT_EQ((*run)->ranks().size(), 2U);
  for (const Span& span : (*run)->spans())
    EXPECT_EQ(ns_of(span.time.begin), 1'000'000 * (*run)->lane(span.lane).rank.value);
  EXPECT_EQ((*run)->info().origin_unix_ns, 1'700'000'000'000'000'000 + 5'000'000'000 + 1'000'000);
}

TEST(Nsys, ReportsOfDifferentHostsHaveOnlyWallClocks) {
  const TemporaryFolder folder;
  for (const int rank : {0, 1})
    run_sql(folder / ("rank" + std::to_string(rank) + ".sqlite"),
            modern_tables + "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0,'','Hostname',0,'n" + std::to_string(rank) +
                "'); INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (" + std::to_string(1'000'000 * rank + 7) +
                ",'','');" + insert(Kernel{.begin = 50, .end = 60}));
  const std::vector<std::filesystem::path> files{folder / "rank0.sqlite", folder / "rank1.sqlite"};
  const auto run = nsys::read(files, {});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->info().clock.method, "wall_clock");
  EXPECT_EQ((*run)->extent(), (TimeRange{at(0), at(1'000'010)}));
}

TEST(Nsys, AcrossHostsTheOrderOfOperationsIsAGuessThatSetsNoClock) {
  const TemporaryFolder folder;
  for (const int rank : {0, 1}) {
    std::string rows = modern_tables +
                       "INSERT INTO StringIds VALUES (900,'ncclDevKernel_AllReduce_Sum_f32_RING_LL');"
                       "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0,'','Hostname',0,'n" +
                       std::to_string(rank) +
                       "'); INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000,'','');";
    // Rank 1 was recorded from one step later on: its k-th operation is the (k + 1)-th of rank 0.
    for (std::int64_t i = 0; i < 40; ++i) {
      const std::int64_t begin = (i + rank) * 100'000'000;
      rows += insert(Kernel{.begin = begin, .end = begin + 200'000, .name = 900});
    }
    run_sql(folder / ("rank" + std::to_string(rank) + ".sqlite"), rows);
  }
  const std::vector<std::filesystem::path> files{folder / "rank0.sqlite", folder / "rank1.sqlite"};
  const auto run = nsys::read(files, {});
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ((*run)->collectives().size(), 80U);
  for (const Collective& part : (*run)->collectives()) EXPECT_EQ(part.sequence, -1);
  const Alignment aligned = align_clocks(**run);
  EXPECT_EQ(aligned.clock.method, "wall_clock");
  EXPECT_EQ(aligned.moved, nullptr);
}

}  // namespace
}  // namespace rankscope::analyzer
