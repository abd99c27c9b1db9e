#include "compare/loss_words.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "rankscope/core/format.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

/// "1 `one` of rank 3 was `what_happened`".
struct LossWords {
  Counter counter;
  std::string_view one;
  std::string_view what_happened;
};

constexpr std::array loss_words{
    LossWords{Counter::segments_unreadable, "segment file", "unreadable"},
    LossWords{Counter::segment_cut, "segment file", "cut off"},
    LossWords{Counter::header_damaged, "segment file", "found with a damaged header"},
    LossWords{Counter::manifest_damaged, "manifest", "damaged"},
    LossWords{Counter::chunks_corrupt, "damaged chunk", "left out"},
    LossWords{Counter::chunks_missing, "chunk", "missing in the middle of a thread's events"},
    LossWords{Counter::events_dropped, "event", "dropped because the ring buffer was full"},
    LossWords{Counter::disk_full, "event", "dropped because the disk was full or a file-size limit was reached"},
    LossWords{Counter::events_without_sums, "event",
              "removed while the job ran, but the sums of the steps could not be stored"},
    LossWords{Counter::processes_not_recorded, "process", "not recorded"},
    LossWords{Counter::not_gathered, "recorder", "still running, or killed before gathering segments"},
    LossWords{Counter::activities_dropped, "device event", "dropped because the CUDA profiler ran out of buffers"},
    LossWords{Counter::comm_events_dropped, "NCCL event", "dropped because too many were open at the same time"},
    LossWords{Counter::attributes_dropped, "detail", "left out because the details need more than 4 GiB in total"},
    LossWords{Counter::truncated_input, "trace file", "cut off"},
    LossWords{Counter::tails_lost, "trace file", "found to lack the last events"},
    LossWords{Counter::source_lost_events, "message", "written by the profiler about lost or possibly lost events"},
    LossWords{Counter::events_malformed, "event", "left out because of invalid JSON"},
    LossWords{Counter::events_incomplete, "event", "left out because a field was missing"},
    LossWords{Counter::times_unusable, "device event", "left out because of an unusable time"},
    LossWords{Counter::files_left_out, "file", "found not to contain a trace, and left out"},
    LossWords{Counter::jobs_mixed, "file", "recorded in another job"},
    LossWords{Counter::rank_contested, "rank", "recorded by two processes at the same time"},
    LossWords{Counter::ranks_missing, "rank", "not recorded"},
};

constexpr auto counters = [] {
  std::array<Counter, loss_words.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = loss_words[i].counter;
  return all;
}();

}  // namespace

std::span<const Counter> counters_of_losses() { return counters; }

std::string loss_text(Counter counter, const LostAmount& lost) {
  const auto* const words = std::ranges::find(loss_words, counter, &LossWords::counter);
  const std::string whose = lost.ranks.empty() ? std::string{} : " of " + ranks_text(lost.ranks);
  return format("{}{} {} {}", counted(lost.amount, words->one), whose, lost.amount == 1 ? "was" : "were",
                words->what_happened);
}

StepRanges ranges_of(std::span<const std::int64_t> steps) {
  StepRanges ranges;
  for (const std::int64_t step : steps) {
    if (ranges.empty() || ranges.back().second + 1 != step) ranges.emplace_back(step, step);
    ranges.back().second = step;
  }
  return ranges;
}

std::int64_t count_of(const StepRanges& ranges) {
  std::int64_t count = 0;
  for (const auto& [first, last] : ranges) count += last - first + 1;
  return count;
}

std::string step_list(const StepRanges& ranges) {
  constexpr std::size_t most = 3;
  std::string list;
  for (const auto& [first, last] : std::span{ranges}.first(std::min(most, ranges.size()))) {
    list += list.empty() ? "" : ", ";
    list += first == last ? format("{}", first) : format("{} to {}", first, last);
  }
  return ranges.size() > most ? list + " and others" : list;
}

}  // namespace rankscope::analyzer
