#include "collectives/same_job.h"
#include "rankscope/core/model/run.h"

#include <algorithm>

namespace rankscope::analyzer {
namespace {

/// Recordings of our own are of one job each: `record` joins no others.
bool is_own(const Run& run) { return run.info().source == "rankscope"; }

bool overlap_in_time(const Run& run) {
  RunTime last_begin = run.process_of(run.ranks().front()).recorded.begin;
  RunTime first_end = run.process_of(run.ranks().front()).recorded.end;
  for (const RankId rank : run.ranks()) {
    last_begin = std::max(last_begin, run.process_of(rank).recorded.begin);
    first_end = std::min(first_end, run.process_of(rank).recorded.end);
  }
  return last_begin <= first_end;
}

}  // namespace

std::string why_other_jobs(const Run& run, const Section<StepsSection>& steps, const Matching& matching) {
  for (const QualityPlace& place : run.info().places)
    if (place.counter == Counter::jobs_mixed) return "the files are from different jobs: " + place.where;
  if (run.quality().of(Counter::jobs_mixed) > 0) return "the files are from different jobs";
  if (is_own(run) || run.ranks().size() < 2 || run.info().clock.method == "none") return {};
  const bool common_collective = matching.section && matching.section->matched > 0;
  if (steps || common_collective || overlap_in_time(run)) return {};
  return "the files seem to be from different jobs: they do not overlap in time and have no step or collective in "
         "common";
}

}  // namespace rankscope::analyzer
