#include "collectives/parts.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {

void judge_desyncs(const RuleContext& context, std::vector<Finding>& findings) {
  const Run& run = context.run;
  const Report& report = context.report;
  if (!report.collectives) return;
  for (const Desync& desync : report.collectives->desyncs) {
    Finding finding;
    finding.id = "desync";
    // Behind the cut of a file the recording has no ends, whatever happened there.
    const bool cut = run.quality().of(Counter::segment_cut) + run.quality().of(Counter::truncated_input) > 0;
    const bool hung = !cut && run.quality().of(Counter::collectives_open) > 0;
    finding.severity = hung ? FindingSeverity::critical : FindingSeverity::major;
    finding.title = format("the ranks of group {} disagree about operation {}",
                           run.text(run.groups()[desync.group.index()].name), desync.sequence);
    finding.evidence = desync.what;
    finding.subject = "group";  // by its ranks: names may differ from run to run
    for (const RankId rank : run.groups()[desync.group.index()].members) finding.subject += format(" {}", rank.value);
    finding.advice =
        "Make every rank call the same collectives in the same order, with the same sizes, element types and roots: "
        "look for branches that depend on the rank or on the data.";
    findings.push_back(std::move(finding));
  }
}

}  // namespace rankscope::analyzer
