#include "analyses/predicted.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "analyses/asked_for.h"
#include "analyses/memory_series.h"
#include "analyses/statistics.h"
#include "analyses/steps.h"

namespace rankscope::analyzer {
namespace {

std::optional<std::int64_t> number_in(const Run& run, std::uint32_t process, std::string_view key) {
  const std::string_view text = run.metadata(run.processes()[process], key);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
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
    for (const TimeRange& window : windows) {
      std::optional<double> last;
      for (const CounterSample& sample : run.samples_of(track))
        if (window.contains(sample.time)) last = sample.value;
      if (last && *last >= 0 && *last <= static_cast<double>(largest_memory)) held.push_back(std::llround(*last));
    }
  }
  return held.empty() ? std::nullopt : std::optional{median(held)};
}

// What arrives is what another rank gave; a barrier carries nothing.
bool is_given(std::string_view op) { return op != "recv" && op != "barrier"; }

/// Sums by window; nothing where the size of an operation is not known.
std::optional<std::int64_t> sent_in_a_step(const Run& run, RankId rank, const std::vector<TimeRange>& windows) {
  std::vector<std::int64_t> sent(windows.size(), 0);
  for (const Collective& collective : run.collectives()) {
    if (collective.rank != rank || !is_given(run.text(collective.op))) continue;
    const auto behind = std::ranges::upper_bound(windows, collective.enqueued, {}, &TimeRange::begin);
    if (behind == windows.begin() || !(behind - 1)->contains(collective.enqueued)) continue;
    if (collective.bytes < 0) return std::nullopt;
    sent[static_cast<std::size_t>(behind - 1 - windows.begin())] += collective.bytes;
  }
  return median(sent);
}

PredictedAmount amount(std::int64_t predicted, std::optional<std::int64_t> measured, const char* why) {
  return {.predicted_bytes = predicted, .measured_bytes = measured, .why_not_measured = measured ? "" : why};
}

}  // namespace

std::optional<double> PredictedAmount::off() const {
  if (!measured_bytes || predicted_bytes == 0) return std::nullopt;
  return static_cast<double>(*measured_bytes - predicted_bytes) / static_cast<double>(predicted_bytes);
}

Section<PredictedSection> find_predicted(const Run& run, const Section<StepsSection>& steps,
                                         const ReportOptions& options) {
  PredictedSection section;
  for (const RankId rank : run.ranks()) {
    if (!is_asked_for(options, rank)) continue;
    const std::uint32_t process = run.process_row_of(rank);
    const auto held = number_in(run, process, predicted_held_key);
    const auto sent = number_in(run, process, predicted_sent_key);
    if (!held && !sent) continue;
    if (!steps) return unavailable(steps.error().why);
    const std::vector<TimeRange> windows = windows_to_count(*steps, rank);
    PredictedRow row{.rank = rank, .held = {}, .sent = {}};
    if (held) row.held = amount(*held, held_between_steps(run, process, windows), "allocations were not recorded");
    if (sent) {
      row.sent = amount(*sent, windows.empty() ? std::nullopt : sent_in_a_step(run, rank, windows),
                        windows.empty() ? "no step of this rank is counted" : "sizes were not recorded");
    }
    section.rows.push_back(std::move(row));
  }
  if (section.rows.empty()) return unavailable(std::string{no_prediction});
  return section;
}

}  // namespace rankscope::analyzer
