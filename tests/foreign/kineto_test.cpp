// Traces of real jobs: what is read of them, and that an export of them is the same run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <sstream>

#include "rankscope/analyzer/export.h"
#include "rankscope/analyzer/open.h"
#include "rankscope/analyzer/output_file.h"
#include "rankscope/analyzer/render.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/analyzer/summary.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "shared_data.h"
#include "support/temporary_folder.h"

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using analyzer::open_run;

std::string text_of(const Run& run) {
  std::ostringstream text;
  write_text(run, text);
  return text.str();
}

void export_kineto(const Run& run, const fs::path& out) {
  for (const analyzer::ExportInfo& info : analyzer::exports()) {
    if (info.id != "kineto") continue;
    const auto written = info.write(run, out, {});
    ASSERT_TRUE(written) << written.error().message;
  }
}

/// The first line in which two long texts differ.
std::string first_difference(const std::string& left, const std::string& right) {
  std::istringstream a{left};
  std::istringstream b{right};
  std::string line_a;
  std::string line_b;
  for (int line = 1;; ++line) {
    const bool more_a = static_cast<bool>(std::getline(a, line_a));
    const bool more_b = static_cast<bool>(std::getline(b, line_b));
    if (!more_a && !more_b) return "";
    if (!more_a || !more_b || line_a != line_b)
      return "line " + std::to_string(line) + ":\n" + (more_a ? line_a : "(end)") + "\n" + (more_b ? line_b : "(end)");
  }
}

class KinetoFiles : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam().empty()) GTEST_SKIP() << testing::no_shared_data;
  }
  [[nodiscard]] fs::path path() const { return testing::shared_data() / "kineto" / GetParam(); }
};

TEST_P(KinetoFiles, AreReadAsBefore) {
  const auto run = open_run(path());
  ASSERT_TRUE(run) << run.error().message;
  const fs::path expected = fs::path{RANKSCOPE_FOREIGN_GOLDEN} / ("kineto_" + testing::plain_name(GetParam()) + ".txt");
  const std::string summary = analyzer::summarize(**run);
  if (std::getenv("RANKSCOPE_GOLDEN_UPDATE") != nullptr) {
    const auto written = analyzer::write_file(expected, summary);
    ASSERT_TRUE(written) << written.error().message;
  } else {
    EXPECT_EQ(testing::read_file(expected), summary) << "If this is intended: scripts/golden --update";
  }
}

TEST_P(KinetoFiles, ExportedAndReadAgainAreTheSameRun) {
  const auto run = open_run(path());
  ASSERT_TRUE(run) << run.error().message;
  const testing::TemporaryFolder folder;
  export_kineto(**run, folder / "out.json");
  const auto again = open_run(folder / "out.json");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(first_difference(text_of(**run), text_of(**again)), "");
}

INSTANTIATE_TEST_SUITE_P(Shared, KinetoFiles, ::testing::ValuesIn(testing::shared_files("kineto")),
                         [](const auto& test) { return testing::plain_name(test.param); });

/// Facts that others state about these recordings.
class KinetoFacts : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(testing::shared_data() / "kineto")) GTEST_SKIP() << testing::no_shared_data;
  }
  static std::shared_ptr<const rankscope::Run> open(const std::string& name) {
    const auto run = open_run(testing::shared_data() / "kineto" / name);
    EXPECT_TRUE(run) << run.error().message;
    return run ? *run : nullptr;
  }
  static std::ptrdiff_t count(const rankscope::Run& run, SpanKind kind) {
    return std::ranges::count(run.spans(), kind, &Span::kind);
  }
};

TEST_F(KinetoFacts, AFolderOfTwoRanksIsOneRun) {
  const auto run = open("recsys_2of128_ranks");
  ASSERT_NE(run, nullptr);
  EXPECT_THAT(run->ranks(), ::testing::ElementsAre(RankId{0}, RankId{1}));
  EXPECT_EQ(run->info().world_size, 128);
  const testing::TemporaryFolder folder;
  export_kineto(*run, folder / "out");
  const auto again = open_run(folder / "out");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(first_difference(text_of(*run), text_of(**again)), "");
}

TEST_F(KinetoFacts, AllNcclKernelsOfTheArgumentsTraceAreDescribed) {
  const auto run = open("nccl_args_a100/nccl_data.json.gz");
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->collectives().size(), 21U);
  EXPECT_EQ(run->quality().of(Counter::no_comm_args), 0U);
  for (const Collective& row : run->collectives()) {
    EXPECT_GT(row.bytes, 0);
    EXPECT_TRUE(row.group.is_set());
  }
  std::vector<std::int64_t> steps;
  for (const Span& span : run->spans())
    if (span.kind == SpanKind::step) steps.push_back(run->number(run->id_of(span), "index").value_or(-1));
  EXPECT_THAT(steps, ::testing::ElementsAre(4, 5, 6));
}

TEST_F(KinetoFacts, TheAllocatorsOfTheDdpTraceAddUp) {
  const auto run = open("ddp_v100_rank1of2/df_index_resolver.json.gz");
  ASSERT_NE(run, nullptr);
  EXPECT_THAT(run->ranks(), ::testing::ElementsAre(RankId{1}));
  const StringId bytes = run->strings().find("Bytes");
  std::int64_t allocations = 0;
  std::int64_t frees = 0;
  for (const Mark& mark : run->marks()) {
    const auto change = run->attributes_of(mark).find(bytes);
    if (!change) continue;
    (change->number > 0 ? allocations : frees) += 1;
  }
  EXPECT_EQ(allocations, 14005);
  EXPECT_EQ(frees, 14005);
  EXPECT_EQ(run->collectives().size(), 2020U);
  EXPECT_EQ(count(*run, SpanKind::step), 5);
}

