#include "cupti_pm.h"

#include <dlfcn.h>

#include <type_traits>

#include "cupti_library.h"
#include "rankscope/core/format.h"

namespace rankscope::collectors::cupti {
namespace {

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

}  // namespace

std::string PmFunctions::text_of(int status) const {
  const char* text = nullptr;
  return result_text(status, &text) == result::success && text != nullptr ? std::string{text}
                                                                          : format("CUPTI error {}", status);
}

PmLibrary find_pm_functions(const std::string& library) {
  PmLibrary found;
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const why = dlerror();
    found.problem = format("{} cannot be loaded: {}", library, why == nullptr ? "no reason is told" : why);
  } else if (const std::string missing = find_all(handle, found.call); !missing.empty()) {
    found.problem = format("{} lacks {}: CUPTI samples the GPU's counters from CUDA 12.6 on; use a newer CUDA toolkit",
                           library, missing);
  }
  return found;
}

std::string pm_refusal(const PmFunctions& call, int status, const std::string& doing) {
  const std::string text = call.text_of(status);
  if (status == result::insufficient_privileges || status == result::virtual_device_privileges)
    return format(
        "this user may not read the GPU's counters ({} when {}); an administrator permits it with the option "
        "NVreg_RestrictProfilingToAdminUsers=0 of the kernel module nvidia, or with CAP_SYS_ADMIN (driver R565 and "
        "later: CAP_PERFMON) for the job, in a container --cap-add=SYS_ADMIN",
        text, doing);
  if (status == result::hardware_busy)
    return format(
        "another program holds the GPU's counters ({} when {}): end it (Nsight, DCGM, another recording); DCGM lets "
        "go of them with dcgmi profile --pause",
        text, doing);
  const bool kind = status >= result::first_kind_of_device && status <= result::last_kind_of_device;
  if (kind || status == result::not_supported || status == result::virtual_device)
    return format(
        "this GPU, or the way in which it is shared (vGPU, MIG, WSL, confidential computing), has no such "
        "counters: {} when {}",
        text, doing);
  return format("CUPTI refused {}: {}; another profiler may hold the GPU's counters", doing, text);
}

}  // namespace rankscope::collectors::cupti
