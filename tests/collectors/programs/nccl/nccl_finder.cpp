// Looks for its profiler plugin as NCCL 2.27.3 does, and says what it was told: only a name "lib….so" is taken as it
// stands (NVIDIA/nccl v2.27.3-1 src/plugin/plugin_open.cc).
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {
int own_version = 0;
}

extern "C" __attribute__((visibility("default"))) int ncclGetVersion(int* version) {
  *version = own_version;
  return 0;
}

/// nccl_finder VERSION: ends with 0 if it found a plugin.
int main(int argc, char** argv) {
  if (argc != 2) return 2;
  own_version = std::stoi(argv[1]);
  nvtxDomainHandle_t const domain = nvtxDomainCreateA("NCCL");
  nvtxEventAttributes_t range{};
  range.version = NVTX_VERSION;
  range.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  range.messageType = NVTX_MESSAGE_TYPE_ASCII;
  range.message.ascii = "ncclCommInitRank";
  nvtxDomainRangePushEx(domain, &range);
  nvtxDomainRangePop(domain);
  const char* const variable = std::getenv("NCCL_PROFILER_PLUGIN");
  const std::string_view name = variable == nullptr ? "" : variable;
  std::printf("%s\n", variable == nullptr ? "none" : variable);
  const bool is_taken = name.starts_with("lib") && name.ends_with(".so");
  void* const plugin = is_taken ? dlopen(variable, RTLD_NOW | RTLD_LOCAL) : nullptr;
  return plugin != nullptr && dlsym(plugin, "ncclProfiler_v4") != nullptr ? 0 : 1;
}
