// Exports of real jobs: what is read of them, and what others measured in them.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "rankscope/analyzer/export.h"
#include "rankscope/analyzer/open.h"
#include "rankscope/analyzer/output_file.h"
#include "rankscope/analyzer/render.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/analyzer/summary.h"
#include "rankscope/core/model/run.h"
#include "shared_data.h"
#include "support/changed_run.h"
#include "support/temporary_folder.h"

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class NsysFiles : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam().empty()) GTEST_SKIP() << testing::no_shared_data;
  }
};

TEST_P(NsysFiles, AreReadAsBefore) {
  const auto run = analyzer::open_run(testing::shared_data() / "nsys" / GetParam());
  ASSERT_TRUE(run) << run.error().message;
  const fs::path expected = fs::path{RANKSCOPE_FOREIGN_GOLDEN} / ("nsys_" + testing::plain_name(GetParam()) + ".txt");
  const std::string summary = analyzer::summarize(**run);
  if (std::getenv("RANKSCOPE_GOLDEN_UPDATE") != nullptr) {
    const auto written = analyzer::write_file(expected, summary);
    ASSERT_TRUE(written) << written.error().message;
  } else {
    EXPECT_EQ(testing::read_file(expected), summary) << "If this is intended: scripts/golden --update";
  }
}

TEST_P(NsysFiles, CanBeReportedOn) {
  const auto run = analyzer::open_run(testing::shared_data() / "nsys" / GetParam());
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_TRUE(analyzer::anything_computed(analyzer::analyze(**run, {}), {}));
}

TEST_P(NsysFiles, GiveTheSameReportWhenTheyComeBackFromKineto) {
  const auto run = analyzer::open_run(testing::shared_data() / "nsys" / GetParam());
  ASSERT_TRUE(run) << run.error().message;
  const testing::TemporaryFolder folder;
  const auto all = analyzer::exports();
  const auto written = std::ranges::find(all, "kineto", &analyzer::ExportInfo::id)->write(**run, folder / "out", {});
  ASSERT_TRUE(written) << written.error().message;
  const auto again = analyzer::open_run(folder / "out");
  ASSERT_TRUE(again) << again.error().message;
  const auto report = [](const rankscope::Run& of) { return analyzer::render_json(analyzer::analyze(of, {}), of, {}); };
  EXPECT_EQ(report(**again), report(**run));
}

INSTANTIATE_TEST_SUITE_P(Shared, NsysFiles, ::testing::ValuesIn(testing::exports_of_nsys()),
                         [](const auto& test) { return testing::plain_name(test.param); });

/// The only span of a name; the test fails if there is none or more.
const Span& only_span(const Run& run, std::string_view name) {
  const auto has_name = [&](const Span& span) { return run.text(span.name) == name; };
  EXPECT_EQ(std::ranges::count_if(run.spans(), has_name), 1) << name;
  static const Span none{};
  const auto found = std::ranges::find_if(run.spans(), has_name);
  return found == run.spans().end() ? none : *found;
}

/// Facts that were measured in these exports with other means (SQL).
class NsysFacts : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::is_directory(folder())) GTEST_SKIP() << testing::no_shared_data;
  }
  static fs::path folder() { return testing::shared_data() / "nsys"; }
  static std::shared_ptr<const rankscope::Run> open(const std::string& name) {
    const auto run = analyzer::open_run(folder() / name);
    EXPECT_TRUE(run) << run.error().message;
    return run ? *run : nullptr;
  }
};

std::int64_t count(const Run& run, SpanKind kind) { return std::ranges::count(run.spans(), kind, &Span::kind); }

/// Spans of some kinds on streams of a rank, as ranges.
std::vector<TimeRange> on_streams(const Run& run, RankId rank, std::initializer_list<SpanKind> kinds) {
  std::vector<TimeRange> ranges;
  for (const Span& span : run.spans()) {
    const Lane& lane = run.lane(span.lane);
    if (lane.rank == rank && lane.kind == LaneKind::stream && std::ranges::find(kinds, span.kind) != kinds.end())
      ranges.push_back(span.time);
  }
  std::ranges::sort(ranges, {}, &TimeRange::begin);
  return ranges;
}

std::int64_t length_of_union(const std::vector<TimeRange>& ranges) {
  std::int64_t sum = 0;
  RunTime end = RunTime::min();
  for (const TimeRange& range : ranges) {
    if (range.end <= end) continue;
    sum += (range.end - std::max(range.begin, end == RunTime::min() ? range.begin : end)).count();
    end = range.end;
  }
  return sum;
}

std::int64_t hull(const std::vector<TimeRange>& ranges) {
  return (std::ranges::max(ranges, {}, &TimeRange::end).end - ranges.front().begin).count();
}

struct DeviceFacts {
  std::size_t kernels;
  std::int64_t span, kernel_union, compute_union, comm_union, with_memory;
};

