// Kernels, operators and copies of a small run, as text and as JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/render.h"
#include "rankscope/core/format.h"
#include "support/markup.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::Not;

std::shared_ptr<const Run> run_with_copies() {
  return rankscope::testing::run_of(
      "@lane 0 main kind=thread number=1\n"
      "@lane 0 s7 kind=stream number=7 device=0\n"
      "0 user 0 9000000 logging lane=main\n"
      "0 op 1000000 8000000 aten::item lane=main\n"
      "0 runtime 2000000 3000000 cudaMemcpyAsync lane=main\n"
      "0 runtime 3000000 7000000 cudaStreamSynchronize lane=main\n"
      "0 compute 0 5000000 \"void ns::reduce_kernel<512, ns::MeanOps<float> >(int)\" lane=s7\n"
      "0 compute 5000000 5500000 volta_h884gemm lane=s7\n"
      "0 memory 5500000 6500000 \"Memcpy DtoH (Device -> Pageable)\" bytes=12000000 lane=s7\n"
      "@link launch 2 6\n");
}

std::string tables_text(const Run& run, const ReportOptions& options = {}) {
  return render_text(analyze(run, options), run, options, Colour::no);
}

TEST(DeviceTables, ShowWhatHeldTheHostUp) {
  const std::string text = tables_text(*run_with_copies());
  EXPECT_THAT(text, HasSubstr("DtoH  Device -> Pageable      1  1.000  12.0 MB    12 GB/s"));
  EXPECT_THAT(text, HasSubstr("sync  cudaStreamSynchronize  aten::item   logging            1  4.000"));
  EXPECT_THAT(text, HasSubstr("copy  cudaMemcpyAsync        aten::item   logging            1  1.000"));
}

TEST(DeviceTables, ShowKernelsByTheirShortNames) {
  const std::string text = tables_text(*run_with_copies());
  EXPECT_THAT(text, HasSubstr("MeanOps · reduce_kernel"));
  EXPECT_THAT(text, HasSubstr("100 % of the time of matrix products and convolutions"));
}

TEST(DeviceTables, SumTheRowsThatAreLeftOut) {
  ReportOptions top;
  top.top = 1;
  const std::string text = tables_text(*run_with_copies(), top);
  EXPECT_THAT(text, HasSubstr("rest (2 names)"));
  EXPECT_THAT(text, HasSubstr("2 more are not shown; --top 3 shows all."));
}

/// Kernels of 10 ns each, launched one after the other.
std::shared_ptr<const Run> run_of_kernels(const std::vector<std::string>& names) {
  std::string text = "@lane 0 main kind=thread number=1\n@lane 0 s7 kind=stream number=7 device=0\n";
  for (std::size_t i = 0; i < names.size(); ++i)
    text += format("0 compute {} {} \"{}\" lane=s7\n", i * 10, i * 10 + 10, names[i]);
  return rankscope::testing::run_of(text);
}

std::vector<std::string> many_names(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(format("kernel_{:02}", i));
  return names;
}

TEST(DeviceTables, SayHowTheRestIsSeenInTextAndOnThePage) {
  const auto run = run_of_kernels(many_names(30));
  EXPECT_THAT(tables_text(*run), HasSubstr("20 more are not shown; --top 30 shows all."));
  ReportOptions options;
  const auto page = [&] { return render_html(analyze(*run, options), *run, options); };
  EXPECT_THAT(page(), HasSubstr("5 more are not shown; a page made with --top 30 shows all."));
  EXPECT_THAT(page(), Not(HasSubstr("kernel_27")));
  options.top = 30;
  EXPECT_THAT(page(), HasSubstr("kernel_27"));
  EXPECT_THAT(page(), Not(HasSubstr(" more; ")));
  EXPECT_THAT(tables_text(*run, options), Not(HasSubstr(" more; ")));
}

