// GPUs for the engine (engine/accelerator.h). This file and its neighbour are all that is linked to CUDA.
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/Sleep.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "cuda/nccl_transport.h"

namespace rankscope::trainer {
namespace {

using std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;

// A spinning kernel counts cycles at the device's highest clock, which it may not have: short ones, and a look at the
// host's clock between them, are late by little.
constexpr nanoseconds longest_spin = std::chrono::microseconds{200};

c10::DeviceIndex index_of(int device) { return static_cast<c10::DeviceIndex>(device); }

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU";
  for (std::size_t i = 0; i < sizeof(uuid.bytes); ++i) {
    std::array<char, 4> byte{};
    const bool begins_part = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
    std::snprintf(byte.data(), byte.size(), "%s%02x", begins_part ? "-" : "",
                  static_cast<unsigned>(static_cast<unsigned char>(uuid.bytes[i])));
    text += byte.data();
  }
  return text;
}

class Gpus final : public Accelerator {
 public:
  // The number alone, which is 0 where a driver fails, would hide why.
  [[nodiscard]] int devices() const override { return c10::cuda::device_count_ensure_non_zero(); }

  [[nodiscard]] Device describe(int device) const override {
    const cudaDeviceProp& properties = *at::cuda::getDeviceProperties(index_of(device));
    return {properties.name, uuid_text(properties.uuid)};
  }

  void use(int device) override { c10::cuda::set_device(index_of(device)); }
  void finish() override { c10::cuda::getCurrentCUDAStream().synchronize(); }

  void keep_busy(nanoseconds time) override {
    const auto end = Clock::now() + time;
    int cycles_per_millisecond = 0;
    C10_CUDA_CHECK(cudaDeviceGetAttribute(&cycles_per_millisecond, cudaDevAttrClockRate, c10::cuda::current_device()));
    for (nanoseconds left = time; left.count() > 0; left = end - Clock::now()) {
      at::cuda::sleep(std::min(left, longest_spin).count() * cycles_per_millisecond / 1'000'000);
      finish();
    }
  }

  [[nodiscard]] Memory memory(int device) const override {
    using c10::CachingAllocator::StatType;
    const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(index_of(device));
    const auto all = static_cast<std::size_t>(StatType::AGGREGATE);
    return {.allocated = stats.allocated_bytes[all].current,
            .peak_allocated = stats.allocated_bytes[all].peak,
            .reserved = stats.reserved_bytes[all].current};
  }

  [[nodiscard]] std::unique_ptr<Transport> connect(const GroupSeat& seat) override { return connect_nccl(seat); }
};

}  // namespace
}  // namespace rankscope::trainer

extern "C" __attribute__((visibility("default"))) rankscope::trainer::Accelerator* rankscope_accelerator() {
  static rankscope::trainer::Gpus gpus;
  return &gpus;
}
