#include "rankscope/trainer/launch/gpu_plan.h"

#include <dlfcn.h>
#include <unistd.h>
#include <map>

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

/// Of each rank.
int devices_of(const TrainOptions& options) { return options.mode->devices == DeviceUse::one ? 1 : options.devices; }

/// Schedulers that give each task GPUs of its own show it no others; torchrun gives none.
bool sees_only_its_own(const TrainOptions& options, const Placement& place, const GpuDriver& driver) {
  return place.source != "rankscope" && place.source != "torchrun" && driver.devices == devices_of(options);
}

/// Why the rank can have no GPU; empty if it can.
std::string obstacle_of(const TrainOptions& options, const Placement& place, const GpuDriver& driver) {
  if (!driver.problem.empty()) return driver.problem;
  if (driver.devices == 0) return "this process sees no NVIDIA GPU";
  if (options.device.share_gpu) {
    if (place.world_size == place.local_world_size) return {};
    return "--share-gpu needs all ranks on one machine";
  }
  const int each = devices_of(options);
  const int needed = each * place.local_world_size;
  if (driver.devices >= needed || sees_only_its_own(options, place, driver)) return {};
  return format("{} with {} per rank: {} GPUs are needed here, but there {}; use fewer {}",
                counted(place.local_world_size, "rank"), counted(each, "GPU"), needed,
                driver.devices == 1 ? "is 1" : format("are {}", driver.devices),
                each == 1 ? "ranks, or --share-gpu for a test" : "ranks or devices");
}

int first_of(const TrainOptions& options, const Placement& place, const GpuDriver& driver) {
  const int each = devices_of(options);
  if (options.device.share_gpu) return place.local_rank % driver.devices;
  return driver.devices >= each * place.local_world_size ? each * place.local_rank : 0;
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
    driver = {.problem = format("the GPU driver cannot be initialized: {}", error_text(library, status))};
  return driver;
}

Result<GpuChoice> choose_gpu(const TrainOptions& options, const Placement& place, const GpuDriver& driver) {
  if (options.device.wish == DeviceWish::cpu) return GpuChoice{};
  const std::string obstacle = obstacle_of(options, place, driver);
  if (obstacle.empty()) return GpuChoice{.first = first_of(options, place, driver)};
  if (options.device.wish == DeviceWish::cuda) return fail(ErrorKind::usage, format("--device cuda: {}", obstacle));
  const bool none_here = driver.devices == 0 && driver.problem.empty();
  return GpuChoice{.reason = none_here ? "" : obstacle};
}

std::vector<EnvironmentVariable> gpu_environment() {
  return {{"CUDA_DEVICE_MAX_CONNECTIONS", "32"},
          {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "0"},
          {"TORCH_NCCL_ENABLE_MONITORING", "0"},
          {"TORCH_NCCL_SHOW_EAGER_INIT_P2P_SERIALIZATION_WARNING", "0"}};  // each direction has a communicator
}

std::vector<EnvironmentVariable> sharing_environment(int rank) {
  return {{"NCCL_HOSTID", format("rankscope-{}", rank)},
          {"NCCL_SOCKET_IFNAME", "lo"},
          {"NCCL_SOCKET_FAMILY", "AF_INET"},
          {"NCCL_IB_DISABLE", "1"},
          {"NCCL_NET", "Socket"},
          {"NCCL_MNNVL_ENABLE", "0"},
          {"NCCL_NVLS_ENABLE", "0"},
          {"NCCL_P2P_DISABLE", "1"},
          {"NCCL_SHM_DISABLE", "1"},
          {"NCCL_MAX_CTAS", "2"},
          {"NCCL_ALGO", "Ring"}};
}

std::string device_conflict(std::span<const RankDevice> ranks) {
  const RankDevice* on_cpu = nullptr;
  const RankDevice* on_gpu = nullptr;
  std::map<std::string, int> owner;  // rank of each GPU; containers of one host have names of their own
  for (const RankDevice& rank : ranks) {
    const bool is_cpu = rank.device == "cpu";
    const RankDevice*& first = is_cpu ? on_cpu : on_gpu;
    if (first == nullptr) first = &rank;
    if (is_cpu || rank.may_share) continue;
    const auto [known, is_new] = owner.try_emplace(rank.device, rank.rank);
    if (is_new) continue;
    return format(
        "ranks {} and {} use the same GPU on host {} ({}); give each rank its own GPU, or use --device cpu, or "
        "--share-gpu for a test",
        known->second, rank.rank, rank.host, rank.device);
  }
  if (on_cpu == nullptr || on_gpu == nullptr) return {};
  return format("rank {} trains on a GPU and rank {} on the CPU; give --device cuda or --device cpu", on_gpu->rank,
                on_cpu->rank);
}

}  // namespace rankscope::trainer