TEST(DeviceTables, KernelsThatWouldReadTheSameAreNumbered) {
  const auto run =
      run_of_kernels({"void a::fill<float>(int)", "void a::fill<double>(int)", "gemm",
                      "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ncclDevKernel_AllReduce_Sum_f32_RING_SIMPLE",
                      "split_embedding_backward_" + std::string(40, 'a') + "_1_unweighted_kernel",
                      "split_embedding_backward_" + std::string(40, 'a') + "_2_unweighted_kernel"});
  const std::string text = tables_text(*run);
  EXPECT_THAT(text, HasSubstr("\n  (1) fill "));
  EXPECT_THAT(text, HasSubstr("\n  (2) fill "));
  EXPECT_THAT(text, HasSubstr("\n  ncclDevKernel_AllR…e_Sum_f32_RING_LL "));
  EXPECT_THAT(text, HasSubstr("\n  ncclDevKernel_AllR…m_f32_RING_SIMPLE "));
  EXPECT_THAT(text, HasSubstr("\n  (1) split_embeddin…unweighted_kernel "));
  EXPECT_THAT(text, HasSubstr("\n  (2) split_embeddin…unweighted_kernel "));
  EXPECT_THAT(text, HasSubstr("\n  gemm "));
  EXPECT_THAT(text, HasSubstr("marks kernels whose names differ only in a part that is left"));
  const std::string page = render_html(analyze(*run, {}), *run, {});
  EXPECT_THAT(page, HasSubstr(">(1) fill<"));
  EXPECT_THAT(page, HasSubstr(">ncclDevKernel_AllReduce_Sum_f32_RING_SIMPLE<")) << "which has room for it";
  EXPECT_THAT(tables_text(*run_of_kernels({"gemm", "fill"})), Not(HasSubstr("(1)")));
}

TEST(DeviceTables, ShowNoLengthOfCallsWhereAllWereInGraphs) {
  const auto run = rankscope::testing::run_of(
      "@lane 0 main kind=thread number=1\n"
      "@lane 0 s7 kind=stream number=7 device=0\n"
      "0 runtime 0 10 cudaGraphLaunch lane=main\n"
      "0 compute 15 16 a lane=s7\n"
      "0 compute 20 21 b lane=s7\n"
      "@link launch 0 1\n"
      "@link launch 0 2\n");
  const std::string text = tables_text(*run);
  EXPECT_THAT(text, HasSubstr("   0  all            2     –  7 ns (10 ns)      –"));
  EXPECT_THAT(text, HasSubstr("– means that all launches were in CUDA graphs"));
}

TEST(DeviceTables, SayThatStreamsOfSeveralRanksAreLeftOut) {
  std::string text;
  for (const int rank : {0, 1})
    text += format(
        "@lane {0} main kind=thread number=1\n@lane {0} s7 kind=stream number=7 device=0\n"
        "{0} runtime 0 10 cudaLaunchKernel lane=main\n{0} compute 15 16 a lane=s7\n@link launch {1} {2}\n",
        rank, 2 * rank, 2 * rank + 1);
  const auto run = rankscope::testing::run_of(text);
  EXPECT_THAT(tables_text(*run),
              HasSubstr("2 rows of single streams are not shown. To see the streams of one rank, select it with "));
  ReportOptions one;
  one.ranks = {RankId{1}};
  EXPECT_THAT(tables_text(*run, one), HasSubstr("   1  0:7            1"));
  EXPECT_THAT(tables_text(*run, one), Not(HasSubstr("Streams:")));
}

TEST(DeviceTables, SayWhatLateMeansOnlyWhereSomethingWasLate) {
  const std::string unlaunched = tables_text(*run_with_copies());
  EXPECT_THAT(unlaunched, HasSubstr("WHY NOTHING RAN"));
  EXPECT_THAT(unlaunched, Not(HasSubstr("Host was late:")));
}

