#include "engine/training/observers.h"

#include <stdlib.h>

#include <atomic>
#include <bitset>
#include <string>
#include <unordered_map>

#include "engine/comm/accelerator.h"
#include "engine/layers/module_scope.h"
#include "engine/training/process.h"
#include "rankscope/collectors/annotate.h"

namespace rankscope::trainer {
namespace {

// Of the forward pass, by sequence number, until its backward has run.
thread_local std::unordered_map<std::int64_t, CallContext> forward_contexts;
thread_local CallContext backward_context;
constexpr std::size_t most_contexts = 1U << 18;  // forwards without a backward must not fill the memory

void add_dims(std::string& text, const at::Tensor& tensor) {
  text += '[';
  if (tensor.defined()) {
    bool first = true;
    for (const std::int64_t size : tensor.sizes()) {
      if (!std::exchange(first, false)) text += ',';
      text += std::to_string(size);
    }
  }
  text += ']';
}

// As Kineto writes them: [2,3] of a tensor, [[2],[3]] of a list of tensors, [] of all else.
std::string dims_of(c10::ArrayRef<const c10::IValue> inputs) {
  std::string text = "[";
  for (const c10::IValue& input : inputs) {
    if (text.size() > 1) text += ',';
    if (input.isTensor()) {
      add_dims(text, input.toTensor());
    } else if (input.isTensorList()) {
      text += '[';
      bool first = true;
      for (const at::Tensor& tensor : input.toTensorVector()) {
        if (!std::exchange(first, false)) text += ',';
        add_dims(text, tensor);
      }
      text += ']';
    } else {
      text += "[]";
    }
  }
  return text + "]";
}

std::string type_of(const c10::IValue& input) {
  if (input.isTensor()) return input.toTensor().defined() ? std::string{input.toTensor().dtype().name()} : "";
  if (input.isTensorList()) return "TensorList";
  if (input.isScalar() || input.isBool()) return "Scalar";
  if (input.isIntList() || input.isDoubleList() || input.isBoolList()) return "ScalarList";
  return "";
}

std::string types_of(c10::ArrayRef<const c10::IValue> inputs) {
  std::string text = "[";
  for (const c10::IValue& input : inputs) text += (text.size() > 1 ? ",\"" : "\"") + type_of(input) + "\"";
  return text + "]";
}

void attach_json(const char* key, const std::string& json) {
  annotate::newer_api()->attribute_json(key, json.data(), static_cast<std::uint32_t>(json.size()));
}
void attach_text(const char* key, const std::string& text) {
  annotate::detail::api()->attribute_text(key, text.data(), static_cast<std::uint32_t>(text.size()));
}

std::string place_of(const std::source_location& where) {
  const std::string_view path = where.file_name();
  const std::size_t slash = path.rfind('/');
  return std::string{slash == path.npos ? path : path.substr(slash + 1)} + ":" + std::to_string(where.line());
}

/// Null outside of modules: loss, optimizer, copies of batches.
const CallContext* context_of(const at::RecordFunction& function) {
  const CallContext* const module = current_module();
  if (module == nullptr) return backward_context.module != nullptr ? &backward_context : nullptr;
  if (forward_contexts.size() >= most_contexts) forward_contexts.clear();
  if (function.seqNr() >= 0) forward_contexts[function.seqNr()] = *module;
  return module;
}

/// Attaches the inputs and the call context of an operator whose span has just been begun.
class OperatorDetails {
 public:
  /// Reads what the user asked for.
  OperatorDetails();
  [[nodiscard]] bool needs_inputs() const { return shapes_; }
  [[nodiscard]] bool follows_backward() const { return stack_; }
  void attach(const at::RecordFunction& function) const;

 private:
  bool shapes_;
  bool stack_;
};

OperatorDetails::OperatorDetails()
    : shapes_(annotate::wants(annotate::Detail::shapes)), stack_(annotate::wants(annotate::Detail::stack)) {}

void OperatorDetails::attach(const at::RecordFunction& function) const {
  if (shapes_) {
    attach_json("input_dims", dims_of(function.inputs()));
    attach_json("input_types", types_of(function.inputs()));
  }
  if (!stack_) return;
  if (const CallContext* const context = context_of(function)) {
    attach_text("module", *context->module);
    attach_text("called_from", place_of(context->called_from));
  }
}

// Operators of backward are run by the graph's nodes: each has the number of the forward operator that made it.
void begin_backward_node(const at::RecordFunction& function) {
  const auto found = forward_contexts.find(function.seqNr());
  if (found == forward_contexts.end()) return;
  backward_context = found->second;
  forward_contexts.erase(found);
}

void end_backward_node() { backward_context = {}; }

// Which of the open operators the recorder has seen begin: its window may open or close between begin and end.
struct OpenOperators {
  static constexpr std::size_t deepest = 256;
  bool observed = false;
  std::size_t depth = 0;
  std::bitset<deepest> recorded;
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
  const bool is_recorded = annotate::recording();
  open.recorded[depth] = is_recorded;
  if (is_recorded) {
    const std::string_view name = function.name();
    annotate::detail::api()->push(static_cast<std::uint8_t>(annotate::Kind::op), name.data(),
                                  static_cast<std::uint32_t>(name.size()));
    details().attach(function);
  }
  return nullptr;
}

void end_operator(const at::RecordFunction&, at::ObserverContext*) {
  OpenOperators& open = open_operators;
  if (!open.observed || open.depth == 0) return;
  const std::size_t depth = --open.depth;
  if (depth < OpenOperators::deepest && open.recorded[depth]) annotate::detail::api()->pop();
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
void note_details() {
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
  note_details();
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
    if (marks_each && annotate::recording()) {
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
  const bool marks_each = annotate::wants(annotate::Detail::memory);
  std::atomic<std::int64_t> bytes{0};
  std::atomic<std::int64_t> peak{0};
};

MemoryObserver::MemoryObserver(std::optional<int> gpu)
    : gpu_(gpu),
      counter_(std::make_shared<Counter>(gpu ? c10::DeviceType::CUDA : c10::DeviceType::CPU)),
      guard_(c10::DebugInfoKind::PROFILER_STATE, counter_) {}
MemoryObserver::~MemoryObserver() = default;

std::int64_t MemoryObserver::allocated_bytes() const { return counter_->bytes.load(std::memory_order_relaxed); }

void MemoryObserver::record() const {
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
