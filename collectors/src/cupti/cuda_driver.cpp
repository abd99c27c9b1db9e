#include "cupti/cuda_driver.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <type_traits>

#include "cupti/uuid_text.h"
#include "rankscope/core/format.h"

namespace rankscope::collectors {
namespace {

constexpr int success = 0;

std::string library_of_driver() {
  const char* const named = std::getenv("RANKSCOPE_CUDA");
  return named != nullptr && *named != '\0' ? named : "libcuda.so.1";
}

bool initialises() {
  void* const handle = dlopen(library_of_driver().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return false;
  const auto initialise = reinterpret_cast<int (*)(unsigned)>(dlsym(handle, "cuInit"));
  return initialise != nullptr && initialise(0) == success;  // it stays loaded: the driver has threads
}

/// A driver in a bad state may crash there, or never return.
bool initialises_in_child(std::chrono::milliseconds patience) {
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) _exit(initialises() ? 0 : 1);
  int status = -1;
  const auto end = std::chrono::steady_clock::now() + patience;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) {
      kill(child, SIGKILL);  // one that hangs in the kernel ends later, as a child of init
      return false;
    }
    usleep(10'000);
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::optional<int> cuda_of_driver() {
  void* const handle = dlopen(library_of_driver().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return std::nullopt;
  const auto version_of = reinterpret_cast<int (*)(int*)>(dlsym(handle, "cuDriverGetVersion"));
  int version = 0;
  const bool known = version_of != nullptr && version_of(&version) == success && version > 0;
  dlclose(handle);
  return known ? std::optional{version} : std::nullopt;
}

bool driver_works(std::chrono::milliseconds patience) { return initialises_in_child(patience) && initialises(); }

bool has_gpu_device(const std::filesystem::path& root) {
  std::error_code ignored;  // what cannot be seen cannot be used
  return std::filesystem::exists(root / "dev/nvidiactl", ignored) || std::filesystem::exists(root / "dev/dxg", ignored);
}

int (*harmless_driver_call())(int*) {
  void* const handle = dlopen(library_of_driver().c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  return handle == nullptr ? nullptr : reinterpret_cast<int (*)(int*)>(dlsym(handle, "cuDeviceGetCount"));
}

CudaDriver::CudaDriver() {
  const std::string library = library_of_driver();
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    problem_ = format("{} cannot be loaded; it is needed to find out which GPUs the program uses", library);
    return;
  }
  const auto find = [handle](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    return function != nullptr;
  };
  const bool usable = find("cuDeviceGetCount", count_) && find("cuDeviceGet", device_) &&
                      (find("cuDeviceGetUuid_v2", uuid_) || find("cuDeviceGetUuid", uuid_)) &&
                      find("cuDevicePrimaryCtxGetState", context_);
  if (!usable) problem_ = format("{} lacks CUDA driver functions that rankscope needs", library);
}

std::vector<CudaDevice> CudaDriver::devices() const {
  std::vector<CudaDevice> found;
  int count = 0;
  if (!problem_.empty() || count_(&count) != success) return found;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    int device = 0;
    Uuid uuid{};
    if (device_(&device, ordinal) != success || uuid_(&uuid, device) != success) continue;
    found.push_back({static_cast<std::uint32_t>(ordinal), uuid_text("GPU-", uuid.bytes)});
  }
  return found;
}

bool CudaDriver::is_used(std::uint32_t ordinal) const {
  int device = 0;
  unsigned flags = 0;
  int active = 0;
  return problem_.empty() && device_(&device, static_cast<int>(ordinal)) == success &&
         context_(device, &flags, &active) == success && active != 0;
}

}  // namespace rankscope::collectors