void expect(const Run& run, RankId rank, const DeviceFacts& facts) {
  using enum SpanKind;
  const auto kernels = on_streams(run, rank, {compute, comm});
  EXPECT_EQ(kernels.size(), facts.kernels);
  EXPECT_EQ(hull(kernels), facts.span);
  EXPECT_EQ(length_of_union(kernels), facts.kernel_union);
  EXPECT_EQ(length_of_union(on_streams(run, rank, {compute})), facts.compute_union);
  EXPECT_EQ(length_of_union(on_streams(run, rank, {comm})), facts.comm_union);
  EXPECT_EQ(length_of_union(on_streams(run, rank, {compute, comm, memory})), facts.with_memory);
}

TEST_F(NsysFacts, TwoH100sOfOneTraining) {
  const auto run = open("training_2xh100/mfu_2gpu_before.sqlite");
  ASSERT_EQ(run->ranks().size(), 2U);
  EXPECT_EQ(run->process_of(RankId{0}).pid, 144);
  EXPECT_EQ(run->process_of(RankId{1}).pid, 145);
  EXPECT_EQ(run->quality().of(Counter::rank_unknown), 2U);
  EXPECT_EQ(count(*run, SpanKind::compute) + count(*run, SpanKind::comm), 4010);
  EXPECT_EQ(count(*run, SpanKind::runtime), 7466);
  EXPECT_EQ(count(*run, SpanKind::memory), 1020 + 269);
  EXPECT_EQ(count(*run, SpanKind::sync), 366);
  EXPECT_EQ(count(*run, SpanKind::op) + count(*run, SpanKind::api) + count(*run, SpanKind::user), 19118);
  expect(*run, RankId{0}, {1993, 299848812, 270863484, 253690832, 17172652, 273817787});
  expect(*run, RankId{1}, {2017, 298661551, 264324724, 256095624, 8229100, 267275916});
  EXPECT_EQ(run->quality().of(Counter::payloads_not_exported), 1U);
  EXPECT_THAT(std::string{run->metadata("nsys.export_with_payloads")}, HasSubstr("mfu_h1002_nsys.nsys-rep"));
}

TEST_F(NsysFacts, ThirtyThreeAllToAllsAndDeviceOneIsLastInTwentyTwo) {
  const auto run = open("training_2xh100/mfu_2gpu_before.sqlite");
  ASSERT_EQ(run->collectives().size(), 66U);
  std::map<std::int64_t, std::map<RankId, const Collective*>> operations;
  for (const Collective& collective : run->collectives()) {
    EXPECT_EQ(run->text(collective.op), "alltoall");
    operations[collective.sequence][collective.rank] = &collective;
  }
  ASSERT_EQ(operations.size(), 33U);
  int last = 0;
  std::int64_t waiting_0 = 0;
  std::int64_t waiting_1 = 0;
  for (const auto& [sequence, members] : operations) {
    ASSERT_EQ(members.size(), 2U);
    const std::int64_t late = (members.at(RankId{1})->started - members.at(RankId{0})->started).count();
    last += late > 0 ? 1 : 0;
    waiting_0 += std::max<std::int64_t>(late, 0);
    waiting_1 += std::max<std::int64_t>(-late, 0);
  }
  EXPECT_EQ(last, 22);
  EXPECT_EQ(waiting_0, 10'898'336);
  EXPECT_EQ(waiting_1, 2'477'480);
  EXPECT_EQ(run->quality().of(Counter::no_comm_args), 0U);
}

TEST_F(NsysFacts, CorrelationIdsOfTwoProcessesAreNotMixed) {
  const auto run = open("training_2xh100/mfu_2gpu_before.sqlite");
  ASSERT_FALSE(run->links().empty());
  for (const Link& link : run->links())
    ASSERT_EQ(run->lane(run->span(link.from).lane).process, run->lane(run->span(link.to).lane).process);
}

TEST_F(NsysFacts, CudaGraphs) {
  const auto run = open("cuda_graph/nsight-2025.5.2.sqlite");
  EXPECT_EQ(count(*run, SpanKind::compute), 3);
  EXPECT_EQ(length_of_union(on_streams(*run, RankId{0}, {SpanKind::compute})), 3840);
  const auto replays = on_streams(*run, RankId{0}, {SpanKind::graph});
  ASSERT_EQ(replays.size(), 2U);
  EXPECT_EQ(replays[0].length().count(), 1728);
  EXPECT_EQ(replays[1].length().count(), 1376);
  for (const Span& span : run->spans()) {
    if (span.kind != SpanKind::graph) continue;
    const auto links = run->links_to(LinkKind::launch, run->id_of(span));
    ASSERT_EQ(links.size(), 1U);
    EXPECT_EQ(run->text(run->span(links[0].from).name), "cudaGraphLaunch");
  }
  EXPECT_EQ(
      std::ranges::count_if(run->marks(), [&](const Mark& mark) { return run->text(mark.name).starts_with("Graph"); }),
      4);
  EXPECT_EQ(run->quality().of(Counter::graphs_opaque), 2U);
  ASSERT_EQ(run->devices().size(), 1U);
  EXPECT_EQ(run->text(run->devices()[0].name), "NVIDIA GeForce RTX 3060");
  EXPECT_TRUE(run->devices()[0].uuid.is_set());
}

