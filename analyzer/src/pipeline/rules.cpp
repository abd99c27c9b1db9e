#include "pipeline/parts.h"

#include <span>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rules/severity.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

/// "stage 1"; where it has several parts of the model or its number is not known, "position 1 in the pipeline".
std::string stage_of(const PipelineSection& section) {
  const std::int32_t place = section.owner->place;
  const bool known = place >= 0 && static_cast<std::size_t>(place) < section.places.size();
  const auto stages =
      known ? std::span{section.places[static_cast<std::size_t>(place)].stages} : std::span<const std::int32_t>{};
  return stages.size() == 1 && stages[0] >= 0 ? format("stage {}", stages[0])
                                              : format("position {} in the pipeline", place);
}

std::string advice_for(const PipelineSection& section) {
  if (!section.owner) return "Look at the chart of the schedule: where a hatched part begins, something was late.";
  const AboveTheory& above = section.owner->above;
  const auto rank = section.owner->rank.value;
  if (above.longer_work_ns >= above.transfer_ns && above.longer_work_ns >= above.host_ns)
    return format("Give {} (rank {}) fewer layers, or find out why rank {} is slow; other ranks wait for it.",
                  stage_of(section), rank, rank);
  if (above.transfer_ns >= above.host_ns)
    return "Post the receives earlier, so that the data arrives while the rank still computes; place communicating "
           "stages on devices that are close to each other; or send less data.";
  return format("Find out what the host of rank {} does between two micro-batches: Python, logging, synchronizations.",
                rank);
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
      format("the pipeline's bubble is {:.0f} percentage points larger than its schedule requires", above * 100);
  finding.evidence =
      format("{}: the bubble takes {} of the time, but the schedule requires only {}; {} per step = {}",
             name_of(*section->schedule), percent_of(*section->bubble_measured.value),
             percent_of(*section->bubble_theory.value), duration_text(parts.length_ns), parts_text(parts));
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
