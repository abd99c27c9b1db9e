// What kernels could do better, by their names.

#include "kernels/kernel_names.h"
#include "kernels/parts.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/numbers.h"
#include "rules/severity.h"
#include "split/row_sums.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

/// Of NVIDIA devices; 0 where it was not recorded. Tensor cores came with 7, TF32 with 8.
int compute_capability(const Run& run) {
  const StringId key = run.strings().find("computeMajor");
  int major = 0;
  for (const Device& device : run.devices())
    for (const auto& [name, value] : device.metadata)
      if (name == key) major = number_from<int>(run.text(value)).value_or(major);
  return major;
}

}  // namespace

void judge_tensor_cores(const RuleContext& context, std::vector<Finding>& findings) {
  const int capability = compute_capability(context.run);
  if (!context.report.kernels || capability < 7) return;
  const KernelsSection& kernels = *context.report.kernels;
  std::int64_t ns = 0;
  const KernelRow* longest = nullptr;
  for (const KernelRow& row : kernels.names) {
    if (row.tensor_cores != TensorCores::no || !multiplies_matrices(row.name)) continue;
    ns += row.times.exclusive_ns;
    if (longest == nullptr) longest = &row;
  }
  constexpr std::string_view with_tf32 =
      "Use bf16 or fp16 (torch.autocast), or allow TF32 (torch.set_float32_matmul_precision(\"high\")); sizes that are "
      "multiples of 8 fit the tensor cores.";
  constexpr std::string_view half_only =
      "Use fp16 (torch.autocast); sizes that are multiples of 8 fit the tensor cores.";
  const std::string_view advice = capability >= 8 ? with_tf32 : half_only;
  const Usual& usual = context.everybody;
  const FindingSeverity severity = severity_of(usual.share(ns), tensor_core_limits);
  if (severity == FindingSeverity::info) return;
  findings.push_back({"tensor_cores", severity,
                      format("matrix products and convolutions run without tensor cores for {} of the time",
                             percent_of(usual.share(ns))),
                      format("{} {} is spent in kernels that compute matrix products or convolutions but, judged by "
                             "their names, do not use tensor cores; the one with the longest time is {} ({})",
                             duration_text(usual.mean(ns)), usual.steps > 0 ? "per step and rank" : "per rank",
                             longest->short_name, duration_text(usual.mean(longest->times.exclusive_ns))),
                      std::string{advice}, 0, std::nullopt, std::nullopt});
}

}  // namespace rankscope::analyzer
