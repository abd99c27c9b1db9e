#include "hta/names.h"

#include <algorithm>
#include <array>
#include <span>

namespace rankscope::analyzer {
namespace {

enum class Where : std::uint8_t { front, anywhere };
struct Pattern {
  std::string_view text;
  Where where = Where::front;
};

constexpr std::array communication{Pattern{"nccl"}, Pattern{"hip"}, Pattern{"hccl"},
                                   Pattern{"ncclKernel", Where::anywhere}};
// HTA also names hipMemcpy and hipMemset here, which communication has taken before.
constexpr std::array memory{Pattern{"Memcpy"}, Pattern{"Memset"}, Pattern{"dma"}};
constexpr std::array no_computation{Pattern{"Memcpy", Where::anywhere},
                                    Pattern{"Memset", Where::anywhere},
                                    Pattern{"dma", Where::anywhere},
                                    Pattern{"Sync", Where::anywhere},
                                    Pattern{"Stream Wait Event"},
                                    Pattern{"runFunction"},
                                    Pattern{"job_exe"},
                                    Pattern{"packet"},
                                    Pattern{"pe_exe"},
                                    Pattern{"cpum_exe_subgraph"},
                                    Pattern{"hccl"},
                                    Pattern{"collective_subgraph_execution"}};

constexpr std::array<std::string_view, 4> launches{"cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync",
                                                   "cudaMemsetAsync"};
constexpr std::array<std::string_view, 7> other_enqueues{
    "cuLaunchKernel", "cuLaunchKernelEx",    "hipLaunchKernel", "hipExtModuleLaunchKernel",
    "hipMemcpyAsync", "hipMemcpyWithStream", "hipMemsetAsync"};

bool matches(std::string_view name, std::span<const Pattern> patterns) {
  return std::ranges::any_of(patterns, [name](const Pattern& pattern) {
    return pattern.where == Where::front ? name.starts_with(pattern.text)
                                         : name.find(pattern.text) != std::string_view::npos;
  });
}

HtaClass class_of(std::string_view name) {
  if (matches(name, communication)) return HtaClass::communication;
  if (matches(name, memory)) return HtaClass::memory;
  const bool launch = name.starts_with("cuda") && name.find("LaunchKernel", 4) != std::string_view::npos;
  return launch || matches(name, no_computation) ? HtaClass::other : HtaClass::computation;
}

}  // namespace

std::string_view name_of(HtaClass kind) {
  switch (kind) {
    case HtaClass::computation:
      return "COMPUTATION";
    case HtaClass::communication:
      return "COMMUNICATION";
    case HtaClass::memory:
      return "MEMORY";
    case HtaClass::other:
      return "OTHER";
  }
  return {};
}

std::string_view name_of(HtaIdleCause cause) {
  switch (cause) {
    case HtaIdleCause::host_wait:
      return "host_wait";
    case HtaIdleCause::kernel_wait:
      return "kernel_wait";
    case HtaIdleCause::other:
      return "other";
  }
  return {};
}

HtaName hta_name_from(std::string_view name) {
  constexpr std::string_view step = "ProfilerStep#";
  HtaName known;
  known.kind = class_of(name);
  known.step = name.starts_with(step) && name.size() > step.size() &&
               name.find_first_not_of("0123456789", step.size()) == std::string_view::npos;
  known.sync = name == "Event Sync" || name == "Context Sync";
  known.launch = std::ranges::find(launches, name) != launches.end();
  known.enqueue = known.launch || std::ranges::find(other_enqueues, name) != other_enqueues.end();
  known.nccl_kernel = name.starts_with("ncclKernel");
  return known;
}

}  // namespace rankscope::analyzer
