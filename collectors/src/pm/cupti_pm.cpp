#include "pm/cupti_pm.h"

#include <dlfcn.h>

#include <array>
#include <filesystem>
#include <type_traits>

#include "cupti/records.h"
#include "rankscope/core/format.h"

namespace rankscope::collectors::cupti {
namespace {

namespace fs = std::filesystem;

constexpr const char* host_library = "libnvperf_host.so";

/// The first name that the library lacks; empty if it has all.
std::string find_all(void* library, PmFunctions& call) {
  std::string missing;
  const auto need = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (function == nullptr && missing.empty()) missing = name;
  };
  need("cuptiProfilerInitialize", call.initialize);
  need("cuptiProfilerDeInitialize", call.deinitialize);
  need("cuptiDeviceGetChipName", call.chip_name);
  need("cuptiPmSamplingGetCounterAvailability", call.availability);
  need("cuptiProfilerHostInitialize", call.host_initialize);
  need("cuptiProfilerHostDeinitialize", call.host_deinitialize);
  need("cuptiProfilerHostConfigAddMetrics", call.add_metrics);
  need("cuptiProfilerHostGetConfigImageSize", call.config_size);
  need("cuptiProfilerHostGetConfigImage", call.config_image);
  need("cuptiProfilerHostGetNumOfPasses", call.passes);
  need("cuptiProfilerHostEvaluateToGpuValues", call.evaluate);
  need("cuptiPmSamplingEnable", call.enable);
  need("cuptiPmSamplingSetConfig", call.set_config);
  need("cuptiPmSamplingStart", call.start);
  need("cuptiPmSamplingStop", call.stop);
  need("cuptiPmSamplingDisable", call.disable);
  need("cuptiPmSamplingGetCounterDataSize", call.data_size);
  need("cuptiPmSamplingCounterDataImageInitialize", call.data_image);
  need("cuptiPmSamplingDecodeData", call.decode);
  need("cuptiPmSamplingGetCounterDataInfo", call.data_info);
  need("cuptiPmSamplingCounterDataGetSampleInfo", call.sample_info);
  need("cuptiGetResultString", call.result_text);
  return missing;
}

/// The folder in which the linker found a library, and that of the file, which differ where it is a link.
std::array<fs::path, 2> folders_of(const void* symbol) {
  Dl_info info{};
  if (dladdr(symbol, &info) == 0 || info.dli_fname == nullptr) return {};
  const fs::path path{info.dli_fname};
  std::error_code error;
  return {path.parent_path(), fs::canonical(path, error).parent_path()};
}

bool has_host_library() { return dlopen(host_library, RTLD_NOW | RTLD_NOLOAD) != nullptr; }

/// The linker then knows it by the name that it has inside. One that the process has stays the only one.
void load_host_library(const std::array<fs::path, 2>& folders) {
  if (has_host_library()) return;
  for (const fs::path& folder : folders)
    if (!folder.empty() && dlopen((folder / host_library).c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return;
}

}  // namespace

// Release notes of 12.8: sampling took the wrong device of several. Its SetConfig also has the append mode, which CUPTI
// of 12.6 refuses: there the structure has 60 bytes (docs/evidence/versions.md).
std::string sampling_refusal_of(std::uint32_t number) {
  return number >= version::v12_8
             ? std::string{}
             : format(
                   "sampling the GPU's counters needs CUDA 12.8 or later (this is CUPTI {}): older versions can "
                   "read the counters of the wrong GPU; use a newer CUDA toolkit",
                   number);
}

PmLibrary find_pm_functions(const std::string& library) {
  PmLibrary found;
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const why = dlerror();
    found.problem = format("{} cannot be loaded: {}", library, why == nullptr ? "no reason was given" : why);
  } else if (const std::string missing = find_all(handle, found.call); !missing.empty()) {
    found.problem =
        format("{} lacks {}: sampling the GPU's counters needs CUDA 12.8 or later; use a newer CUDA toolkit", library,
               missing);
  } else {
    const auto folders = folders_of(reinterpret_cast<const void*>(found.call.host_initialize));
    found.call.folder = folders[0].string();
    load_host_library(folders);
  }
  return found;
}

std::string pm_refusal(const PmFunctions& call, int status, const std::string& doing) {
  const std::string text = call.text_of(status);
  if (status == result::insufficient_privileges || status == result::virtual_device_privileges)
    return format(
        "this user is not allowed to read the GPU's counters ({} when {}); an administrator can permit it with the "
        "option NVreg_RestrictProfilingToAdminUsers=0 of the kernel module nvidia, or with CAP_SYS_ADMIN (driver R565 "
        "and later: CAP_PERFMON) for the job; in a container: --cap-add=SYS_ADMIN",
        text, doing);
  if (status == result::hardware_busy)
    return format(
        "another program is using the GPU's counters ({} when {}): stop it (Nsight, DCGM, another recording); dcgmi "
        "profile --pause makes DCGM release them",
        text, doing);
  if (status == result::not_initialized && !has_host_library())
    return format(
        "{} was not found ({} when {}); CUPTI needs it to describe the GPU's counters. It comes with the CUDA toolkit "
        "and the package nvidia-cuda-cupti. Copy it to {}, the folder of the libcupti that is used, or add the folder "
        "that contains it to LD_LIBRARY_PATH",
        host_library, text, doing, call.folder);
  const bool kind = status >= result::first_kind_of_device && status <= result::last_kind_of_device;
  if (kind || status == result::not_supported || status == result::virtual_device)
    return format(
        "this GPU does not offer these counters, or not in its current mode (vGPU, MIG, WSL, confidential computing): "
        "{} when {}",
        text, doing);
  return format("CUPTI failed when {}: {}; another profiler may be using the GPU's counters", doing, text);
}

}  // namespace rankscope::collectors::cupti
