#include "fusable/parts.h"

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rules/severity.h"
#include "split/row_sums.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

constexpr double worth_fusing = 0.2;  // of the time

}  // namespace

void judge_fusable(const RuleContext& context, std::vector<Finding>& findings) {
  if (!context.report.fusable || context.report.fusable->sequences.empty()) return;
  const FusableSection& section = *context.report.fusable;
  const Usual& usual = context.everybody;
  const double share = usual.share(section.kernel_ns + section.gap_ns);
  FindingSeverity severity = severity_of(usual.share(section.gap_ns), gain_limits);
  if (share >= worth_fusing) severity = worse(severity, FindingSeverity::minor);
  if (severity == FindingSeverity::info) return;
  const FusableSequence& first = section.sequences.front();
  findings.push_back(
      {"fusable", severity, format("{} of the time, pointwise kernels run in a row", percent_of(share)),
       format("{} {} in gaps between them; longest sequence: {} ({})", duration_text(usual.mean(section.gap_ns)),
              usual.steps > 0 ? "per step and rank" : "per rank", first.kernels,
              duration_text(usual.mean(first.kernel_ns + first.gap_ns))),
       "Merge each sequence into one kernel with torch.compile, a fused optimizer (fused=True) or fused operators; "
       "CUDA graphs only close the gaps.",
       usual.per_step(section.gap_ns), std::nullopt, std::nullopt});
}

}  // namespace rankscope::analyzer