TEST(DeviceTables, AreMeansPerStepOnlyWhereAStepWasCounted) {
  const auto run = rankscope::testing::run_of(
      "@lane 0 main kind=thread number=1\n"
      "@lane 0 s7 kind=stream number=7 device=0\n"
      "0 step 0 100 step index=0 cut=end lane=main\n"
      "0 compute 10 20 a lane=s7\n"
      "0 compute 60 70 b lane=s7\n");
  const Report report = analyze(*run, {});
  ASSERT_TRUE(report.steps) << report.steps.error().why;
  EXPECT_THAT(render_text(report, *run, {}, Colour::no), HasSubstr("WHY NOTHING RAN  whole recording\n"));
}

TEST(DeviceTables, SayThatThreadsOverlapWhereTheyDo) {
  const auto text = [](const char* second) {
    return tables_text(*rankscope::testing::run_of(std::string{"@lane 0 main kind=thread number=1\n"
                                                               "@lane 0 gloo kind=thread number=2\n"
                                                               "0 op 0 100 aten::mm lane=main\n0 op 0 90 "} +
                                                   "gloo:all_reduce lane=" + second + "\n"));
  };
  EXPECT_THAT(text("gloo"), HasSubstr("The host times of several threads are added up"));
  EXPECT_THAT(text("main"), Not(HasSubstr("The host times of several threads")));
}

TEST(DeviceTables, NamesOfKernelsAndOperatorsAreNeverMarkup) {
  const std::string hostile = R"(<script>alert(1)</script>\"'&<img src=x>)";
  const auto run = rankscope::testing::run_of(
      "@lane 0 main kind=thread number=1\n"
      "@lane 0 s7 kind=stream number=7 device=0\n"
      "0 user 0 100 \"" +
      hostile +
      "\" lane=main\n"
      "0 op 10 90 \"" +
      hostile +
      "\" lane=main\n"
      "0 runtime 20 30 \"" +
      hostile +
      "\" lane=main\n"
      "0 runtime 40 80 cudaStreamSynchronize lane=main\n"
      "0 compute 25 50 \"" +
      hostile +
      "\" lane=s7\n"
      "0 memory 60 70 \"Memcpy DtoH (" +
      hostile +
      ")\" lane=s7\n"
      "@link launch 2 4\n");
  const std::string page = render_html(analyze(*run, {}), *run, {});
  EXPECT_EQ(rankscope::testing::badly_nested(page), "");
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  for (const char* const section : {"idle", "launches", "kernels", "operators", "copies"})
    EXPECT_THAT(page, HasSubstr(format("<section id=\"{}\"", section)));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;&lt;img"));
}

TEST(DeviceTables, AreLeftOutForCpuRanks) {
  const auto run = rankscope::testing::run_of("0 op 0 10 aten::mm\n");
  const std::string text = tables_text(*run);
  EXPECT_THAT(text, HasSubstr("OPERATORS"));
  EXPECT_THAT(text, Not(HasSubstr("KERNELS")));
  EXPECT_THAT(text, Not(HasSubstr("device ms")));
  const Json json = Json::parse(render_json(analyze(*run, {}), *run, {}));
  EXPECT_EQ(json.at("kernels"), (Json{{"unavailable", "no rank has an accelerator"}}));
  EXPECT_TRUE(json.at("operators").at("device_ns").is_null());
  EXPECT_EQ(json.at("operators").at("why").at("device_ns"), "no rank has an accelerator");
}

TEST(DeviceTables, AddUpInJson) {
  const auto run = run_with_copies();
  const Json kernels = Json::parse(render_json(analyze(*run, {}), *run, {})).at("kernels");
  std::int64_t exclusive = kernels.at("names_rest").at("exclusive_ns");
  for (const Json& row : kernels.at("names")) exclusive += row.at("exclusive_ns").get<std::int64_t>();
  EXPECT_EQ(exclusive, kernels.at("exclusive_ns"));
  std::int64_t together = 0;
  for (const Json& part : kernels.at("ranks").at(0).at("together")) together += part.get<std::int64_t>();
  EXPECT_EQ(together, kernels.at("window_ns"));
}

}  // namespace
}  // namespace rankscope::analyzer
