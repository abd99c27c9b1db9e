#include "engine/observers.h"

#include <stdlib.h>

#include <atomic>
#include <bitset>
#include <string>

#include "engine/accelerator.h"
#include "engine/operator_details.h"
#include "engine/process.h"
#include "rankscope/collectors/annotate.h"

namespace rankscope::trainer {
namespace {

// Which of the open operators were told to the recorder: its window may open or close between begin and end.
struct OpenOperators {
  static constexpr std::size_t deepest = 256;
  bool observed = false;
  std::size_t depth = 0;
  std::bitset<deepest> told;
};
thread_local OpenOperators open_operators;

const OperatorDetails& details() {
  static const OperatorDetails asked;
  return asked;
}

std::unique_ptr<at::ObserverContext> begin_operator(const at::RecordFunction& function) {
  OpenOperators& open = open_operators;
  if (!open.observed) return nullptr;
  const std::size_t depth = open.depth++;
  if (depth >= OpenOperators::deepest) return nullptr;
  const bool tell = annotate::recording();
  open.told[depth] = tell;
  if (tell) {
    const std::string_view name = function.name();
    annotate::detail::api()->push(static_cast<std::uint8_t>(annotate::Kind::op), name.data(),
                                  static_cast<std::uint32_t>(name.size()));
    details().tell(function);
  }
  return nullptr;
}

void end_operator(const at::RecordFunction&, at::ObserverContext*) {
  OpenOperators& open = open_operators;
  if (!open.observed || open.depth == 0) return;
  const std::size_t depth = --open.depth;
  if (depth < OpenOperators::deepest && open.told[depth]) annotate::detail::api()->pop();
}

std::unique_ptr<at::ObserverContext> begin_node(const at::RecordFunction& function) {
  if (accelerator() != nullptr && !open_operators.observed) {
    open_operators.observed = true;
    annotate::name_thread("backward");
  }
  if (open_operators.observed) begin_backward_node(function);
  return nullptr;
}
void end_node(const at::RecordFunction&, at::ObserverContext*) {
  if (open_operators.observed) end_backward_node();
}

// Which of the details the user asked for are acted on: all.
void tell_details() {
  std::string names;
  for (const auto& [detail, name] :
       {std::pair{annotate::Detail::shapes, "shapes"}, std::pair{annotate::Detail::memory, "memory"},
        std::pair{annotate::Detail::stack, "stack"}, std::pair{annotate::Detail::modules, "modules"}}) {
    if (annotate::wants(detail)) names += (names.empty() ? "" : ",") + std::string{name};
  }
  if (!names.empty()) annotate::metadata("details_recorded", names.c_str());
}

// One span per operator of this thread, and of those of autograd, on which backward runs on GPUs. The comm threads'
// copies are left out.
void observe_operators() {
  if (annotate::detail::api() == nullptr) return;  // unrecorded runs pay nothing
  open_operators.observed = true;
  at::addGlobalCallback(at::RecordFunctionCallback(begin_operator, end_operator)
                            .needsInputs(details().needs_inputs())
                            .scopes({at::RecordScope::FUNCTION}));
  if (details().follows_backward() || accelerator() != nullptr)
    at::addGlobalCallback(
        at::RecordFunctionCallback(begin_node, end_node).scopes({at::RecordScope::BACKWARD_FUNCTION}));
  tell_details();
}

}  // namespace

void set_up_torch(const TrainOptions& options) {
  annotate::name_thread("main");
  // libtorch answers a lost peer with a page of stack frames; our one sentence is enough. C++ programs must ask for
  // this variable to be read.
  setenv("TORCH_CPP_LOG_LEVEL", "ERROR", 0);
  c10::initLogging();
  at::set_num_threads(options.threads);
  observe_operators();
}

// libtorch passes no totals for CPU memory, only the size of each change.
struct MemoryObserver::Counter final : c10::MemoryReportingInfoBase {
  explicit Counter(c10::DeviceType counted) : type(counted) {}
  void reportMemoryUsage(void* address, std::int64_t size, std::size_t, std::size_t, c10::Device device) override {
    if (device.type() != type) return;
    const std::int64_t now = bytes.fetch_add(size, std::memory_order_relaxed) + size;
    if (tells_each && annotate::recording()) {
      annotate::mark("[memory]");
      annotate::describe_mark("address", static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address)));
      annotate::describe_mark("bytes", size);  // negative: released
      annotate::describe_mark("allocated_bytes", now);
    }
    std::int64_t highest = peak.load(std::memory_order_relaxed);
    while (now > highest && !peak.compare_exchange_weak(highest, now, std::memory_order_relaxed)) {
    }
  }
  bool memoryProfilingEnabled() const override { return true; }
  const c10::DeviceType type;
  const bool tells_each = annotate::wants(annotate::Detail::memory);
  std::atomic<std::int64_t> bytes{0};
  std::atomic<std::int64_t> peak{0};
};

MemoryObserver::MemoryObserver(std::optional<int> gpu)
    : gpu_(gpu),
      counter_(std::make_shared<Counter>(gpu ? c10::DeviceType::CUDA : c10::DeviceType::CPU)),
      guard_(c10::DebugInfoKind::PROFILER_STATE, counter_) {}
MemoryObserver::~MemoryObserver() = default;

std::int64_t MemoryObserver::allocated_bytes() const { return counter_->bytes.load(std::memory_order_relaxed); }

void MemoryObserver::tell() const {
  if (!gpu_) {
    annotate::counter("allocated_bytes", static_cast<double>(allocated_bytes()));
    annotate::counter("peak_allocated_bytes", static_cast<double>(counter_->peak.load(std::memory_order_relaxed)));
    return;
  }
  const Accelerator::Memory memory = accelerator()->memory(*gpu_);
  annotate::counter("allocated_bytes", static_cast<double>(memory.allocated));
  annotate::counter("peak_allocated_bytes", static_cast<double>(memory.peak_allocated));
  annotate::counter("reserved_bytes", static_cast<double>(memory.reserved));
}

}  // namespace rankscope::trainer
