#include "flops/name_cache.h"

#include <algorithm>
#include <array>
#include <set>

#include "kernels/kernel_names.h"
#include "words/keys.h"

namespace rankscope::analyzer {
namespace {

StringId first_known(const Run& run, std::string_view kineto, std::string_view own) {
  const StringId id = run.strings().find(kineto);
  return id.is_set() || own.empty() ? id : run.strings().find(own);
}

KernelTraits traits_of(std::string_view kernel) {
  constexpr std::array<std::string_view, 8> parts{"gemm", "Gemm", "GEMM", "fmha", "conv2d", "fprop", "Cijk_", "wgrad"};
  const TensorCores use = tensor_cores_of(kernel);
  const bool named =
      std::ranges::any_of(parts, [&](std::string_view part) { return kernel.find(part) != std::string_view::npos; });
  return {use, use == TensorCores::yes || named};
}

}  // namespace

FlopCache::FlopCache(const Run& run)
    : run_(run),
      keys_{first_known(run, keys::input_dims, keys::own_input_dims),
            first_known(run, keys::input_types, keys::own_input_types), first_known(run, keys::concrete_inputs, "")},
      known_(run.strings().size(), 2),
      kernels_(run.strings().size()) {
  learn_convolutions();
}

bool FlopCache::has_formula(StringId name) {
  std::uint8_t& known = known_[name.index()];
  if (known == 2) known = has_flop_formula(run_.text(name)) ? 1 : 0;
  return known == 1;
}

const KernelTraits& FlopCache::kernel(StringId name) {
  std::optional<KernelTraits>& traits = kernels_[name.index()];
  if (!traits) traits = traits_of(run_.text(name));
  return *traits;
}

StringId FlopCache::text_of(SpanId call, StringId key) const {
  if (!key.is_set()) return {};
  const auto value = run_.attributes_of(call).find(key);
  return value && value->kind != AttributeKind::number ? value->text : StringId{};
}

StringId FlopCache::sizes_of(SpanId call) const { return text_of(call, keys_.sizes); }

OperatorInputs FlopCache::inputs_of(SpanId call) const {
  return inputs_from(run_.text(sizes_of(call)), run_.text(text_of(call, keys_.types)),
                     run_.text(text_of(call, keys_.values)));
}

/// Only where a backward pass of convolutions was recorded at all.
void FlopCache::learn_convolutions() {
  std::vector<StringId> names;
  for (const std::string_view name : ConvolutionOutputs::names())
    if (const StringId id = run_.strings().find(name); id.is_set()) names.push_back(id);
  if (names.empty() || !keys_.sizes.is_set()) return;
  std::set<std::pair<StringId, StringId>> seen;
  for (const Span& span : run_.spans()) {
    if (span.kind != SpanKind::op || std::ranges::find(names, span.name) == names.end()) continue;
    const SpanId id = run_.id_of(span);
    if (seen.insert({span.name, sizes_of(id)}).second) convolutions_.learn(run_.text(span.name), inputs_of(id));
  }
}

const FlopResult& FlopCache::of(SpanId call) {
  const StringId name = run_.span(call).name;
  const std::tuple key{name, sizes_of(call), text_of(call, keys_.types), text_of(call, keys_.values)};
  if (const auto found = results_.find(key); found != results_.end()) return found->second;
  return results_.emplace(key, flops_of(run_.text(name), inputs_of(call), convolutions_)).first->second;
}

}  // namespace rankscope::analyzer
