#include "pipeline/parts.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rules/severity.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

std::string advice_for(const PipelineSection& section) {
  if (!section.owner) return "Look at the chart of the schedule: where a hatched part begins, something was late.";
  const AboveTheory& above = section.owner->above;
  if (above.longer_work_ns >= above.transfer_ns && above.longer_work_ns >= above.host_ns)
    return "Give the stage that causes most of the excess fewer layers, or find out why its rank is slow; other stages "
           "wait for it.";
  if (above.transfer_ns >= above.host_ns)
    return "Post receives earlier, so that the data arrive while the rank still computes; place communicating stages "
           "on devices that are close to each other; or send less data.";
  return "Find out what the host of the rank that causes most of the excess does between two micro-batches: Python, "
         "logging, synchronizations.";
}

}  // namespace

/// metrics.md 13 and 20.
void judge_pipeline(const RuleContext& context, std::vector<Finding>& findings) {
  const auto& section = context.report.pipeline;
  if (!section || !section->above_theory()) return;
  const double above = *section->above_theory();
  const FindingSeverity severity = severity_of(above, pipeline_limits);
  if (severity == FindingSeverity::info) return;
  const PipelineParts& parts = *section->parts;
  Finding finding;
  finding.id = "pipeline.bubble";
  finding.severity = severity;
  finding.title =
      format("the pipeline's idle share is {:.0f} percentage points higher than its schedule requires", above * 100);
  finding.evidence = format("{}: {} idle, {} required by the schedule; {} per step = {}", name_of(*section->schedule),
                            percent_of(*section->bubble_measured.value), percent_of(*section->bubble_theory.value),
                            duration_text(parts.length_ns), parts_text(parts));
  if (section->owner) {
    finding.rank = section->owner->rank;
    finding.evidence += format("; rank {} (position {} in the pipeline) causes most of the excess",
                               section->owner->rank.value, section->owner->place);
  }
  finding.advice = advice_for(*section);
  if (section->steps > 0) finding.gain_ns_per_step = std::max<std::int64_t>(0, parts.imbalance_ns + parts.excess_ns);
  findings.push_back(std::move(finding));
}

}  // namespace rankscope::analyzer
