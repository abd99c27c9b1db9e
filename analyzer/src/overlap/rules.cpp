#include "overlap/parts.h"

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rules/severity.h"
#include "words/units.h"

namespace rankscope::analyzer {

/// 3.5
void judge_contention(const RuleContext& context, std::vector<Finding>& findings) {
  const Report& report = context.report;
  if (!report.overlap || !report.steps || report.overlap->contended.empty() || report.overlap->rank_steps == 0) return;
  std::int64_t cost = 0;
  for (const ContendedKernel& kernel : report.overlap->contended) cost += kernel.cost_ns();
  Finding finding;
  finding.id = "contention";
  finding.gain_ns_per_step = cost / report.overlap->rank_steps;
  finding.severity = severity_of(report.steps->share_of_step(finding.gain_ns_per_step), gain_limits);
  if (finding.severity == FindingSeverity::info) return;
  const std::size_t kernels = report.overlap->contended.size();
  const ContendedKernel& worst = report.overlap->contended.front();
  finding.title = "communication slows down kernels that run at the same time";
  finding.evidence = format(
      "{} {} affected; the kernel with the largest cost is {}: it takes {} during communication (median of {} "
      "launches) and {} alone",
      counted(kernels, "kernel"), kernels == 1 ? "is" : "are", worst.short_name, duration_text(worst.median_beside_ns),
      worst.beside, duration_text(worst.median_alone_ns));
  finding.advice =
      "Give communication fewer SMs (NCCL_MAX_CTAS, NCCL_MIN_CTAS), use copy engines or NVLS if the links support "
      "them, or overlap communication with kernels that need little memory bandwidth.";
  findings.push_back(std::move(finding));
}

}  // namespace rankscope::analyzer
