// FLOP and the ladder of losses of a small run, as text, JSON and page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/render.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::Not;

/// A product of 2e9 FLOP on BF16 in 10 µs of 20 on an A100, whose peak is 312 TFLOP/s.
std::shared_ptr<const Run> run_with_a_product() {
  return rankscope::testing::run_of(
      "@device 0 0 name=\"NVIDIA A100-SXM4-80GB\"\n"
      "@lane 0 main kind=thread number=1\n"
      "@lane 0 s7 kind=stream number=7 device=0\n"
      "0 step 0 20000 step index=0 lane=main\n"
      "0 op 0 100 aten::mm \"Input Dims\"=@\"[[1000,1000],[1000,1000]]\" "
      "\"Input type\"=@\"[\\\"c10::BFloat16\\\",\\\"c10::BFloat16\\\"]\" lane=main\n"
      "0 runtime 20 30 cudaLaunchKernel lane=main\n"
      "0 compute 100 10100 gemm lane=s7\n"
      "@link launch 2 3\n");
}

TEST(FlopTables, ShowTheLadderInPointsThatAddUp) {
  const auto run = run_with_a_product();
  const Report report = analyze(*run, {});
  const std::string text = render_text(report, *run, {}, Colour::no);
  EXPECT_THAT(text, HasSubstr("2.00 GFLOP"));
  EXPECT_THAT(text, HasSubstr("100.0 % of the FLOPs in BF16 (peak 312 TFLOP/s); source of the peaks"));
  EXPECT_THAT(text, HasSubstr("LOST TIME"));
  EXPECT_THAT(text, HasSubstr("counted kernels below the peak"));
  const Json json = Json::parse(render_json(report, *run, {}))["flops"];
  EXPECT_EQ(json["mfu"], 0.3205);
  std::int64_t ns = 0;
  double points = 0;
  for (const Json& part : json["ladder"]["parts"]) {
    ns += part["ns"].get<std::int64_t>();
    points += part["points"].get<double>();
  }
  EXPECT_EQ(ns, json["ladder"]["whole_ns"]);
  EXPECT_DOUBLE_EQ(points, 100);
}

TEST(FlopTables, DrawTheLadderOnThePage) {
  const auto run = run_with_a_product();
  const std::string page = render_html(analyze(*run, {}), *run, {});
  EXPECT_THAT(page, HasSubstr("id=\"loss-ladder\""));
  EXPECT_THAT(page, HasSubstr("class=\"mark below-peak\""));
}

TEST(FlopTables, AreLeftOutWithAReasonWhereNothingIsKnown) {
  const auto run = rankscope::testing::run_of(
      "@lane 0 s7 kind=stream number=7 device=0\n"
      "0 compute 0 100 gemm lane=s7\n");
  const Report report = analyze(*run, {});
  const std::string text = render_text(report, *run, {}, Colour::no);
  EXPECT_THAT(text, Not(HasSubstr("LOST TIME")));
  EXPECT_THAT(text, HasSubstr("FLOP and lost time"));
  EXPECT_THAT(text, HasSubstr("no matrix product, convolution or attention was recorded"));
  const Json json = Json::parse(render_json(report, *run, {}))["flops"];
  EXPECT_EQ(json["mfu"], nullptr);
  EXPECT_EQ(json["why"]["mfu"], "no FLOPs were counted");
}

}  // namespace
}  // namespace rankscope::analyzer
