// Counters of GPUs as text, on the page and as JSON.
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
using testing::run_of;

constexpr std::string_view no_counters =
    "@rank 0 pid=1 host=n0 meta.nvml_gpu_0=\"GPU-a H100\"\n@device 0 0 name=H100 uuid=GPU-a\n"
    "@lane 0 s7 kind=stream number=7 device=0\n0 compute 0 1000 gemm lane=s7\n"
    "@rank 1 pid=2 host=n1\n@device 1 0 name=H100 uuid=GPU-b\n"
    "@lane 1 s7 kind=stream number=7 device=0\n1 compute 0 1000 gemm lane=s7\n";
constexpr std::string_view counters =
    "0 counter 10 96 \"GPU 0 nvml_busy_percent\"\n0 counter 10 1400 \"GPU 0 sm_clock_mhz\"\n"
    "0 counter 20 1500 \"GPU 0 sm_clock_mhz\"\n0 counter 20 83 \"GPU 0 temperature_celsius\"\n"
    "0 counter 10 72 \"GPU 0 throttle_reasons\"\n0 counter 20 1 \"GPU 0 throttle_reasons\"\n"
    "0 counter 0 5000 \"GPU 0 energy_joules\"\n0 counter 1000 7500 \"GPU 0 energy_joules\"\n"
    "0 counter 10 0 \"GPU 0 ecc_uncorrected_errors\"\n0 counter 20 2 \"GPU 0 ecc_uncorrected_errors\"\n";

std::string sampled() { return std::string{no_counters} + std::string{counters}; }

std::string text_of(const std::string& input) {
  const auto run = run_of(input);
  return render_text(analyze(*run, {}), *run, {}, Colour::no);
}

Json rank_json(const std::string& input, std::size_t rank) {
  const auto run = run_of(input);
  return Json::parse(render_json(analyze(*run, {}), *run, {})).at("ranks").at(rank);
}

TEST(DevicesTable, HasALinePerDeviceWithWhatWasSampled) {
  const std::string text = text_of(sampled());
  EXPECT_THAT(text, HasSubstr("DEVICES  of the whole recording\n"
                              "  rank  GPU  device  busy   MHz  °C  throttled\n"
                              "     0    0  H100    96 %  1450  83  50 % hardware thermal slowdown\n"
                              "     1    0  H100       –     –   –  –\n"));
  EXPECT_THAT(text, HasSubstr("in which NVML saw the device busy"));
  EXPECT_THAT(text, HasSubstr("rank 0, GPU 0: 2."));
  EXPECT_THAT(text, HasSubstr("Energy of 1 GPU: 2.5 kJ."));
  EXPECT_THAT(text, HasSubstr("NVML counters are missing for rank 1: no process of the recording sampled the rank's "
                              "GPU."));
}

TEST(DevicesTable, IsLeftOutWhereNothingWasSampled) {
  EXPECT_THAT(text_of("0 compute 0 1000 gemm\n"), Not(HasSubstr("DEVICES")));
  EXPECT_THAT(text_of("@run clock=none\n@rank 0 pid=1\n@device 0 0 name=H100 uuid=GPU-a\n"
                      "@lane 0 s7 kind=stream number=7 device=0\n0 compute 0 1000 gemm lane=s7\n"),
              Not(HasSubstr("DEVICES")));
}

TEST(DevicesTable, IsOnThePageToo) {
  const auto run = run_of(sampled());
  const std::string page = render_html(analyze(*run, {}), *run, {});
  EXPECT_THAT(page, HasSubstr("id=\"devices\""));
  EXPECT_THAT(page, HasSubstr("50 % hardware thermal slowdown"));
}

TEST(DevicesJson, HasValuesAndTheReasonOfEachNull) {
  const Json rank = rank_json(sampled(), 0);
  EXPECT_EQ(rank.at("utilization").at("nvml_busy"), 0.96);
  EXPECT_EQ(rank.at("utilization").at("sm_active"), nullptr);
  EXPECT_EQ(rank.at("why").at("utilization.sm_active"), "not sampled");
  const Json& device = rank.at("devices").at(0);
  EXPECT_EQ(device.at("uuid"), "GPU-a");
  EXPECT_EQ(device.at("why").at("pm"), "not sampled");
  const Json& nvml = device.at("nvml");
  EXPECT_EQ(nvml.at("sm_clock_mhz"), (Json{{"median", 1450.0}, {"max", 1500.0}}));
  EXPECT_EQ(nvml.at("throttled"), (Json{{"share", 0.5},
                                        {"reasons", {{"hw_slowdown", 0.5}, {"hw_thermal_slowdown", 0.5}}},
                                        {"other", {{"gpu_idle", 0.5}}}}));
  EXPECT_EQ(nvml.at("energy_joules"), 2500);
  EXPECT_EQ(nvml.at("ecc_uncorrected_errors"), 2);
  EXPECT_EQ(nvml.at("power_watts"), nullptr);
  EXPECT_EQ(nvml.at("why").at("power_watts"), "not sampled");
}

TEST(DevicesJson, OfAGpuThatNobodySampledSaysWhy) {
  const Json rank = rank_json(sampled(), 1);
  EXPECT_EQ(rank.at("devices").at(0).at("nvml"), nullptr);
  EXPECT_EQ(rank.at("why").at("utilization.nvml_busy"), "no process of the recording sampled the rank's GPU");
  EXPECT_TRUE(rank_json("0 op 0 1000 gemm\n", 0).at("devices").empty());
}

}  // namespace
}  // namespace rankscope::analyzer
