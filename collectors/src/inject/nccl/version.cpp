#include "inject/nccl/version.h"

#include <dlfcn.h>
#include <link.h>

#include <string>

#include "inject/recorder/environment.h"
#include "inject/recorder/once_per_segment.h"
#include "rankscope/core/format.h"

namespace rankscope::inject::nccl {
namespace {

/// Path of the libnccl or librccl that the process has; empty: none, or it is a part of another library.
std::string loaded_library() {
  std::string found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* into) {
        const std::string_view path = info->dlpi_name == nullptr ? std::string_view{} : info->dlpi_name;
        const std::string_view name = path.substr(path.rfind('/') + 1);
        if (name.starts_with("libnccl.so") || name.starts_with("librccl.so")) *static_cast<std::string*>(into) = path;
        return 0;
      },
      &found);
  return found;
}

/// 22809 for 2.28.9; 0: not known.
int version() {
  const std::string path = loaded_library();
  void* const library = path.empty() ? RTLD_DEFAULT : dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  const auto get_version = reinterpret_cast<int (*)(int*)>(dlsym(library, "ncclGetVersion"));
  int number = 0;
  const bool known = get_version != nullptr && get_version(&number) == 0;
  if (library != RTLD_DEFAULT && library != nullptr) dlclose(library);  // it stays: the program holds it
  return known ? number : 0;
}

std::string text_of(int number) {
  const std::string text =
      number == 0 ? "unknown" : format("{}.{}.{}", number / 10'000, number / 100 % 100, number % 100);
  return is_rccl() ? text + " (RCCL)" : text;
}

/// Takes only "lib….so" as it stands and makes "libnccl-profiler-….so" of all else, paths too (NVIDIA/nccl v2.27.3-1
/// src/plugin/plugin_open.cc; not so in 2.26.6 and 2.27.5). PyTorch 2.8 has it.
constexpr int takes_no_path = 22703;

}  // namespace

bool is_rccl() noexcept {
  return guarded([] { return loaded_library().find("librccl.so") != std::string::npos; });
}

void report_version(recording::ThreadWriter& pen) noexcept {
  static OncePerSegment once;
  if (once.first()) guarded([&] { pen.metadata("nccl_version", text_of(version())); });
}

void prepare_for_plugin() noexcept {
  guarded([] {
    if (version() == takes_no_path) name_plugin_without_path();
  });
}

}  // namespace rankscope::inject::nccl
