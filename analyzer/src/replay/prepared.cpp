#include "replay/prepared.h"

#include "collectives/same_job.h"
#include "replay/build.h"

namespace rankscope::analyzer::replay {

Result<Prepared> prepare(const Run& recorded, const ReportOptions& options) {
  AlignedRun aligned{recorded};
  const Run& run = aligned.run();
  StepsResult steps = find_steps(run, aligned.clocks(), options);
  const Matching matching = match_collectives(run, aligned.clocks());
  if (const std::string why = why_other_jobs(run, steps.all, matching); !why.empty())
    return fail(ErrorKind::not_computable, why);
  if (options.steps && !steps.section) return fail(ErrorKind::usage, steps.section.error().why);
  auto rows = split_ranks(run, steps.section, matching, options);
  if (!rows) return fail(ErrorKind::not_computable, rows.error().why);
  if (const std::string& why = rows->front().why_no_comm; !why.empty()) return fail(ErrorKind::not_computable, why);
  auto graph = build_graph(run, steps.section, matching, aligned.clocks());
  if (!graph) return fail(ErrorKind::not_computable, graph.error().why);
  return Prepared{std::move(aligned), std::move(steps), std::move(rows), std::move(*graph)};
}

}  // namespace rankscope::analyzer::replay