TEST_F(NsysFacts, Perlmutter) {
  const auto clover = open("perlmutter/perlmutter-cloverleaf-cuda.sqlite");
  const auto kernels = on_streams(*clover, RankId{0}, {SpanKind::compute});
  EXPECT_EQ(kernels.size(), 1312U);
  EXPECT_EQ(hull(kernels), 342'340'707);
  EXPECT_EQ(length_of_union(kernels), 294'404'540);
  EXPECT_EQ(count(*clover, SpanKind::memory), 279);
  EXPECT_EQ(clover->text(clover->process_of(RankId{0}).host), "nid008553");
  EXPECT_EQ(clover->text(clover->devices()[0].name), "NVIDIA A100-SXM4-80GB");
  EXPECT_FALSE(clover->devices()[0].uuid.is_set()) << "which of four it was depends on an environment";
  const auto saxpy = open("perlmutter/saxpy-mpi-cuda_nsys_perlmutter0.sqlite");
  EXPECT_EQ(count(*saxpy, SpanKind::compute), 5);
  const auto domain =
      saxpy->attributes_of(saxpy->id_of(only_span(*saxpy, "MPI_Init"))).find(saxpy->strings().find("domain"));
  ASSERT_TRUE(domain);
  EXPECT_EQ(saxpy->text(domain->text), "MPI");
}

std::map<std::int64_t, std::int64_t> waits_by_sequence(const analyzer::Report& report) {
  std::map<std::int64_t, std::int64_t> waits;
  for (const analyzer::Operation& operation : report.collectives->operations)
    waits[operation.sequence] = operation.wait_ns;
  return waits;
}

// Two H100 that leave their operations 22 us apart, as the same clock shows.
TEST_F(NsysFacts, ClocksThatAreOffChangeNoWaitByTheStatedErrorOrMore) {
  const auto run = open("training_2xh100/mfu_2gpu_before.sqlite");
  const auto waits = waits_by_sequence(analyzer::analyze(*run, {}));
  for (const auto& skews : {std::vector<testing::Skew>{{50'000'000, 50}, {-50'000'000, -50}},
                            {{0, 0}, {7'000'000, 50}},
                            {{-20'000'000, -50}, {-20'300'000, 0}}}) {
    const analyzer::Report report = analyzer::analyze(*testing::with_skewed_clocks(*run, skews), {});
    EXPECT_EQ(report.clock.method, "unit_ends");
    EXPECT_LT(report.clock.error.count(), 80'000);
    const auto again = waits_by_sequence(report);
    ASSERT_EQ(again.size(), waits.size());
    EXPECT_GE(waits.size(), 30U);
    for (const auto& [sequence, wait] : waits)
      EXPECT_LT(std::abs(again.at(sequence) - wait), report.clock.error.count()) << sequence;
  }
}

/// Counted in DIAGNOSTIC_EVENT: drivers that are too new, no NVTX, no scheduling information, no unified memory.
TEST_F(NsysFacts, OrdinaryWarningsAreNoLostEvents) {
  for (const auto& [name, warnings] : std::initializer_list<std::pair<const char*, std::uint64_t>>{
           {"cuda_graph/nsight-2025.5.2.sqlite", 3},
           {"perlmutter/perlmutter-cloverleaf-cuda.sqlite", 4},
           {"perlmutter/saxpy-mpi-cuda_nsys_perlmutter0.sqlite", 0},
           {"synthetic/healthy_1pct.sqlite", 0},
           {"synthetic/mock.sqlite", 1},
           {"training_2xh100/mfu_2gpu_before.sqlite", 0}}) {
    const auto run = open(name);
    ASSERT_NE(run, nullptr);
    EXPECT_EQ(run->quality().of(Counter::source_warnings), warnings) << name;
    EXPECT_EQ(run->quality().of(Counter::source_lost_events), 0U) << name;
  }
}

TEST_F(NsysFacts, Synthetic) {
  const auto healthy = open("synthetic/healthy_1pct.sqlite");
  const auto kernels = on_streams(*healthy, RankId{0}, {SpanKind::compute});
  EXPECT_EQ(kernels.size(), 400U);
  EXPECT_EQ(length_of_union(kernels), 400'000'000);
  EXPECT_EQ(hull(kernels), 403'990'000);
  EXPECT_EQ(healthy->links().size(), 400U);
  EXPECT_EQ(kernels.front().begin, at(3000)) << "its launch began 3 us before time 0 of the file";
  const auto mock = open("synthetic/mock.sqlite");
  EXPECT_EQ(count(*mock, SpanKind::compute), 2);
  EXPECT_EQ(mock->devices().size(), 1U);
}

}  // namespace
}  // namespace rankscope
