#include <algorithm>
#include <span>

#include "fusable/parts.h"

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rules/severity.h"
#include "split/row_sums.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

constexpr double worth_fusing = 0.2;  // of the time

/// "9 % of the time is spent in the kernels, 14 % in the gaps between them (47.6 ms per step and rank)", and which
/// sequence costs most.
std::string fusable_text(const Usual& usual, const FusableSection& section, std::span<const Finding> findings) {
  const std::string_view per = usual.steps > 0 ? "per step and rank" : "per rank in total";
  const bool idle_named = std::ranges::find(findings, finding_id::idle, &Finding::id) != findings.end();
  const FusableSequence& first = section.sequences.front();
  return format(
      "{} of the time is spent in the kernels, {} in the gaps between them ({} {}; {}); the costliest sequence ({} {}) "
      "is {}",
      percent_of(usual.share(section.kernel_ns)), percent_of(usual.share(section.gap_ns)),
      duration_text(usual.mean(section.gap_ns)), per,
      idle_named ? "this is also part of the finding on idle time, so do not add the two savings"
                 : "this is also counted as idle time",
      duration_text(usual.mean(first.kernel_ns + first.gap_ns)), per, first.kernels);
}

std::string_view advice_for(const Report& report) {
  return report.uses_pytorch ? "Merge each sequence into one kernel with torch.compile, a fused optimizer (fused=True) "
                               "or fused operators; CUDA graphs only close the gaps."
                             : "Merge each sequence into one kernel; CUDA graphs only close the gaps.";
}

}  // namespace

void judge_fusable(const RuleContext& context, std::vector<Finding>& findings) {
  if (!context.report.fusable || context.report.fusable->sequences.empty()) return;
  const FusableSection& section = *context.report.fusable;
  const Usual& usual = context.everybody;
  const double share = usual.share(section.kernel_ns + section.gap_ns);
  FindingSeverity severity = severity_of(usual.share(section.gap_ns), gain_limits);
  if (share >= worth_fusing) severity = worse(severity, FindingSeverity::minor);
  if (severity == FindingSeverity::info) return;
  findings.push_back({"fusable", severity,
                      format("{} of the time goes to sequences of pointwise kernels", percent_of(share)),
                      fusable_text(usual, section, findings), std::string{advice_for(context.report)},
                      usual.per_step(section.gap_ns), std::nullopt, std::nullopt});
}

}  // namespace rankscope::analyzer
