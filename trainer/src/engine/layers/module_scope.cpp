#include "engine/layers/module_scope.h"

#include <unordered_map>
#include <vector>

namespace rankscope::trainer {
namespace {

// Made once, before training, on the main thread; empty unless somebody wants it.
std::unordered_map<const torch::nn::Module*, std::string>& paths() {
  static std::unordered_map<const torch::nn::Module*, std::string> all;
  return all;
}

thread_local std::vector<CallContext> running;

}  // namespace

void name_modules(const torch::nn::Module& model) {
  if (!annotate::wants(annotate::Detail::modules) && !annotate::wants(annotate::Detail::stack)) return;
  for (const auto& entry : model.named_modules("", /*include_self=*/false)) paths()[entry.value().get()] = entry.key();
}

const CallContext* current_module() { return running.empty() ? nullptr : &running.back(); }

ModuleScope::ModuleScope(const torch::nn::Module& module, std::source_location called_from) {
  if (paths().empty()) return;
  const auto found = paths().find(&module);
  if (found == paths().end()) return;
  running.push_back({&found->second, called_from});
  entered_ = true;
  if (annotate::wants(annotate::Detail::modules)) range_.emplace(annotate::Kind::user, found->second);
}

ModuleScope::~ModuleScope() {
  range_.reset();
  if (entered_) running.pop_back();
}

}  // namespace rankscope::trainer
