#include <algorithm>

#include "blame/parts.h"
#include "math/statistics.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/words.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

// metrics.md 10.5
constexpr double nearly_all_waits = 0.8;
constexpr double least_of_time = 0.02;
constexpr double most_by_luck = 0.01;  // over the number of ranks

}  // namespace

/// The longest wait for the rank is left out: start-up makes everybody wait for somebody.
void judge_waiting_without_steps(const RuleContext& context, std::vector<Finding>& findings) {
  const Report& report = context.report;
  if (report.steps || !report.blame || report.blame->rows.empty() || report.blame->window_ns <= 0) return;
  const BlameSection& blame = *report.blame;
  const BlameRow& row = blame.rows.front();
  std::int64_t operations = 0;
  for (const BlameRow& one : blame.rows) operations += one.times_last;
  const auto ranks = static_cast<double>(report.ranks.size());
  if (binomial_tail(row.times_last, operations, 1 / ranks) >= most_by_luck / ranks) return;
  const auto known = static_cast<double>(blame.total_ns - blame.unknown_ns - row.longest_ns);
  const auto cost = static_cast<double>(row.cost_ns() - row.longest_ns);
  if (cost < nearly_all_waits * known || cost < least_of_time * static_cast<double>(blame.window_ns)) return;
  Finding finding;
  finding.id = "waited_for";
  finding.severity = FindingSeverity::minor;
  finding.rank = row.rank;
  finding.title = format("the other ranks wait for rank {}: {} of all waiting", row.rank.value,
                         percent_text(static_cast<double>(row.cost_ns()) / static_cast<double>(blame.total_ns)));
  finding.evidence =
      format("it was the last in {} of {} operations; {} of waiting in all; meanwhile its time goes into {}",
             row.times_last, operations, duration_text(row.cost_ns()), words_of(row.largest_part()));
  finding.advice = "Mark the steps and record again: then the report says since when, and what fixing it saves.";
  finding.why_no_gain = "without steps it is not known what a fix saves";
  findings.push_back(std::move(finding));
}

}  // namespace rankscope::analyzer
