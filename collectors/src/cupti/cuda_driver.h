// CUDA's driver as far as it tells which GPUs this process uses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rankscope::collectors {

struct CudaDevice {
  std::uint32_t ordinal = 0;  ///< in this process
  std::string uuid{};         ///< as nvidia-smi prints it
};

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
    unsigned char bytes[16];
  };
  int (*count_)(int*) = nullptr;
  int (*device_)(int* device, int ordinal) = nullptr;
  int (*uuid_)(Uuid*, int device) = nullptr;
  int (*context_)(int device, unsigned* flags, int* active) = nullptr;
  std::string problem_;
};

}  // namespace rankscope::collectors
