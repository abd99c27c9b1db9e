#include "cupti/library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "cupti/cuda_driver.h"
#include "cupti/records.h"
#include "rankscope/core/format.h"

namespace rankscope::collectors::cupti {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t v13_0_general = version::v13_0;
constexpr std::uint32_t first_unknown = 140000;

struct Loaded {
  std::string cupti;
  std::string cudart;
};

/// Paths of the CUDA libraries that the process has.
Loaded loaded_libraries() {
  Loaded loaded;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* into) {
        const std::string path = info->dlpi_name == nullptr ? std::string{} : std::string{info->dlpi_name};
        const std::string name = fs::path{path}.filename().string();
        if (name.starts_with("libcupti.so")) static_cast<Loaded*>(into)->cupti = path;
        if (name.starts_with("libcudart.so")) static_cast<Loaded*>(into)->cudart = path;
        return 0;
      },
      &loaded);
  return loaded;
}

/// CUPTI of CUDA 13 needs a driver for CUDA 13; that of CUDA 12 also works with newer drivers (CUPTI guide, 2.1).
void prefer_what_fits(std::vector<std::string>& paths, std::optional<int> driver) {
  constexpr int cuda_13 = 13'000;
  if (!driver || *driver >= cuda_13) return;
  std::ranges::stable_partition(paths, [](const std::string& path) { return !path.ends_with(".13"); });
}

/// Where it may be, best first. Names without a folder are the dynamic linker's business.
std::vector<std::string> candidates() {
  const Loaded loaded = loaded_libraries();
  if (!loaded.cupti.empty()) return {loaded.cupti};
  if (const char* const named = std::getenv("RANKSCOPE_CUPTI"); named != nullptr && *named != '\0') return {named};
  std::vector<std::string> paths;
  if (!loaded.cudart.empty()) {
    // Of a toolkit, of its older layout, and of the packages of PyPI for CUDA 13 and 12.
    const fs::path folder = fs::path{loaded.cudart}.parent_path();
    for (const char* const beside : {".", "../extras/CUPTI/lib64", "../../cuda_cupti/lib"})
      for (const char* const name : {"libcupti.so.13", "libcupti.so.12"})
        paths.push_back((folder / beside / name).string());
  }
  paths.insert(paths.end(), {"libcupti.so.13", "libcupti.so.12"});
  for (const char* const folder : {"/usr/local/cuda/lib64/", "/usr/local/cuda/extras/CUPTI/lib64/"})
    for (const char* const name : {"libcupti.so.13", "libcupti.so.12"}) paths.push_back(std::string{folder} + name);
  prefer_what_fits(paths, cuda_of_driver());
  return paths;
}

class Symbols {
 public:
  explicit Symbols(void* library) : library_(library) {}
  template <class Function>
  void need(const char* name, Function& function) {
    want(name, function);
    if (function == nullptr && missing_.empty()) missing_ = name;
  }
  template <class Function>
  void want(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
  }
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

std::string find_functions(void* library, Functions& call) {
  Symbols symbols{library};
  symbols.need("cuptiGetVersion", call.get_version);
  symbols.need("cuptiGetTimestamp", call.get_timestamp);
  symbols.need("cuptiSubscribe", call.subscribe);
  symbols.want("cuptiSubscribe_v2", call.subscribe_v2);
  symbols.need("cuptiUnsubscribe", call.unsubscribe);
  symbols.need("cuptiEnableCallback", call.enable_callback);
  symbols.need("cuptiSetThreadIdType", call.set_thread_id_type);
  symbols.need("cuptiActivitySetAttribute", call.set_attribute);
  symbols.need("cuptiActivityRegisterCallbacks", call.register_callbacks);
  symbols.need("cuptiActivityEnable", call.enable);
  symbols.need("cuptiActivityEnableAndDump", call.enable_and_dump);
  symbols.need("cuptiActivityDisable", call.disable);
  symbols.want("cuptiActivityEnableRuntimeApi", call.enable_runtime_call);
  symbols.want("cuptiActivityEnableDriverApi", call.enable_driver_call);
  symbols.want("cuptiActivityEnableAllSyncRecords", call.enable_all_sync_records);
  symbols.need("cuptiActivityFlushAll", call.flush_all);
  symbols.need("cuptiActivityGetNextRecord", call.next_record);
  symbols.need("cuptiActivityGetNumDroppedRecords", call.dropped_records);
  symbols.need("cuptiGetCallbackName", call.callback_name);
  symbols.need("cuptiGetResultString", call.result_text);
  return symbols.missing();
}

/// Of CUDA 13.2 and later.
bool calls_driver(void* library) { return dlsym(library, "cuptiActivityRegisterCallbacks_v2") != nullptr; }

bool may_answer(Driver driver) {
  return driver == Driver::unknown ? driver_works() : cuda_of_driver().has_value() && has_gpu_device();
}

/// Its problem is what makes it of no use.
Library examine(const std::string& path, void* handle, Driver driver) {
  Library library;
  library.path = path;
  if (calls_driver(handle) && !may_answer(driver))
    library.problem =
        "the CUPTI of CUDA 13.2 and later needs a working driver (libcuda.so.1), even to report its version";
  else if (const std::string missing = find_functions(handle, library.call); !missing.empty())
    library.problem = "it lacks " + missing;
  else if (library.call.get_version(&library.version) != result::success)
    library.problem = "it does not report its version";
  else
    library.problem = refusal_of(library.version);
  return library;
}

}  // namespace

