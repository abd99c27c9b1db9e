#include "stragglers/shared_devices.h"

#include <gtest/gtest.h>

#include "analyzer/synthetic_run.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

/// Two ranks with a device each, of which both use their own.
std::shared_ptr<const Run> run_with_devices(std::string_view first, std::string_view second) {
  return testing::run_of(
      format("@run world_size=2\n@rank 0 pid=10\n@device 0 0 uuid={}\n@rank 1 pid=11\n@device 1 0 uuid={}\n"
             "@lane 0 s7 kind=stream number=7 device=0\n@lane 1 s7 kind=stream number=7 device=0\n"
             "0 compute 0 10 gemm lane=s7\n1 compute 0 10 gemm lane=s7\n",
             first, second));
}

Straggler slow(std::uint32_t rank, StragglerKind kind) {
  Straggler row;
  row.rank = RankId{rank};
  row.kind = kind;
  return row;
}

TEST(SharedDevices, ExplainWhenTheKernelsAndCopiesOfARankBegin) {
  const auto run = run_with_devices("GPU-1", "GPU-1");
  const SharedDevices shared{*run};
  for (const StragglerKind kind : {StragglerKind::network, StragglerKind::memory})
    EXPECT_TRUE(shared.explain(slow(1, kind)));
  for (const StragglerKind kind : {StragglerKind::host, StragglerKind::data, StragglerKind::compute})
    EXPECT_FALSE(shared.explain(slow(1, kind)));
  EXPECT_TRUE(shared.text().starts_with("ranks 0, 1 share a GPU, ")) << shared.text();
}

TEST(SharedDevices, ExplainNothingOfRanksWithAGpuOfTheirOwn) {
  const auto run = run_with_devices("GPU-1", "GPU-2");
  EXPECT_FALSE(SharedDevices{*run}.explain(slow(1, StragglerKind::network)));
}

TEST(SharedDevices, ExplainNothingOfADeviceThatOneRankOnlySees) {
  const auto run = testing::run_of(
      "@run world_size=2\n@rank 0 pid=10\n@device 0 0 uuid=GPU-1\n@rank 1 pid=11\n@device 1 0 uuid=GPU-1\n"
      "@lane 0 s7 kind=stream number=7 device=0\n0 compute 0 10 gemm lane=s7\n1 step 0 10 step\n");
  EXPECT_FALSE(SharedDevices{*run}.explain(slow(0, StragglerKind::network)));
}

}  // namespace
}  // namespace rankscope::analyzer
