#include "digest/merged_sections.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "copies/merge.h"
#include "data_loading/merge.h"
#include "kernels/merge.h"
#include "launches/merge.h"
#include "rankscope/core/format.h"
#include "steps/counted_windows.h"
#include "steps/parts.h"
#include "steps/time_cells.h"

namespace rankscope::analyzer {
namespace {

using Digests = std::span<const RankDigest>;

/// Of the ranks asked for, those whose numbers may be summed.
std::vector<const RankDigest*> digests_to_sum(Digests ranks, const Section<StepsSection>& steps,
                                              const ReportOptions& options, Among among) {
  std::vector<RankId> wanted;
  for (const RankDigest& rank : ranks)
    if (is_asked_for(options, rank.rank) && (among == Among::all_ranks || rank.device_record.has_accelerator))
      wanted.push_back(rank.rank);
  wanted = ranks_to_sum(std::move(wanted), steps);
  std::vector<const RankDigest*> chosen;
  for (const RankDigest& rank : ranks)
    if (std::ranges::binary_search(wanted, rank.rank)) chosen.push_back(&rank);
  return chosen;
}

tl::unexpected<Unavailable> nothing_to_sum(Digests ranks) {
  for (const RankDigest& rank : ranks)
    if (std::string why = why_no_device_activity(rank.device_record, rank.rank, ranks.size()); !why.empty())
      return no_device_work(std::move(why));
  return no_device_work(std::string{});
}

/// A sum over some of the ranks would be wrong.
tl::unexpected<Unavailable> no_part(const RankDigest& rank, std::string_view subject) {
  return unavailable(format(
      "the digest of rank {} lacks {}, or was written by a newer version of rankscope; open the recording instead",
      rank.rank.value, subject));
}

/// The end of the first step of the rank that was not thinned out on any rank, in the time of its digest; nothing if
/// none of the steps of the job are its.
std::optional<RunTime> first_step_end(const StepsPart& part, const Section<StepsSection>& all_steps) {
  if (!all_steps) return std::nullopt;
  const auto steps_of_job = windows_of(*all_steps, part.rank);
  if (steps_of_job.empty()) return std::nullopt;
  const auto first = std::ranges::find(part.windows, steps_of_job.front().index, &StepWindow::index);
  return first == part.windows.end() ? std::nullopt : std::optional{first->window.end};
}

/// In any rank of the run, asked for or not; parts that are missing have none.
Launches launches_recorded(Digests ranks) {
  const bool any =
      std::ranges::any_of(ranks, [](const RankDigest& rank) { return rank.launches && rank.launches->any_launch; });
  return any ? Launches::recorded : Launches::none_recorded;
}

}  // namespace

StepsResult steps_from(Digests ranks, const ClockTrust& clocks, const ReportOptions& options) {
  std::vector<StepsPart> parts;
  for (const RankDigest& rank : ranks) parts.push_back(rank.steps);
  return find_steps(parts, clocks, options);
}

Section<KernelsSection> kernels_from(Digests ranks, const Section<StepsSection>& steps, const ReportOptions& options) {
  if (std::string why = why_nothing_counts(steps, options); !why.empty()) return unavailable(std::move(why));
  const auto chosen = digests_to_sum(ranks, steps, options, Among::accelerators);
  if (chosen.empty()) return nothing_to_sum(ranks);
  KernelMerge merge;
  for (const RankDigest* rank : chosen) {
    if (!rank->kernels) return no_part(*rank, "kernels");
    merge.add(counted_rank(rank->steps, steps), *rank->kernels);
  }
  return std::move(merge).finish();
}

Section<CopiesSection> copies_from(Digests ranks, const Section<StepsSection>& steps,
                                   const Section<StepsSection>& all_steps, const ReportOptions& options) {
  if (std::string why = why_nothing_counts(steps, options); !why.empty()) return unavailable(std::move(why));
  const auto chosen = digests_to_sum(ranks, steps, options, Among::accelerators);
  if (chosen.empty()) return nothing_to_sum(ranks);
  CopiesMerge merge;
  for (const RankDigest* rank : chosen) {
    if (!rank->copies) return no_part(*rank, "copies");
    merge.add(counted_rank(rank->steps, steps), *rank->copies, first_step_end(rank->steps, all_steps));
  }
  return std::move(merge).finish();
}

Section<DataLoadingSection> data_loading_from(Digests ranks, const Section<StepsSection>& steps,
                                              const ReportOptions& options) {
  if (std::string why = why_nothing_counts(steps, options); !why.empty()) return unavailable(std::move(why));
  DataLoadingMerge merge;
  for (const RankDigest* rank : digests_to_sum(ranks, steps, options, Among::all_ranks)) {
    if (!rank->data_loading) return no_part(*rank, "data loading");
    merge.add(rank->rank, counted_rank(rank->steps, steps).windows, *rank->data_loading);
  }
  return std::move(merge).finish();
}

Section<LaunchesSection> launches_from(Digests ranks, const Section<StepsSection>& steps,
                                       const ReportOptions& options) {
  if (std::string why = why_nothing_counts(steps, options); !why.empty()) return unavailable(std::move(why));
  const auto counts = [&](const RankDigest& rank) {
    return rank.device_record.has_accelerator && is_asked_for(options, rank.rank);
  };
  if (std::ranges::none_of(ranks, counts)) return nothing_to_sum(ranks);
  LaunchesMerge merge;
  for (const RankDigest& rank : ranks) {
    if (!counts(rank)) continue;
    if (!rank.launches) return no_part(rank, "launches");
    merge.add(counted_rank(rank.steps, steps), *rank.launches);
  }
  return std::move(merge).finish(why_no_launches(launches_recorded(ranks)));
}

}  // namespace rankscope::analyzer
