// FLOP of recordings that others made, against a count of our own over the raw JSON (2·m·n·k of each product, and of
// each convolution the output of its backward pass): scripts of a few lines, which know nothing of rankscope.
#include <gtest/gtest.h>

#include "rankscope/analyzer/open.h"
#include "rankscope/analyzer/report.h"
#include "shared_data.h"

namespace rankscope {
namespace {

namespace fs = std::filesystem;

class SharedFlops : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(testing::shared_data() / "kineto")) GTEST_SKIP() << testing::no_shared_data;
  }
  static analyzer::FlopsSection flops_of(const char* file) {
    const auto run = analyzer::open_run(testing::shared_data() / "kineto" / file);
    analyzer::ReportOptions all;
    all.include_warm_up = true;
    return analyzer::analyze(**run, all).flops.value();
  }
};

TEST_F(SharedFlops, OfAResNet50WithoutStrides) {
  const auto section = flops_of("old_2021_resnet50/worker0.1623212756351.pt.trace.json.gz");
  EXPECT_EQ(section.sums.calls, 654);
  EXPECT_EQ(section.sums.model, 4'710'740'262'912);
  EXPECT_EQ(section.sums.kernels_ns, 403'368'000);
  EXPECT_EQ(section.sums.assumed, 3'138'920'644'608) << "which gradients were wanted was not recorded";
  std::int64_t forward = 0;
  for (const analyzer::FlopRow& row : section.operators)
    if (row.name == "aten::cudnn_convolution" || row.name == "aten::addmm") forward += row.sums.model;
  EXPECT_NEAR(static_cast<double>(forward) / 6 / 32, 2 * 4.09e9, 2e7) << "published: 4.09 G multiplications an image";
}

TEST_F(SharedFlops, OfALayerOnAB200) {
  const auto section = flops_of("b200_eager/eager_trace.json.gz");
  EXPECT_EQ(section.sums.calls, 109);
  EXPECT_EQ(section.sums.model, 235'838'453'760);
  EXPECT_EQ(section.ranks.front().precisions.front().peak_tflops, 2250);
  EXPECT_EQ(section.ranks.front().lost_calls[static_cast<std::size_t>(analyzer::NotCountable::not_told_by_shapes)], 36)
      << "attention with packed sequences";
}

TEST_F(SharedFlops, OfAToyOnAnMi250) {
  const auto section = flops_of("amd_mi250/mi250_minitoy_train_ROCm6_2_kineto.json.gz");
  EXPECT_EQ(section.sums.calls, 2);
  EXPECT_EQ(section.sums.model, 327'680);
}

}  // namespace
}  // namespace rankscope
