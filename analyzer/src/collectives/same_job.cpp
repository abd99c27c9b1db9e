#include "collectives/same_job.h"

#include <algorithm>
#include <map>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

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

constexpr nanoseconds surely_apart{1'000'000'000};

/// `record` joins no other job, but segments may have been copied into one folder. Their steps and collectives have the
/// same numbers; only times on one host show that the processes never met.
std::string why_never_met(const Run& run) {
  struct Ends {
    const Process* first_to_end = nullptr;
    const Process* last_to_begin = nullptr;
  };
  std::map<std::string_view, Ends> hosts;
  for (const RankId rank : run.ranks()) {
    const Process& process = run.process_of(rank);
    auto& [first_to_end, last_to_begin] = hosts[run.text(process.host)];
    if (first_to_end == nullptr || process.recorded.end < first_to_end->recorded.end) first_to_end = &process;
    if (last_to_begin == nullptr || process.recorded.begin > last_to_begin->recorded.begin) last_to_begin = &process;
  }
  for (const auto& [host, ends] : hosts) {
    const nanoseconds between = ends.last_to_begin->recorded.begin - ends.first_to_end->recorded.end;
    if (host.empty() || between < surely_apart) continue;
    return format("the recordings are from different jobs: on host {}, rank {} ended {} before rank {} began", host,
                  ends.first_to_end->rank.value, duration_text(between.count()), ends.last_to_begin->rank.value);
  }
  return {};
}

}  // namespace

std::string why_other_jobs(const Run& run, const Section<StepsSection>& steps, const Matching& matching) {
  for (const QualityPlace& place : run.info().places)
    if (place.counter == Counter::jobs_mixed) return "the files are from different jobs: " + place.where;
  if (run.quality().of(Counter::jobs_mixed) > 0) return "the files are from different jobs";
  if (is_own(run)) return why_never_met(run);
  if (run.ranks().size() < 2 || run.info().clock.method == "none") return {};
  const bool common_collective = matching.section && matching.section->matched > 0;
  if (steps || common_collective || overlap_in_time(run)) return {};
  return "the files seem to be from different jobs: they do not overlap in time and have no step or collective in "
         "common";
}

}  // namespace rankscope::analyzer
