#include "rankscope/collectors/gpu_state.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cupti_library.h"
#include "cupti_records.h"
#include "inject_settings.h"
#include "nvml_sampler.h"
#include "rankscope/collectors/record.h"
#include "rankscope/core/format.h"

namespace rankscope::collectors {
namespace {

constexpr int oldest_nccl = 22300;
constexpr const char* driver_library = "libcuda.so.1";

GpuState driver_state() {
  const bool there = dlopen(driver_library, RTLD_LAZY | RTLD_LOCAL) != nullptr;
  return {there, "NVIDIA driver", there ? std::string{driver_library} : "none: libcuda.so.1 cannot be loaded",
          "kernels, copies and GPU counters are not recorded; NVTX ranges, host samples and annotations are"};
}

std::string version_text(std::uint32_t number) {
  if (number >= cupti::version::v13_0) return format("{}.{}", number / 10'000, number / 100 % 100);
  constexpr std::array<std::string_view, 7> of_12{"12.4", "12.5", "12.6", "12.7", "12.8", "12.9", "12.9 U1"};
  const bool known = number >= cupti::version::v12_4 && number - cupti::version::v12_4 < of_12.size();
  return known ? std::string{of_12[number - cupti::version::v12_4]} : "unknown";
}

GpuState cupti_state() {
  const cupti::Library library = cupti::load_library();
  GpuState state{library.problem.empty(), "CUPTI", library.problem,
                 "kernels, copies and CUDA calls are not recorded; a program that brings its own libcupti, as PyTorch "
                 "does, is recorded with that one"};
  if (state.good)
    state.found = format("{}, CUDA {} ({})", library.path, version_text(library.version), library.version);
  return state;
}

GpuState nvml_state() {
  const NvmlSampler sampler;
  GpuState state{sampler.problem().empty(), "GPUs (NVML)", sampler.problem(),
                 "memory, power, clocks and links of GPUs are not sampled"};
  if (!state.good) return state;
  state.found = format("driver {}", sampler.driver_version());
  for (const NvmlDevice& device : sampler.devices())
    state.found += format("; {} {} {}", device.index, device.name, device.uuid);
  return state;
}

/// The interface of profiler plugins that a version of NCCL takes first.
int plugin_interface(int nccl) {
  constexpr std::array<std::pair<int, int>, 6> first{
      {{22900, 6}, {22800, 5}, {22700, 4}, {22600, 3}, {22400, 2}, {22300, 1}}};
  const auto* const found = std::ranges::find_if(first, [nccl](const auto& entry) { return nccl >= entry.first; });
  return found == first.end() ? 0 : found->second;
}

GpuState nccl_state() {
  GpuState state{false, "NCCL", "the dynamic linker finds no libnccl.so.2",
                 "PyTorch brings its own, which is recorded all the same; NCCL 2.23 or newer is needed"};
  for (const char* const path : {"libnccl.so.2", "/usr/local/cuda/lib64/libnccl.so.2"}) {
    void* const library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) continue;
    const auto get_version = reinterpret_cast<int (*)(int*)>(dlsym(library, "ncclGetVersion"));
    int version = 0;
    if (get_version == nullptr || get_version(&version) != 0) continue;
    state.good = version >= oldest_nccl;
    state.found = format("{}, {}.{}.{}", path, version / 10'000, version / 100 % 100, version % 100);
    state.found += state.good ? format(", profiler plugin version {}", plugin_interface(version))
                              : std::string{": too old for profiler plugins"};
    return state;
  }
  return state;
}

/// Hooks of other tools, which are kept.
GpuState hook_state(const char* variable, std::string_view what, std::string_view lost) {
  const char* const value = std::getenv(variable);
  const bool foreign = value != nullptr && std::filesystem::path{value}.filename() != inject_library_name;
  return {!foreign, std::string{what},
          foreign ? format("{} names {}", variable, value) : format("{} is free", variable),
          format("unset it to record {}", lost)};
}

/// Counters of the hardware need it, kernels and copies do not.
GpuState permission_state() {
  std::ifstream file{"/proc/driver/nvidia/params"};
  GpuState state{false, "GPU counters", "no NVIDIA kernel module", "only performance counters need them"};
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("RmProfilingAdminOnly")) continue;
    state.good = line.ends_with("0");
    state.found = state.good ? "allowed for every user" : "only for the administrator (RmProfilingAdminOnly)";
    state.advice = "kernels, copies and NVML need no permission; this version records no performance counters";
  }
  return state;
}

}  // namespace

std::vector<GpuState> gpu_states() {
  return {driver_state(),
          nvml_state(),
          cupti_state(),
          nccl_state(),
          hook_state(variable::cuda_injection, "CUDA hook", "kernels and copies"),
          hook_state(variable::nccl_plugin, "NCCL hook", "NCCL's collectives"),
          permission_state()};
}

}  // namespace rankscope::collectors
