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

/// What cost most of each rank is left out: at start-up everybody waits for somebody.
void judge_waiting_without_steps(const RuleContext& context, std::vector<Finding>& findings) {
  const Report& report = context.report;
  if (report.steps || !report.blame || report.blame->rows.empty() || report.blame->window_ns <= 0) return;
  const std::vector<BlameRow>& rows = report.blame->rows;
  const BlameRow& row = *std::ranges::max_element(rows, {}, &BlameRow::times_last);
  std::int64_t operations = 0;
  std::int64_t known_ns = 0;
  for (const BlameRow& one : rows) {
    operations += one.times_last;
    known_ns += one.cost_ns() - one.longest_ns;
  }
  const auto ranks = static_cast<double>(report.ranks.size());
  if (binomial_tail(row.times_last, operations, 1 / ranks) >= most_by_luck / ranks) return;
  const auto cost = static_cast<double>(row.cost_ns() - row.longest_ns);
  if (cost < nearly_all_waits * static_cast<double>(known_ns) ||
      cost < least_of_time * static_cast<double>(report.blame->window_ns))
    return;
  Finding finding;
  finding.id = finding_id::waited_for;
  finding.severity = FindingSeverity::minor;
  finding.rank = row.rank;
  finding.title =
      format("the other ranks wait for rank {} in {} of {} operations", row.rank.value, row.times_last, operations);
  finding.evidence = format(
      "the other ranks wait {} for this rank in total; if, for each rank, the operation in which the others waited "
      "longest for it is left out, this rank causes {} of the remaining waiting; the largest part of the waiting for "
      "this rank is charged to the category \"{}\"",
      duration_text(row.cost_ns()), percent_text(cost / static_cast<double>(known_ns)), words_of(row.largest_part()));
  finding.advice =
      "Mark the steps and record again: the report then shows when the waiting began, and what a fix saves.";
  finding.why_no_gain = "without steps, it is not known what a fix saves";
  findings.push_back(std::move(finding));
}

}  // namespace rankscope::analyzer