std::string ResultNames::text_of(int status) const {
  const char* text = nullptr;
  return result_text(status, &text) == result::success && text != nullptr ? std::string{text}
                                                                          : format("CUPTI error {}", status);
}

std::string refusal_of(std::uint32_t number) {
  if (number < version::v12_4)
    return format("CUPTI {} is older than the one in CUDA 12.4; use a newer CUDA toolkit", number);
  // No synchronization records, crashes and a deadlock (NVIDIA's release notes of 13.0 Update 1).
  if (number == v13_0_general)
    return "the CUPTI of CUDA 13.0 (before Update 1) crashes programs; use CUDA 13.0 Update 1 or newer";
  if (number >= first_unknown)
    return format("CUPTI {} is newer than this rankscope supports; use a newer rankscope", number);
  if (number > 28 && number < v13_0_general) return format("CUPTI reports version {}, which is unknown", number);
  return {};
}

// Of NVIDIA's release notes and reports in public (12.4: JuliaGPU/CUDA.jl 2328; 13.0: parca-dev/parcagpu 23).
Fault fault_of(std::uint32_t number) {
  constexpr std::uint32_t v13_4_update_1 = 130401;
  if (number == version::v12_4)
    return {"users have reported that the CUPTI of CUDA 12.4 Update 1 loses kernels",
            "check that the recording has as many kernels as launches, or use the CUPTI of CUDA 12.5 or newer"};
  if (number == version::v13_0_update_1)
    return {
        "users have reported that, after some 25 million kernels of CUDA graphs, the CUPTI of CUDA 13.0 Update 1 uses "
        "about 1 GiB of device memory and no longer reports the times of kernels",
        "limit long recordings with --window or --duration, or use --cuda-graphs graph or a newer CUPTI"};
  if (number < v13_4_update_1)
    return {"the CUPTI of CUDA releases before 13.4 Update 1 uses more and more CPU time in long recordings",
            "limit long recordings with --window or --duration"};
  return {};
}

Library load_library(const Trial& trial, Driver driver) { return load_first(candidates(), trial, driver); }

Library load_first(std::span<const std::string> paths, const Trial& trial, Driver driver) {
  std::string refused;
  std::string not_loaded;
  for (const std::string& path : paths) {
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* const why = dlerror();
      not_loaded = why == nullptr ? path : std::string{why};
      continue;
    }
    Library library = examine(path, handle, driver);
    const bool tried = library.problem.empty() && trial;
    if (tried) library.problem = trial(library);
    if (library.problem.empty()) {
      library.passed_over = refused;
      return library;
    }
    refused += format("{}{}: {}", refused.empty() ? "" : "; ", path, library.problem);
    if (!tried) dlclose(handle);  // two of them in one process would disturb each other
  }
  Library none;
  none.problem =
      !refused.empty()
          ? refused
          : format(
                "no libcupti could be loaded ({}); install the CUDA toolkit, or set RANKSCOPE_CUPTI to the path of a "
                "libcupti",
                not_loaded);
  return none;
}

}  // namespace rankscope::collectors::cupti
