#include "rankscope/collectors/gpu_state.h"

#include <dlfcn.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "cupti/library.h"
#include "cupti/records.h"
#include "host/devices.h"
#include "nvml/sampler.h"
#include "pm/cupti_pm.h"
#include "pm/metrics.h"
#include "rankscope/collectors/record.h"
#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"
#include "settings/inject_settings.h"

namespace rankscope::collectors {
namespace {

// Whether the hardware's counters of the GPUs may be read here: a line of `rankscope doctor`.

namespace fs = std::filesystem;

constexpr unsigned cap_sys_admin = 21, cap_perfmon = 38;  // linux/capability.h
constexpr int first_with_perfmon = 565;                   // driver

/// What stands behind a key at the begin of a line; nothing without.
std::optional<std::string> value_in(const fs::path& path, std::string_view key) {
  std::ifstream file{path};
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const auto begin = line.find_first_not_of(": \t", key.size());
    return begin == std::string::npos ? std::string{} : line.substr(begin);
  }
  return std::nullopt;
}

std::uint64_t capabilities(const fs::path& root) {
  const std::string text = value_in(root / "proc/self/status", "CapEff").value_or("");
  return hex_number_from(text).value_or(0);
}

int driver_of(const fs::path& root) {
  std::ifstream file{root / "proc/driver/nvidia/version"};
  for (std::string word; file >> word;)
    if (word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos)
      return leading_number<int>(word).value_or(0);
  return 0;
}

/// "by CAP_SYS_ADMIN", what lets this process read them though others may not; empty if nothing does.
std::string privilege(const fs::path& root) {
  const std::uint64_t bits = capabilities(root);
  if ((bits >> cap_sys_admin & 1U) != 0) return "CAP_SYS_ADMIN";
  if ((bits >> cap_perfmon & 1U) != 0 && driver_of(root) >= first_with_perfmon) return "CAP_PERFMON";
  return {};
}

/// Why CUPTI could not sample on any GPU; empty if nothing is in the way. Needs no GPU: CUPTI knows the chips.
std::string sampling_problem(const cupti::Library& library) {
  if (std::string refusal = cupti::sampling_refusal_of(library.version); !refusal.empty()) return refusal;
  const cupti::PmLibrary sampling = cupti::find_pm_functions(library.path);
  if (!sampling.problem.empty()) return sampling.problem;
  const int status = PmHost{sampling.call, "GH100", {}}.status();
  return status == cupti::result::not_initialized ? pm_refusal(sampling.call, status, "describing a chip") : "";
}

/// By what the kernel module permits, what this process may do, and what CUPTI can. `root` holds /proc.
GpuState counter_state(const fs::path& root, const cupti::Library& library) {
  GpuState state{false, "GPU counters", "no NVIDIA kernel module", "only --pm-sampling needs these counters"};
  const auto admin_only = value_in(root / "proc/driver/nvidia/params", "RmProfilingAdminOnly");
  if (!admin_only) return state;
  const std::string own = privilege(root);
  state.good = *admin_only == "0" || !own.empty();
  state.found = *admin_only == "0" ? "allowed for every user"
                : state.good       ? "only for the administrator (RmProfilingAdminOnly); allowed here by " + own
                                   : "only for the administrator (RmProfilingAdminOnly)";
  state.advice =
      "only --pm-sampling needs these counters. To allow access to them, an administrator can write `options "
      "nvidia NVreg_RestrictProfilingToAdminUsers=0` into a file in /etc/modprobe.d and reload the driver, or give the "
      "job CAP_SYS_ADMIN (driver R565 and later: CAP_PERFMON; in a container: --cap-add=SYS_ADMIN)";
  if (!state.good || !library.problem.empty()) return state;
  const std::string problem = sampling_problem(library);
  if (problem.empty()) return state;
  return {false, state.what, state.found + "; " + problem, "only --pm-sampling needs these counters"};
}

constexpr int oldest_nccl = 22300;
constexpr const char* driver_library = "libcuda.so.1";

namespace fs = std::filesystem;

/// "580.65.06" of "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun …"; empty without the module.
std::string kernel_module_version(const fs::path& root) {
  std::ifstream file{root / "proc/driver/nvidia/version"};
  std::string word;
  for (bool behind = false; file >> word;) {
    if (behind && word.find_first_not_of("0123456789.") == word.npos) return word;
    behind = behind || word == "Module" || word == "Module,";
  }
  return {};
}

/// "13.0": the newest CUDA that the driver runs; empty if it does not tell.
std::string cuda_of(void* driver) {
  const auto get_version = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDriverGetVersion"));
  int version = 0;
  if (get_version == nullptr || get_version(&version) != 0 || version == 0) return {};
  return format("{}.{}", version / 1000, version / 10 % 100);
}

GpuState driver_state(const fs::path& root) {
  void* const driver = dlopen(driver_library, RTLD_LAZY | RTLD_LOCAL);
  const std::string module = kernel_module_version(root);
  GpuState state{driver != nullptr, "NVIDIA driver", driver_library,
                 "kernels, copies and GPU counters are not recorded, but NVTX ranges, host samples and annotations "
                 "still are"};
  if (driver == nullptr) {
    state.found = "none: libcuda.so.1 cannot be loaded";
    if (!module.empty() || host_devices(root).nvidia)
      state.advice =
          "the NVIDIA kernel module or GPU devices are there, but this library is not: in a container, start the "
          "container with GPUs (docker --gpus all, apptainer --nv); otherwise, install the driver's libraries";
    return state;
  }
  if (!module.empty()) state.found += ", " + module;
  if (const std::string cuda = cuda_of(driver); !cuda.empty()) state.found += ", supports CUDA up to " + cuda;
  return state;
}

/// The files of the GPUs in /dev, and whether this user may open them.
GpuState device_state(const fs::path& root) {
  const HostDevices devices = host_devices(root);
  GpuState state{devices.nvidia, "GPU devices", devices.nvidia ? "" : "no NVIDIA GPU in /dev",
                 "on a cluster: allocate GPUs with the job; in a container: docker --gpus all, apptainer --nv"};
  if (devices.amd && !devices.nvidia) {
    state.found = "AMD (/dev/kfd)";
    state.advice = "the work of AMD GPUs is not recorded; record it with torch.profiler, whose traces rankscope reads";
  }
  if (!devices.nvidia) return state;
  std::string closed;
  std::error_code error;
  for (fs::directory_iterator entry{root / "dev", error}, end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!is_nvidia_device(name)) continue;
    state.found += (state.found.empty() ? "" : " ") + name;
    if (access(entry->path().c_str(), R_OK | W_OK) != 0) closed += " /dev/" + name;
  }
  if (closed.empty()) return state;
  state.good = false;
  state.found += "; cannot be opened:" + closed;
  state.advice =
      "CUDA cannot use them: join the Unix group that owns them (ls -l /dev/nvidia0), or allocate them with the job";
  return state;
}

