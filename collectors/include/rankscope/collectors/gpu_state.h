// What could be recorded on this host, and what stands in the way: the lines of `rankscope doctor`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace rankscope::collectors {

/// The GPUs that a host shows, by their files in /dev: known without a driver's library.
struct HostDevices {
  bool nvidia = false;
  bool amd = false;
};
[[nodiscard]] HostDevices host_devices(const std::filesystem::path& root = "/");

/// One thing that is needed, or may disturb.
struct GpuState {
  bool good = false;
  std::string what;    ///< "CUPTI"
  std::string found;   ///< where, and which version; or why it cannot be used
  std::string advice;  ///< what to do; of use where it is not good
};

/// Loads the libraries of the driver, of CUPTI and NCCL as the recorder would, and asks them; no GPU is initialised.
/// `root` holds the /dev and /proc of the host.
[[nodiscard]] std::vector<GpuState> gpu_states(const std::filesystem::path& root = "/");
/// What does not depend on GPUs: the clock between hosts, limits of this process.
[[nodiscard]] std::vector<GpuState> host_states();

}  // namespace rankscope::collectors
