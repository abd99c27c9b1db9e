// Which module runs: recorded as ranges (--modules) and as the context of operators (--stack). Where neither was asked
// for, a scope costs one branch.
#pragma once

#include <optional>
#include <source_location>
#include <string>
#include <string_view>

#include "engine/libtorch.h"
#include "rankscope/collectors/annotate.h"

namespace rankscope::trainer {

/// What called an operator. A C++ program has no Python stack, and frames inside libtorch say nothing about the model:
/// recorded are the path of the innermost module, and the line that called it.
struct CallContext {
  const std::string* module = nullptr;  ///< "layer0.linear"
  std::source_location called_from;
};

/// Learns the paths of a model's modules; before it, scopes do nothing.
void name_modules(const torch::nn::Module& model);

/// The innermost module that runs on this thread, or null.
[[nodiscard]] const CallContext* current_module();

/// A module from the begin of its forward pass to its end.
class ModuleScope {
 public:
  ModuleScope(const torch::nn::Module& module, std::source_location called_from);
  ModuleScope(const ModuleScope&) = delete;
  ModuleScope& operator=(const ModuleScope&) = delete;
  ~ModuleScope();

 private:
  bool entered_ = false;
  std::optional<annotate::Span> range_;
};

/// Forward of a module, inside its scope.
template <class Holder>
at::Tensor run(Holder& module, const at::Tensor& input,
               std::source_location called_from = std::source_location::current()) {
  const ModuleScope scope{*module, called_from};
  return module->forward(input);
}

}  // namespace rankscope::trainer
