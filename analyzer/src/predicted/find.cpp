#include "predicted/parts.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "math/statistics.h"
#include "memory/series.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/numbers.h"
#include "steps/find.h"
#include "steps/parts.h"

namespace rankscope::analyzer {
namespace {

std::optional<std::int64_t> number_in(const Run& run, std::uint32_t process, std::string_view key) {
  return number_from<std::int64_t>(run.metadata(run.processes()[process], key), {.least = 0});
}

/// Of the counted steps of one rank.
std::vector<TimeRange> windows_to_count(const StepsSection& steps, RankId rank) {
  std::vector<TimeRange> windows;
  for (const StepWindow& window : windows_of(steps, rank))
    if (window.complete && steps.counted(window.index)) windows.push_back(window.window);
  return windows;
}

/// The last sample of each step is taken when it is over.
std::optional<std::int64_t> held_between_steps(const Run& run, std::uint32_t process,
                                               const std::vector<TimeRange>& windows) {
  std::vector<std::int64_t> held;
  for (const CounterTrack& track : run.counters()) {
    if (track.process != process || run.text(track.name) != "allocated_bytes") continue;
    const auto samples = run.samples_of(track);
    for (const TimeRange& window : windows) {
      const auto behind = std::ranges::lower_bound(samples, window.end, {}, &CounterSample::time);
      if (behind == samples.begin() || (behind - 1)->time < window.begin) continue;
      const double last = (behind - 1)->value;
      if (last >= 0 && last <= static_cast<double>(largest_memory)) held.push_back(std::llround(last));
    }
  }
  return held.empty() ? std::nullopt : std::optional{median(held)};
}

// What arrives is what another rank gave; a barrier carries nothing.
bool is_given(std::string_view op) { return op != "recv" && op != "barrier"; }

PredictedAmount amount(std::int64_t predicted, std::optional<std::int64_t> measured, const char* why) {
  return {.predicted_bytes = predicted, .measured_bytes = measured, .why_not_measured = measured ? "" : why};
}

/// What one rank gave to others, by window.
class Sent {
 public:
  explicit Sent(std::vector<TimeRange> windows) : windows_(std::move(windows)), bytes_(windows_.size(), 0) {}

  [[nodiscard]] const std::vector<TimeRange>& windows() const { return windows_; }

  void add(const Collective& collective) {
    const auto behind = std::ranges::upper_bound(windows_, collective.enqueued, {}, &TimeRange::begin);
    if (behind == windows_.begin() || !(behind - 1)->contains(collective.enqueued)) return;
    if (collective.bytes < 0) is_known_ = false;
    bytes_[static_cast<std::size_t>(behind - 1 - windows_.begin())] += collective.bytes;
  }

  [[nodiscard]] PredictedAmount beside(std::int64_t predicted) const {
    if (windows_.empty()) return amount(predicted, std::nullopt, "no step of this rank is counted");
    return amount(predicted, is_known_ ? std::optional{median(bytes_)} : std::nullopt,
                  "the sizes of some operations were not recorded");
  }

 private:
  std::vector<TimeRange> windows_;
  std::vector<std::int64_t> bytes_;
  bool is_known_ = true;  ///< of every operation
};

/// Of ranks in `sent`, in one pass over all operations.
void add_operations(const Run& run, std::map<RankId, Sent>& sent) {
  for (const Collective& collective : run.collectives()) {
    const auto own = sent.find(collective.rank);
    if (own != sent.end() && is_given(run.text(collective.op))) own->second.add(collective);
  }
}

}  // namespace

std::optional<double> PredictedAmount::off() const {
  if (!measured_bytes || predicted_bytes == 0) return std::nullopt;
  return static_cast<double>(*measured_bytes - predicted_bytes) / static_cast<double>(predicted_bytes);
}

Section<PredictedSection> find_predicted(const Run& run, const Section<StepsSection>& steps,
                                         const ReportOptions& options) {
  std::map<RankId, Sent> ranks;
  for (const RankId rank : run.ranks()) {
    const std::uint32_t process = run.process_row_of(rank);
    const bool is_predicted =
        number_in(run, process, predicted_held_key) || number_in(run, process, predicted_sent_key);
    if (!is_predicted || !is_asked_for(options, rank)) continue;
    if (!steps) return unavailable(steps.error().why);
    ranks.emplace(rank, Sent{windows_to_count(*steps, rank)});
  }
  if (ranks.empty()) return unavailable(std::string{no_prediction}, Missed::no);
  add_operations(run, ranks);
  PredictedSection section;
  for (const auto& [rank, sent] : ranks) {
    const std::uint32_t process = run.process_row_of(rank);
    PredictedRow row{.rank = rank, .held = {}, .sent = {}};
    if (const auto predicted = number_in(run, process, predicted_held_key))
      row.held = amount(*predicted, held_between_steps(run, process, sent.windows()), "allocations were not recorded");
    if (const auto predicted = number_in(run, process, predicted_sent_key)) row.sent = sent.beside(*predicted);
    section.rows.push_back(std::move(row));
  }
  return section;
}

}  // namespace rankscope::analyzer
