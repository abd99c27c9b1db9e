// Kernels, operators and copies of a small run, as text and as JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analyzer/analyses/synthetic_run.h"
#include "rankscope/analyzer/render.h"

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

std::string text_of(const Run& run, const ReportOptions& options = {}) {
  return render_text(analyze(run, options), run, options, Colour::no);
}

TEST(DeviceTables, ShowWhatHeldTheHostUp) {
  const std::string text = text_of(*run_with_copies());
  EXPECT_THAT(text, HasSubstr("DtoH  Device -> Pageable      1  1.000  12.0 MB    12 GB/s"));
  EXPECT_THAT(text, HasSubstr("sync  cudaStreamSynchronize  aten::item   logging            1  4.000"));
  EXPECT_THAT(text, HasSubstr("copy  cudaMemcpyAsync        aten::item   logging            1  1.000"));
}

TEST(DeviceTables, ShowKernelsByTheirShortNames) {
  const std::string text = text_of(*run_with_copies());
  EXPECT_THAT(text, HasSubstr("MeanOps · reduce_kernel"));
  EXPECT_THAT(text, HasSubstr("9 % of the compute time uses them, 91 % does not"));
}

TEST(DeviceTables, SumTheRowsThatAreLeftOut) {
  ReportOptions top;
  top.top = 1;
  EXPECT_THAT(text_of(*run_with_copies(), top), HasSubstr("rest (2 names)"));
}

TEST(DeviceTables, AreLeftOutForCpuRanks) {
  const auto run = rankscope::testing::run_of("0 op 0 10 aten::mm\n");
  const std::string text = text_of(*run);
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
