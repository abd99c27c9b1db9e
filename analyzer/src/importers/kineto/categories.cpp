#include "importers/kineto/categories.h"

#include <algorithm>
#include <array>
#include <string>

#include "importers/shared/comm_kernels.h"
#include "words/letters.h"

namespace rankscope::analyzer::kineto {
namespace {

using enum LaneClass;

// The most frequent first; the second half are the names of 2021.
constexpr std::array all{
    Category{"cpu_op", thread, SpanKind::op, Work::host_range},
    Category{"python_function", thread, SpanKind::python, Work::other},
    Category{"cuda_runtime", thread, SpanKind::runtime, Work::host_call},
    Category{"kernel", stream, SpanKind::compute, Work::kernel},
    Category{"cuda_driver", thread, SpanKind::runtime, Work::host_call, true},
    Category{"user_annotation", thread, SpanKind::user, Work::host_range},
    Category{"gpu_memcpy", stream, SpanKind::memory, Work::copy},
    Category{"gpu_memset", stream, SpanKind::memory, Work::copy},
    Category{"gpu_user_annotation", annotation, SpanKind::user, Work::other},
    Category{"cuda_sync", stream, SpanKind::sync, Work::other},
    Category{"cuda_event", stream, SpanKind::user, Work::other, true},
    Category{"overhead", overhead, SpanKind::overhead, Work::other},
    Category{"Trace", profiler, SpanKind::user, Work::other},
    Category{"Operator", thread, SpanKind::op, Work::host_range},
    Category{"Runtime", thread, SpanKind::runtime, Work::host_call},
    Category{"Kernel", stream, SpanKind::compute, Work::kernel},
    Category{"Memcpy", stream, SpanKind::memory, Work::copy},
    Category{"Memset", stream, SpanKind::memory, Work::copy},
    Category{"xpu_runtime", thread, SpanKind::runtime, Work::host_call, true},
    Category{"xpu_driver", thread, SpanKind::runtime, Work::host_call, true},
    Category{"mtia_ccp_events", stream, SpanKind::compute, Work::kernel, true},
    Category{"hpu_op", thread, SpanKind::runtime, Work::host_call, true},
    Category{"mtia_runtime", thread, SpanKind::runtime, Work::host_call, true},
    Category{"glow_runtime", thread, SpanKind::runtime, Work::host_call, true},
    Category{"privateuse1_runtime", thread, SpanKind::runtime, Work::host_call, true},
    Category{"privateuse1_driver", thread, SpanKind::runtime, Work::host_call, true},
    Category{"", thread, SpanKind::user, Work::other, true},
};

// Devices that Kineto's plug-ins add name their categories after its own: GCU_MEMCPY, gcu_runtime, npu_kernel.
constexpr std::array endings{
    Category{"_user_annotation", annotation, SpanKind::user, Work::other, true},
    Category{"_kernel", stream, SpanKind::compute, Work::kernel, true},
    Category{"_memcpy", stream, SpanKind::memory, Work::copy, true},
    Category{"_memset", stream, SpanKind::memory, Work::copy, true},
    Category{"_runtime", thread, SpanKind::runtime, Work::host_call, true},
    Category{"_driver", thread, SpanKind::runtime, Work::host_call, true},
};

bool is_number(std::string_view text) {
  return !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

const Category& category_from(std::string_view name) {
  if (const auto found = std::ranges::find(all, name, &Category::name); found != all.end()) return *found;
  const std::string small = lower(name);
  const auto ending =
      std::ranges::find_if(endings, [&small](const Category& category) { return small.ends_with(category.name); });
  return ending == endings.end() ? all.back() : *ending;
}

std::string_view device_called(std::string_view category) {
  struct Device {
    std::string_view prefix;
    std::string_view name;
  };
  // torch/csrc/profiler and libkineto/include/ActivityType.h; other plug-ins are called by their own prefix.
  static constexpr std::array devices{Device{"mtia_", "MTIA"}, Device{"xpu_", "XPU"}, Device{"hpu_", "HPU"},
                                      Device{"privateuse1_", "PrivateUse1"}, Device{"glow_", "Glow"}};
  const auto known =
      std::ranges::find_if(devices, [category](const Device& device) { return category.starts_with(device.prefix); });
  if (known != devices.end()) return known->name;
  return category.substr(0, std::min(category.find('_'), category.size()));
}

SpanKind kind_of_range(std::string_view name, SpanKind otherwise) {
  if (name.starts_with(step_prefix) && is_number(name.substr(step_prefix.size()))) return SpanKind::step;
  if (name.starts_with("enumerate(DataLoader)#")) return SpanKind::data;
  if (const CommBackend* const backend = comm_backend_of(name))
    return backend->executes ? SpanKind::comm : SpanKind::api;
  if (name.starts_with("Optimizer.step#")) return SpanKind::optimizer;
  return otherwise;
}

}  // namespace rankscope::analyzer::kineto
