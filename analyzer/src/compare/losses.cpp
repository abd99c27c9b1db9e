#include "compare/losses.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "compare/loss_words.h"
#include "compare/lost_steps.h"
#include "hang/absent_ranks.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/numbers.h"
#include "steps/find.h"
#include "steps/parts.h"

namespace rankscope::analyzer {
namespace {

using Reach = LossReach;

// How the job ended.

constexpr std::string_view vanished_words = "killed, crashed or called _exit";

/// "exited with status 3"; empty if nothing is wrong with it, or its source does not tell.
std::string bad_end(const Process& process) {
  switch (process.ending) {
    case Ending::vanished:
      return std::string{vanished_words};
    case Ending::exited:
      return process.exit_status == 0 ? std::string{} : format("exited with status {}", process.exit_status);
    case Ending::unknown:
      break;
  }
  return {};
}

/// True for what made steps: other processes that inherited a rank, such as loader workers, are often killed at the
/// end.
bool made_steps(const Run& run, std::uint32_t row) {
  const auto has_steps = [&](const Lane& lane) {
    return lane.process == row &&
           std::ranges::find(run.spans_of(lane), SpanKind::step, &Span::kind) != run.spans_of(lane).end();
  };
  return std::ranges::any_of(run.lanes(), has_steps);
}

void add_ends_of_ranks(const Run& run, std::vector<Loss>& losses) {
  std::map<std::string, std::vector<RankId>> ranks_by_end;
  for (std::uint32_t row = 0; row < run.processes().size(); ++row) {
    const Process& process = run.processes()[row];
    const std::string end = process.rank.is_set() ? bad_end(process) : std::string{};
    if (end.empty() || (row != run.process_row_of(process.rank) && !made_steps(run, row))) continue;
    std::vector<RankId>& ranks = ranks_by_end[end];
    if (ranks.empty() || ranks.back() != process.rank) ranks.push_back(process.rank);
  }
  for (const auto& [end, ranks] : ranks_by_end) {
    const std::string_view verb = end != vanished_words ? "" : ranks.size() == 1 ? "was " : "were ";
    losses.push_back({"ended_badly", format("{} {}{}", ranks_text(ranks), verb, end), Reach::compared});
  }
}

/// Of the run, not of a process.
std::string_view fact(const Run& run, std::string_view key) {
  const auto found = std::ranges::find(run.info().metadata, key, &std::pair<std::string, std::string>::first);
  return found == run.info().metadata.end() ? std::string_view{} : std::string_view{found->second};
}

std::string status_text(std::int64_t status) {
  constexpr std::int64_t of_signals = 128;  // as a shell counts them
  constexpr std::int64_t last_signal = 64;
  const bool by_signal = status > of_signals && status <= of_signals + last_signal;
  return by_signal ? format("{} (signal {})", status, status - of_signals) : format("{}", status);
}

void add_end_of_job(const Run& run, std::vector<Loss>& losses) {
  if (const std::string_view signal = fact(run, "stopped_by"); signal.starts_with("SIG"))
    losses.push_back({"ended_badly", format("the job was stopped by {}", signal), Reach::compared});
  const auto status = number_from<std::int64_t>(fact(run, "exit_status"));
  if (status && *status != 0)
    losses.push_back(
        {"ended_badly", format("the command ended with status {}", status_text(*status)), Reach::compared});
  if (const std::string_view running = fact(run, "still_running"); !running.empty())
    losses.push_back({"still_running", format("the job is still running ({})", running), Reach::compared});
}

// What is not there.

void add_absent_ranks(const Run& run, const ReportOptions& options, std::vector<Loss>& losses) {
  const AbsentRanks absent = absent_ranks(run);
  if (absent.count == 0) return;
  losses.push_back({"ranks_missing",
                    format("{} (of {}) {} not recorded", ranks_text(absent.ranges), run.info().world_size,
                           absent.count == 1 ? "was" : "were"),
                    options.ranks.empty() ? Reach::compared : Reach::elsewhere});
}

/// Tells which losses lie outside the steps and ranks asked for. What was lost at an unknown time may lie inside.
class AskedForParts {
 public:
  AskedForParts(const Report& report, const ReportOptions& options) : report_(report), options_(options) {}

