#include "hta/find.h"

namespace rankscope::analyzer {

Section<HtaSection> hta_numbers(const Run& run, HtaLastStep last_step) {
  HtaNames names{run};
  const auto ranks = hta_rows(run, names, last_step);
  if (!ranks) return unavailable(ranks.error().why);
  HtaSection section;
  section.last_step = last_step;
  for (const HtaRows& rows : *ranks)
    section.ranks.push_back({.rank = rows.rank,
                             .rows = rows.rows,
                             .dropped_rows = rows.dropped_rows,
                             .doubled_rows = rows.doubled_rows,
                             .times = hta_times(rows, names),
                             .overlap_percent = hta_overlap_percent(rows, names),
                             .launch = hta_launches(rows, names),
                             .kernels = hta_kernels(run, rows, names),
                             .idle = hta_idle(run, rows),
                             .queues = hta_queues(run, rows, names)});
  section.types = hta_types(*ranks, names);
  section.stragglers = hta_stragglers(*ranks, names);
  return section;
}

}  // namespace rankscope::analyzer
