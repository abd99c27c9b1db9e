#include "facts/run_facts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "math/statistics.h"
#include "predicted/parts.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/numbers.h"
#include "rankscope/core/recording/manifest.h"
#include "steps/find.h"
#include "steps/sample_windows.h"
#include "words/keys.h"

namespace rankscope::analyzer {
namespace {

/// What was injected is a note for tests, and no analysis reads it; what each rank counts for itself is no fact of the
/// run (DATA QUALITY has the sum); findings name the signal that ended a rank; how a file counts its time is nobody's
/// interest, and a command to export it again is advice.
bool is_hidden(std::string_view key) {
  static constexpr std::array hidden{std::string_view{"injected_faults"},
                                     std::string_view{"pace_overruns"},
                                     std::string_view{"pace_longest_overrun_ns"},
                                     predicted_held_key,  // a section of its own has them
                                     predicted_sent_key,
                                     keys::file_time_offset,
                                     keys::file_time_type,
                                     keys::nsys_export_again,
                                     std::string_view{"stopped_at_unix_ns"},
                                     std::string_view{"hang_seen_at_unix_ns"},
                                     std::string_view{"problem"},  // a finding has these
                                     std::string_view{"problem_ranks"},
                                     std::string_view{"problem_step"},
                                     std::string_view{"last_words"}};
  return key.starts_with(recording::ended_by_prefix) || key.starts_with(recording::end_seen_prefix) ||
         key.starts_with(recording::oom_kills_prefix) || std::ranges::find(hidden, key) != hidden.end();
}

}  // namespace

std::vector<std::pair<std::string, std::string>> facts_of(const Run& run) {
  std::map<std::string, std::pair<std::string, std::size_t>> common;  // value of the first rank, and how many agree
  for (const RankId rank : run.ranks()) {
    for (const auto& [key, value] : run.process_of(rank).metadata) {
      auto& [text, agreeing] = common.try_emplace(std::string{run.text(key)}, run.text(value), 0).first->second;
      if (text == run.text(value)) ++agreeing;
    }
  }
  std::map<std::string, std::string> facts;
  for (const auto& [key, entry] : common) {
    if (entry.second == run.ranks().size()) facts[key] = entry.first;
  }
  for (const auto& [key, value] : run.info().metadata) facts[key] = value;
  std::erase_if(facts, [](const auto& fact) { return is_hidden(fact.first); });
  return {facts.begin(), facts.end()};
}

std::uint64_t pace_overruns_of(const Run& run) {
  std::uint64_t sum = 0;
  for (const RankId rank : run.ranks())
    sum += number_from<std::uint64_t>(run.metadata(run.process_of(rank), "pace_overruns")).value_or(0);
  return sum;
}

std::vector<RankFacts> rank_facts_of(const Run& run, const Section<StepsSection>& steps, const ReportOptions& options) {
  const StepsSection* const asked_for = options.steps && steps ? &*steps : nullptr;
  std::vector<RankFacts> all;
  for (const RankId rank : run.ranks()) {
    const Process& process = run.process_of(rank);
    RankFacts facts;
    facts.rank = rank;
    facts.host = run.text(process.host);
    facts.program = run.text(process.program);
    facts.ending = process.ending;
    facts.exit_status = process.exit_status;
    facts.cpu_percent = cpu_percent_of(run, rank, steps);
    const std::vector<double> rss = counter_values(run, rank, "rss_bytes", asked_for);
    if (!rss.empty()) facts.peak_rss_bytes = std::llround(std::ranges::max(rss));
    all.push_back(std::move(facts));
  }
  return all;
}

}  // namespace rankscope::analyzer
