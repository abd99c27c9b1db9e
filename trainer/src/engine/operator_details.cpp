#include "engine/operator_details.h"

#include <string>
#include <unordered_map>

#include "engine/module_scope.h"
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

void tell_json(const char* key, const std::string& json) {
  annotate::newer_api()->attribute_json(key, json.data(), static_cast<std::uint32_t>(json.size()));
}
void tell_text(const char* key, const std::string& text) {
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

}  // namespace

OperatorDetails::OperatorDetails()
    : shapes_(annotate::wants(annotate::Detail::shapes)), stack_(annotate::wants(annotate::Detail::stack)) {}

void OperatorDetails::tell(const at::RecordFunction& function) const {
  if (shapes_) {
    tell_json("input_dims", dims_of(function.inputs()));
    tell_json("input_types", types_of(function.inputs()));
  }
  if (!stack_) return;
  if (const CallContext* const context = context_of(function)) {
    tell_text("module", *context->module);
    tell_text("called_from", place_of(context->called_from));
  }
}

void begin_backward_node(const at::RecordFunction& function) {
  const auto found = forward_contexts.find(function.seqNr());
  if (found == forward_contexts.end()) return;
  backward_context = found->second;
  forward_contexts.erase(found);
}

void end_backward_node() { backward_context = {}; }

}  // namespace rankscope::trainer