TEST_F(KinetoFacts, MostCorrelationsOfTheGraphsTraceHaveALaunch) {
  const auto run = open("cuda_graphs_a100_rank0of16/rank0.json.gz");
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->quality().of(Counter::correlation_reused), 0U);
  EXPECT_GT(run->quality().of(Counter::kernels_without_launch), 0U);
}

TEST_F(KinetoFacts, ATraceOfTheHostAloneIsNotCalledIdle) {
  const auto run = open("no_distributed_info/distributed_info_not_found.json.gz");
  ASSERT_NE(run, nullptr);
  const analyzer::Report report = analyzer::analyze(*run, {});
  ASSERT_FALSE(report.rank_rows);
  EXPECT_EQ(report.rank_rows.error().why,
            "device activity was not recorded: the trace lists 8 GPUs but contains no kernels");
  EXPECT_FALSE(report.findings);
}

TEST_F(KinetoFacts, AllReducesOverSymmetricMemoryAreCommunication) {
  const auto run = open("b200_eager/eager_trace.json.gz");
  ASSERT_NE(run, nullptr);
  std::int64_t kernels = 0;
  for (const Span& span : run->spans()) {
    if (run->text(span.name).find("::multimem_all_reduce_kernel<") == std::string_view::npos) continue;
    ++kernels;
    ASSERT_EQ(span.kind, SpanKind::comm);
    ASSERT_NE(span.collective, Span::no_collective);
    EXPECT_EQ(run->text(run->collectives()[span.collective].op), "allreduce");
  }
  EXPECT_EQ(kernels, 73);
}

TEST(KinetoJobs, RanksOfOneRealJobAreCompared) {
  if (!fs::exists(testing::shared_data() / "kineto")) GTEST_SKIP() << testing::no_shared_data;
  const auto run = open_run(testing::shared_data() / "kineto" / "recsys_2of128_ranks");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->quality().of(Counter::jobs_mixed), 0U);
  EXPECT_TRUE(analyzer::analyze(**run, {}).stragglers);
}

TEST(KinetoJobs, OperationsWithoutGroupsAreFoundByTheirEndsAndTellWhoCameLast) {
  if (!fs::exists(testing::shared_data() / "kineto")) GTEST_SKIP() << testing::no_shared_data;
  const auto run = open_run(testing::shared_data() / "kineto" / "recsys_2of128_ranks");
  ASSERT_TRUE(run) << run.error().message;
  const analyzer::Report report = analyzer::analyze(**run, {});
  ASSERT_TRUE(report.collectives);
  EXPECT_EQ(report.collectives->matched, 10);
  EXPECT_EQ(report.collectives->unmatched, 10);
  int found = 0;
  int rank_1_last = 0;
  for (const analyzer::Operation& operation : report.collectives->operations) {
    if (operation.members.size() < 2) continue;
    ++found;
    if (operation.last_rank == RankId{1}) ++rank_1_last;
    EXPECT_EQ(operation.why_no_wait, "");
  }
  EXPECT_EQ(found, 5);
  EXPECT_EQ(rank_1_last, 4);
  ASSERT_TRUE(report.stragglers);
  const analyzer::LastArrivals& last = report.stragglers->last_arrivals;
  EXPECT_EQ(last.counted, 5);
  ASSERT_FALSE(last.ranks.empty());
  EXPECT_EQ(last.ranks.front(), std::pair(RankId{1}, std::int64_t{4}));
  EXPECT_EQ(last.certainty, analyzer::Certainty::of_two);
  EXPECT_NE(analyzer::render_html(report, **run, {}).find("Rank 1 arrived last in 4 of 5 operations"),
            std::string::npos);
}

TEST(KinetoJobs, TracesOfTwoRealJobsAreNot) {
  if (!fs::exists(testing::shared_data() / "kineto")) GTEST_SKIP() << testing::no_shared_data;
  const fs::path kineto = testing::shared_data() / "kineto";
  const std::array files{kineto / "cuda_graphs_a100_rank0of16" / "rank0.json.gz",
                         kineto / "ddp_v100_rank1of2" / "df_index_resolver.json.gz"};
  const auto run = open_run(files, {});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->quality().of(Counter::jobs_mixed), 1U);
  EXPECT_FALSE(analyzer::analyze(**run, {}).stragglers);
}

TEST(TwoRanksOfARecommender, HaveTheirOperationsListedByTheGroupsThatTheirEndsGave) {
  const fs::path folder = testing::shared_data() / "kineto" / "recsys_2of128_ranks";
  if (!fs::exists(folder)) GTEST_SKIP() << testing::no_shared_data;
  const auto run = open_run(folder);
  ASSERT_TRUE(run) << run.error().message;
  analyzer::ReportOptions options;
  options.instances = true;
  const std::string json = analyzer::render_json(analyzer::analyze(**run, options), **run, options);
  EXPECT_THAT(json, ::testing::HasSubstr("\"group\": \"found by ends\",\n        \"op\": \"alltoall\""));
}

}  // namespace
}  // namespace rankscope
