#include "importers/shared/jobs.h"

#include "importers/shared/importer.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

constexpr std::int64_t a_day = 86'400'000'000'000;

/// Time between two files; 0 where they overlap or one does not tell.
std::int64_t gap_between(const JobEvidence& a, const JobEvidence& b) {
  if (!a.begin_unix_ns || !b.begin_unix_ns || !a.end_unix_ns || !b.end_unix_ns) return 0;
  if (*a.end_unix_ns < *b.begin_unix_ns) return *b.begin_unix_ns - *a.end_unix_ns;
  return *b.end_unix_ns < *a.begin_unix_ns ? *a.begin_unix_ns - *b.end_unix_ns : 0;
}

/// Why both cannot be of one job; empty if they can.
std::string difference(const JobEvidence& first, const JobEvidence& other) {
  if (first.world_size > 0 && other.world_size > 0 && first.world_size != other.world_size)
    return format("{} belongs to a job of {}, {} to a job of {}", other.file, counted(other.world_size, "rank"),
                  first.file, counted(first.world_size, "rank"));
  if (first.recording && other.recording && *first.recording != *other.recording)
    return format("{} and {} were exported from different recordings", other.file, first.file);
  if (!first.job.empty() && !other.job.empty() && first.job != other.job)
    return format("{} belongs to job {}, {} to job {}", other.file, other.job, first.file, first.job);
  if (const std::int64_t days = gap_between(first, other) / a_day; days > 0)
    return format("{} and {} were recorded more than {} apart", first.file, other.file, counted(days, "day"));
  return {};
}

}  // namespace

void note_other_jobs(std::span<const JobEvidence> files, RunBuilder& run) {
  for (std::size_t i = 1; i < files.size(); ++i) {
    const std::string why = difference(files.front(), files[i]);
    if (!why.empty()) add_loss({Counter::jobs_mixed, 1, why}, run);
  }
}

}  // namespace rankscope::analyzer
