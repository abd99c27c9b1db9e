// Operators of PyTorch: it tells them to tracers through Intel's ITT interface (torch.autograd.profiler.emit_itt),
// which needs no CUDA, and gives plain names. A program that has ITT inside loads the library that INTEL_LIBITTNOTIFY64
// names and hands it the table of its functions. Declared here as far as it is used; the layouts are those of ITT
// API 3.
#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "inject/recorder/once_per_segment.h"
#include "inject/recorder/recorder.h"

namespace rankscope::inject {
namespace {

struct IttDomain {
  volatile int enabled;
  const char* name;
  void* wide_name;
  int extra1;
  void* extra2;
  IttDomain* next;
};
struct IttString {
  const char* text;  ///< more fields follow
};
struct IttId {
  unsigned long long words[3];
};
struct IttFunction {
  const char* name;
  void** slot;
  void* at_first;
  void* do_nothing;
  int group;
};
struct IttGlobal {
  std::array<unsigned char, 8> magic;
  std::array<unsigned long, 3> version;
  std::array<volatile long, 3> state;
  pthread_mutex_t mutex;
  void* library;
  void* error_handler;
  const char** path;
  IttFunction* functions;  ///< ends with a name of null; more fields follow
};
constexpr std::array<unsigned char, 8> itt_magic{0xED, 0xAB, 0xAB, 0xEC, 0x0D, 0xEE, 0xDA, 0x30};

// The ranges of ITT nest among themselves.
alignas(8) constexpr char operators[8] = {};
constexpr auto marked_by_itt = WindowControl::MarkedBy::annotate;

constexpr std::string_view pytorch = "PyTorch";
IttDomain ours{.enabled = 1, .name = "PyTorch", .wide_name = nullptr, .extra1 = 0, .extra2 = nullptr, .next = nullptr};
IttDomain others{.enabled = 0, .name = "", .wide_name = nullptr, .extra1 = 0, .extra2 = nullptr, .next = nullptr};

SpanKind kind_of(std::string_view name) {
  if (name.starts_with("Optimizer.step#")) return SpanKind::optimizer;
  if (name.starts_with("enumerate(DataLoader)#")) return SpanKind::data;
  if (name.starts_with("nccl:")) return SpanKind::api;
  // aten::mm, c10d::allreduce_, autograd::engine::…, MulBackward0, triton_poi_fused_0; what is left are
  // record_function's.
  if (name.find("::") != std::string_view::npos || name.starts_with("triton_")) return SpanKind::op;
  const std::size_t backward = name.rfind("Backward");
  const bool node = backward != std::string_view::npos &&
                    name.find_first_not_of("0123456789", backward + 8) == std::string_view::npos;
  return node ? SpanKind::op : SpanKind::user;
}

/// They end on the thread that finds them done, so they are no range of the thread that began them.
bool ends_elsewhere(std::string_view name) {
  return name.starts_with("gloo:") || name.starts_with("mpi:") || name.starts_with("ucc:");
}

void report_once(ThreadState& thread) {
  static OncePerSegment once;
  if (once.first()) thread.pen().metadata("pytorch_operators", "itt");
}

IttDomain* create_domain(const char* name) { return name != nullptr && name == pytorch ? &ours : &others; }

/// PyTorch creates its domain when it is loaded, before a tracer is asked for; it is known by its name then.
bool is_pytorch(const IttDomain* domain) {
  static std::atomic<const IttDomain*> known{&ours};
  if (domain == known.load(std::memory_order_relaxed)) return true;
  if (domain == nullptr || domain->name == nullptr || domain->name != pytorch) return false;
  known.store(domain, std::memory_order_relaxed);
  return true;
}

// PyTorch makes a handle of each name just before it uses it, once: no need to keep any. The highest bit, which no
// address of a program has, tells such a handle from one that ITT made itself, before it asked for a tracer.
constexpr std::uintptr_t text_itself = std::uintptr_t{1} << 63;

// NOLINTBEGIN(performance-no-int-to-ptr)
IttString* create_string(const char* text) {
  return reinterpret_cast<IttString*>(reinterpret_cast<std::uintptr_t>(text) | text_itself);
}
std::string_view text_of(const IttString* handle) {
  const auto bits = reinterpret_cast<std::uintptr_t>(handle);
  const char* const text = (bits & text_itself) != 0 ? reinterpret_cast<const char*>(bits & ~text_itself)
                           : handle != nullptr       ? handle->text
                                                     : nullptr;
  return text != nullptr ? std::string_view{text} : std::string_view{};
}
// NOLINTEND(performance-no-int-to-ptr)

void begin_task(const IttDomain* domain, IttId, IttId, IttString* handle) {
  if (!is_pytorch(domain)) return;
  guarded([&] {
    ThreadState* const thread = here();
    const std::string_view name = text_of(handle);
    if (thread == nullptr || ends_elsewhere(name)) return;
    report_once(*thread);
    thread->push(operators, kind_of(name), name, marked_by_itt);
  });
}
void end_task(const IttDomain* domain) {
  if (!is_pytorch(domain)) return;
  guarded([] {
    ThreadState* const thread = here();
    // What began elsewhere may end on a thread that has no range at all.
    if (thread != nullptr && thread->any_open()) thread->pop(operators);
  });
}

template <class Function>
void* address_of(Function* function) {
  return reinterpret_cast<void*>(function);
}

void take(IttFunction& function) {
  const std::string_view name{function.name};
  *function.slot = function.do_nothing;
  if (name == "__itt_domain_create" || name == "__itt_domain_createA") *function.slot = address_of(create_domain);
  if (name == "__itt_string_handle_create" || name == "__itt_string_handle_createA")
    *function.slot = address_of(create_string);
  if (name == "__itt_task_begin") *function.slot = address_of(begin_task);
  if (name == "__itt_task_end") *function.slot = address_of(end_task);
}

}  // namespace
}  // namespace rankscope::inject

/// Called once by each copy of ITT in the process, with its lock held.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the name is ITT's
extern "C" __attribute__((visibility("default"))) void __itt_api_init(void* copy, int) {
  using namespace rankscope::inject;
  auto* const global = static_cast<IttGlobal*>(copy);
  if (global == nullptr || global->magic != itt_magic || global->functions == nullptr) return;
  const bool wanted = collects(rankscope::collectors::Source::annotate);
  for (IttFunction* function = global->functions; function->name != nullptr; ++function) {
    if (wanted)
      take(*function);
    else
      *function->slot = function->do_nothing;
  }
}
