// The CUDA part on a machine without a GPU: it is loaded, and says so.
#include "engine/comm/accelerator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/step/devices.h"
#include "rankscope/trainer/launch/gpu_plan.h"
#include "trainer/program/cuda_part.h"

namespace rankscope::trainer {
namespace {

#ifdef RANKSCOPE_TRAIN_CUDA
TEST(Accelerator, ThatFindsNoGpuIsNotTaken) {
  if (find_gpus().devices > 0) GTEST_SKIP() << "a GPU is here";
  const auto loaded = load_accelerator();
  ASSERT_FALSE(loaded);
  const bool is_whole = testing::missing_for(RANKSCOPE_TRAIN_CUDA).empty();
  EXPECT_THAT(loaded.error().message, ::testing::HasSubstr(is_whole ? "NVIDIA driver" : "cannot be loaded"))
      << "the first comes from inside it";
  EXPECT_EQ(accelerator(), nullptr);
}
#endif

TEST(Devices, AreOfTheCpuWithoutAnAccelerator) {
  const Placement place{};
  TrainOptions options;
  options.dtype = DataType::f64;
  EXPECT_EQ(device_of(place, 1), at::Device{at::kCPU});
  EXPECT_EQ(tensor_kind(options, place).dtype().toScalarType(), at::kDouble);
  const Inputs inputs{at::ones({2}), at::ones({2})};
  const Inputs there = on_device(device_of(place), inputs);
  EXPECT_TRUE(there.data.is_same(inputs.data)) << "nothing is copied";
  EXPECT_FALSE(paced_device().finish);
}

TEST(Devices, AreThoseOfTheRank) {
  const Placement place{.gpu = 2};
  EXPECT_EQ(device_of(place), (at::Device{at::kCUDA, 2}));
  EXPECT_EQ(device_of(place, 1), (at::Device{at::kCUDA, 3}));
  EXPECT_EQ(tensor_kind({}, place).device(), (at::Device{at::kCUDA, 2}));
}

}  // namespace
}  // namespace rankscope::trainer
