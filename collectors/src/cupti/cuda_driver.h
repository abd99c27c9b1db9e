// CUDA's driver as far as it tells which GPUs this process uses.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace rankscope::collectors {

struct CudaDevice {
  std::uint32_t ordinal = 0;  ///< in this process
  std::string uuid{};         ///< as nvidia-smi prints it
};

/// The newest CUDA that the driver runs: 12040 for CUDA 12.4. Nothing if there is no driver, or if it does not tell.
/// Needs no initialised CUDA.
[[nodiscard]] std::optional<int> cuda_of_driver();

/// Initialises CUDA (cuInit): first in a child, which may crash or need longer than `patience`, then in this process.
/// Not while the program does so itself.
[[nodiscard]] bool driver_works(std::chrono::milliseconds patience = std::chrono::seconds{20});

/// The kernel has NVIDIA's driver (or, in WSL, that of Windows), and this process sees its device under `root`.
[[nodiscard]] bool has_gpu_device(const std::filesystem::path& root = "/");

/// cuDeviceGetCount of the driver that the process has: it asks no device anything, and CUPTI records it. Null without.
[[nodiscard]] int (*harmless_driver_call())(int*);

class CudaDriver {
 public:
  /// Finds the libcuda.so.1 that the process has, or the library that RANKSCOPE_CUDA names.
  CudaDriver();

  /// Empty: it can be asked.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// The devices that can be used; none before CUDA is initialised.
  [[nodiscard]] std::vector<CudaDevice> devices() const;
  /// This process has made the primary context of a device, as CUDA's runtime does, PyTorch and NCCL with it.
  [[nodiscard]] bool is_used(std::uint32_t ordinal) const;

 private:
  struct Uuid {
    std::array<std::uint8_t, 16> bytes;
  };
  int (*count_)(int*) = nullptr;
  int (*device_)(int* device, int ordinal) = nullptr;
  int (*uuid_)(Uuid*, int device) = nullptr;
  int (*context_)(int device, unsigned* flags, int* active) = nullptr;
  std::string problem_;
};

}  // namespace rankscope::collectors