struct Profiler {
  std::string_view process;  ///< as /proc/PID/comm cuts it
  std::string_view advice;
};
constexpr std::string_view ends_recording =
    "only one profiler can use CUPTI in a process: stop that profiler, or record a process that it does not profile";
constexpr std::string_view takes_counters =
    "DCGM sometimes uses the GPU counters that --pm-sampling needs; kernels, copies and NVML samples are recorded "
    "anyway";
constexpr std::array profilers{
    Profiler{"nsys", ends_recording},
    Profiler{"nsys-launcher", ends_recording},
    Profiler{"ncu", ends_recording},
    Profiler{"cuda-gdb", ends_recording},
    Profiler{"compute-sanitiz", ends_recording},
    Profiler{"nv-hostengine", takes_counters},
    Profiler{"dcgm-exporter", takes_counters},
};

/// Others who may hold CUPTI or the counters of the GPUs now.
GpuState holder_state(const fs::path& root) {
  GpuState state{true, "other profilers", "none running", "nothing to do"};
  std::error_code error;
  for (fs::directory_iterator entry{root / "proc", error}, end; !error && entry != end; entry.increment(error)) {
    std::ifstream file{entry->path() / "comm"};
    std::string name;
    if (!std::getline(file, name)) continue;
    const auto* const known = std::ranges::find(profilers, name, &Profiler::process);
    if (known == profilers.end()) continue;
    const std::string one = format("{} (process {})", name, entry->path().filename().string());
    state.found = state.good ? one : state.found + ", " + one;
    if (state.good) state.advice.clear();
    if (state.advice.find(known->advice) == std::string::npos)
      state.advice += (state.advice.empty() ? "" : "; ") + std::string{known->advice};
    state.good = false;
  }
  return state;
}

