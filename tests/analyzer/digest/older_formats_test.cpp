// A digest of each released version is read for ever; the samples are never made anew. Their bytes were put together
// from core/src/digest/FORMAT.md, not by the writer.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "analyzer/synthetic_run.h"
#include "digest/digest_set.h"
#include "digest/merged_sections.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

std::string sample(const std::string& name) {
  std::ifstream file{std::string{RANKSCOPE_SAMPLES "/digests/"} + name, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// Two ranks with two steps, as the first version with kernels and copies wrote them.
class DigestFormat1 : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto added = set_.add("format_1_0.rsd", sample("format_1_0.rsd"));
    ASSERT_TRUE(added) << added.error().message;
    steps_ = steps_from(set_.ranks(), ClockTrust{*run_}, {});
    ASSERT_TRUE(steps_.section) << steps_.section.error().why;
  }

  std::shared_ptr<const rankscope::Run> run_ =
      testing::run_of("@rank 0 pid=1 host=n0\n@rank 1 pid=2 host=n0\n0 op 0 1 op\n");
  DigestSet set_;
  StepsResult steps_;
};

TEST_F(DigestFormat1, HasItsSteps) {
  ASSERT_EQ(set_.ranks().size(), 2U);
  EXPECT_EQ(set_.ranks()[1].steps.recorded, (TimeRange{at(0), at(200)}));
  ASSERT_EQ(steps_.section->steps.size(), 2U);
  EXPECT_EQ(steps_.section->steps[1].time, (TimeRange{at(100), at(190)}));
}

TEST_F(DigestFormat1, HasItsKernels) {
  const auto kernels = kernels_from(set_.ranks(), steps_.section, {});
  ASSERT_TRUE(kernels) << kernels.error().why;
  ASSERT_EQ(kernels->names.size(), 2U);
  EXPECT_EQ(kernels->names[0].name, "gemm");
  EXPECT_EQ(kernels->names[0].times.count, 6);
  EXPECT_EQ(kernels->names[0].times.sum_ns, 180);
  EXPECT_EQ(kernels->names[0].times.exclusive_ns, 180);
  EXPECT_EQ(kernels->names[0].times.median_ns, 30);
  EXPECT_EQ(kernels->names[1].times.exclusive_ns, 20);
  EXPECT_EQ(kernels->keys[0].grid, "[1,1,1]");
  EXPECT_EQ(kernels->ranks[0].together, (std::array<std::int64_t, together_count>{90, 75, 10, 15}));
}

TEST_F(DigestFormat1, HasItsCopies) {
  const auto copies = copies_from(set_.ranks(), steps_.section, steps_.all, {});
  ASSERT_TRUE(copies) << copies.error().why;
  ASSERT_EQ(copies->copies.size(), 1U);
  EXPECT_EQ(copies->copies[0].count, 2);
  EXPECT_EQ(copies->copies[0].bytes, 16);
  EXPECT_EQ(copies->copies[0].exposed_ns, 20);
  ASSERT_EQ(copies->blocking_copies.size(), 1U);
  EXPECT_EQ(copies->blocking_copies[0].call, "cudaMemcpy");
  EXPECT_EQ(copies->blocking_copies[0].ns, 24);
}

TEST_F(DigestFormat1, SaysWhichPartsItLacks) {
  const auto loading = data_loading_from(set_.ranks(), steps_.section, {});
  ASSERT_FALSE(loading);
  EXPECT_EQ(loading.error().why,
            "the digest of rank 0 lacks data loading, or was written by a newer version of rankscope; open the "
            "recording instead");
  EXPECT_FALSE(launches_from(set_.ranks(), steps_.section, {}));
}

}  // namespace
}  // namespace rankscope::analyzer