  [[nodiscard]] Reach reach_of(const QualityPlace& place) const {
    if (!place.rank.is_set()) return Reach::compared;
    if (!is_asked_for(options_, place.rank)) return Reach::elsewhere;
    if (!options_.steps || !place.time || !report_.steps) return Reach::compared;
    return touches_steps(place.rank, *place.time) ? Reach::compared : Reach::elsewhere;
  }

 private:
  /// The first and the last step asked for end the time that is compared only if they were recorded.
  [[nodiscard]] bool touches_steps(RankId rank, TimeRange lost) const {
    const auto windows = windows_of(*report_.steps, rank);
    if (windows.empty()) return true;
    const bool from = windows.front().index == options_.steps->first;
    const bool to = windows.back().index == options_.steps->second;
    const bool before = from && lost.end <= windows.front().window.begin;
    const bool after = to && lost.begin >= windows.back().window.end;
    return !before && !after;
  }

  const Report& report_;
  const ReportOptions& options_;
};

std::uint64_t value_of(const Report& report, Counter counter) {
  const auto row = std::ranges::find(report.data_quality, counter, &QualityRow::counter);
  return row == report.data_quality.end() ? 0 : row->value;
}

/// Ranks and spools that say more of themselves have a sentence of their own.
bool is_said_otherwise(const Run& run, const Report& report, Counter counter) {
  if (counter == Counter::ranks_missing) return absent_ranks(run).count > 0;
  return counter == Counter::not_gathered && still_runs(report);
}

void add_counter(const Run& run, Counter counter, std::uint64_t all, const AskedForParts& asked_for,
                 std::vector<Loss>& losses) {
  std::map<Reach, LostAmount> lost;
  std::uint64_t rest = all;
  for (const QualityPlace& place : run.info().places) {
    if (place.counter != counter || place.amount > rest) continue;
    rest -= place.amount;
    LostAmount& part = lost[asked_for.reach_of(place)];
    part.amount += place.amount;
    if (place.rank.is_set()) part.ranks.push_back(place.rank);
  }
  if (rest > 0) losses.push_back({std::string{info_of(counter).name}, loss_text(counter, {rest}), Reach::compared});
  for (auto& [reach, part] : lost) {
    std::ranges::sort(part.ranks);
    const auto again = std::ranges::unique(part.ranks);
    part.ranks.erase(again.begin(), again.end());
    losses.push_back({std::string{info_of(counter).name}, loss_text(counter, part), reach});
  }
}

void add_counters(const Run& run, const Report& report, const ReportOptions& options, std::vector<Loss>& losses) {
  const AskedForParts asked_for{report, options};
  for (const Counter counter : counters_of_losses()) {
    const std::uint64_t all = value_of(report, counter);
    if (all > 0 && !is_said_otherwise(run, report, counter)) add_counter(run, counter, all, asked_for, losses);
  }
}

}  // namespace

std::vector<Loss> losses_of(const Run& run, const Report& report, const ReportOptions& options) {
  std::vector<Loss> losses;
  add_ends_of_ranks(run, losses);
  add_end_of_job(run, losses);
  add_absent_ranks(run, options, losses);
  add_counters(run, report, options, losses);
  add_lost_steps(run, report, options, losses);
  return losses;
}

std::string not_intact(const ComparedRun& run) {
  constexpr std::size_t most = 3;
  std::vector<std::string_view> reasons;
  for (const Loss& loss : run.lost)
    if (loss.reach == Reach::compared) reasons.push_back(loss.what);
  if (reasons.empty()) return {};
  std::string text = format("{} is not intact: ", run.name.label);
  for (std::size_t i = 0; i < std::min(most, reasons.size()); ++i)
    text += format("{}{}", i == 0 ? "" : "; ", reasons[i]);
  if (reasons.size() > most) text += format("; and {}", counted(reasons.size() - most, "more loss"));
  return text;
}

std::string not_intact(const ComparedRun& a, const ComparedRun& b) {
  const std::string of_a = not_intact(a);
  const std::string of_b = not_intact(b);
  return of_a.empty() || of_b.empty() ? of_a + of_b : of_a + "; " + of_b;
}

}  // namespace rankscope::analyzer
