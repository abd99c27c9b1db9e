#include "importers/kineto/categories.h"

#include <algorithm>
#include <array>

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
    Category{"mtia_runtime", thread, SpanKind::runtime, Work::host_call, true},
    Category{"glow_runtime", thread, SpanKind::runtime, Work::host_call, true},
    Category{"privateuse1_runtime", thread, SpanKind::runtime, Work::host_call, true},
    Category{"privateuse1_driver", thread, SpanKind::runtime, Work::host_call, true},
    Category{"", thread, SpanKind::user, Work::other, true},
};

bool is_number(std::string_view text) {
  return !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

const Category& category_from(std::string_view name) {
  const auto found = std::ranges::find(all, name, &Category::name);
  return found == all.end() ? all.back() : *found;
}

SpanKind kind_of_range(std::string_view name, SpanKind otherwise) {
  if (name.starts_with(step_prefix) && is_number(name.substr(step_prefix.size()))) return SpanKind::step;
  if (name.starts_with("enumerate(DataLoader)#")) return SpanKind::data;
  if (name.starts_with("nccl:")) return SpanKind::api;
  if (name.starts_with("gloo:")) return SpanKind::comm;
  if (name.starts_with("Optimizer.step#")) return SpanKind::optimizer;
  return otherwise;
}

}  // namespace rankscope::analyzer::kineto
