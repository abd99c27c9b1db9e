#include "rankscope/trainer/launch/gpu_driver.h"

#include <dlfcn.h>
#include <unistd.h>

#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

constexpr int success = 0;
constexpr int no_device = 100;

// The three functions of cuda.h that are needed; their forms have not changed since CUDA 6.
using Init = int (*)(unsigned);
using CountDevices = int (*)(int*);
using ErrorString = int (*)(int, const char**);

template <class Function>
Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

std::string error_text(void* library, int error) {
  const char* text = nullptr;
  const auto describe = find<ErrorString>(library, "cuGetErrorString");
  if (describe != nullptr && describe(error, &text) == success && text != nullptr) return text;
  return format("error {}", error);
}

}  // namespace

GpuDriver find_gpus() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    if (access("/dev/nvidiactl", F_OK) != 0) return {};
    return {.problem =
                format("there is a GPU, but its driver cannot be loaded ({})", why != nullptr ? why : "unknown")};
  }
  const auto init = find<Init>(library, "cuInit");
  const auto count = find<CountDevices>(library, "cuDeviceGetCount");
  if (init == nullptr || count == nullptr) return {.problem = "libcuda.so.1 has no cuInit or cuDeviceGetCount"};
  GpuDriver driver;
  int status = init(0);
  if (status == success) status = count(&driver.devices);
  if (status != success && status != no_device)
    driver = {.problem = format("the GPU's driver does not start: {}", error_text(library, status))};
  return driver;
}

}  // namespace rankscope::trainer