std::string version_text(std::uint32_t number) {
  if (number >= cupti::version::v13_0) return format("{}.{}", number / 10'000, number / 100 % 100);
  constexpr std::array<std::string_view, 7> of_12{"12.4", "12.5", "12.6", "12.7", "12.8", "12.9", "12.9 U1"};
  const bool known = number >= cupti::version::v12_4 && number - cupti::version::v12_4 < of_12.size();
  return known ? std::string{of_12[number - cupti::version::v12_4]} : "unknown";
}

GpuState cupti_state(const cupti::Library& library) {
  GpuState state{library.problem.empty(), "CUPTI", library.problem,
                 "kernels, copies and CUDA calls are not recorded, except in programs that bring their own libcupti, "
                 "as PyTorch does"};
  if (state.good)
    state.found = format("{}, CUDA {} ({})", library.path, version_text(library.version), library.version);
  if (!library.passed_over.empty()) state.found += "; not used: " + library.passed_over;
  return state;
}

/// What this version does wrong that concerns a recording.
GpuState cupti_fault_state(const cupti::Library& library) {
  const cupti::Fault fault = cupti::fault_of(library.version);
  if (!library.problem.empty()) return {true, "CUPTI bugs", "CUPTI is not used", "nothing to do"};
  if (fault.what.empty()) return {true, "CUPTI bugs", "none known", "nothing to do"};
  return {false, "CUPTI bugs", std::string{fault.what}, std::string{fault.advice}};
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

/// Folders in a variable that separates them with colons.
std::vector<fs::path> folders_in(const char* variable) {
  std::vector<fs::path> folders;
  const char* const value = std::getenv(variable);
  std::string_view rest = value == nullptr ? "" : value;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    if (!one.empty()) folders.emplace_back(one);
  }
  return folders;
}

/// The environments of the programs that PATH finds first: as named there, and where links lead to.
void add_prefixes_of_path(std::vector<fs::path>& prefixes) {
  for (const char* const program : {"python3", "python", "torchrun"})
    for (const fs::path& folder : folders_in("PATH")) {
      const fs::path file = folder / program;
      if (access(file.c_str(), X_OK) != 0) continue;
      std::error_code error;
      prefixes.push_back(file.parent_path().parent_path());
      const fs::path target = fs::canonical(file, error);
      if (!error) prefixes.push_back(target.parent_path().parent_path());
      break;
    }
}

/// Folders of Python's packages: of the environment that is active, of the Python that PATH finds, and of the system.
std::vector<fs::path> package_folders() {
  std::vector<fs::path> prefixes;
  for (const char* const variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const char* const value = std::getenv(variable); value != nullptr && *value != '\0')
      prefixes.emplace_back(value);
  add_prefixes_of_path(prefixes);
  if (const char* const home = std::getenv("HOME")) prefixes.push_back(fs::path{home} / ".local");
  prefixes.insert(prefixes.end(), {"/opt/conda", "/usr/local", "/usr"});
  std::vector<fs::path> folders = folders_in("PYTHONPATH");
  for (const fs::path& prefix : prefixes) {
    std::error_code error;
    for (fs::directory_iterator entry{prefix / "lib", error}, end; !error && entry != end; entry.increment(error)) {
      if (!entry->path().filename().string().starts_with("python3")) continue;
      for (const char* const packages : {"site-packages", "dist-packages"})
        if (fs::is_directory(entry->path() / packages, error)) folders.push_back(entry->path() / packages);
      error.clear();
    }
  }
  return folders;
}

/// The value behind "NAME… = '" in a Python file; empty without.
std::string quoted_value(const fs::path& path, std::string_view name) {
  std::ifstream file{path};
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name)) continue;
    const auto begin = line.find('\'');
    const auto end = line.find('\'', begin + 1);
    if (begin != line.npos && end != line.npos) return line.substr(begin + 1, end - begin - 1);
  }
  return {};
}

/// Read from its files: Python is not started.
GpuState torch_state() {
  for (const fs::path& folder : package_folders()) {
    const fs::path file = folder / "torch" / "version.py";
    const std::string version = quoted_value(file, "__version__");
    if (version.empty()) continue;
    const std::string cuda = quoted_value(file, "cuda");
    return {true, "PyTorch", format("{} in {}{}", version, folder.string(), cuda.empty() ? ", built without CUDA" : ""),
            "nothing to do"};
  }
  return {false, "PyTorch",
          "not found in the packages of the Python on PATH, of the active environment or of the system",
          "only programs that train with PyTorch need it; activate the environment of such a program to see it here"};
}

/// Where the dynamic linker, the toolkit and PyTorch have it.
std::vector<std::string> nccl_paths() {
  std::vector<std::string> paths{"libnccl.so.2", "/usr/local/cuda/lib64/libnccl.so.2"};
  for (const fs::path& folder : package_folders())
    for (const char* const inside : {"nvidia/nccl/lib/libnccl.so.2", "nvidia/cu13/lib/libnccl.so.2"})
      paths.push_back((folder / inside).string());
  return paths;
}

GpuState nccl_state() {
  GpuState state{
      false, "NCCL", "no libnccl.so.2 was found",
      "the collectives of programs that bring their own NCCL are recorded anyway, if that NCCL is 2.23 or newer"};
  for (const std::string& path : nccl_paths()) {
    void* const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
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
          foreign ? format("{} is set to {}", variable, value) : format("no other tool sets {}", variable),
          format("unset it to record {}", lost)};
}

}  // namespace

std::vector<GpuState> gpu_states(const fs::path& root) {
  const cupti::Library library = cupti::load_library();
  return {driver_state(root),
          device_state(root),
          nvml_state(),
          cupti_state(library),
          cupti_fault_state(library),
          holder_state(root),
          nccl_state(),
          torch_state(),
          hook_state(variable::cuda_injection, "CUDA hook", "kernels and copies"),
          hook_state(variable::nccl_plugin, "NCCL hook", "NCCL's collectives"),
          counter_state(root, library)};
}

}  // namespace rankscope::collectors
