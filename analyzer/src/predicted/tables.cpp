#include "predicted/parts.h"

#include <algorithm>
#include <cmath>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

std::string bytes(const std::optional<PredictedAmount>& amount) {
  return amount ? bytes_text(amount->predicted_bytes) : "–";
}
std::string measured(const std::optional<PredictedAmount>& amount) {
  return amount && amount->measured_bytes ? bytes_text(*amount->measured_bytes) : "–";
}
std::string off(const std::optional<PredictedAmount>& amount) {
  const auto share = amount ? amount->off() : std::nullopt;
  if (!share) return "–";
  return *share == 0 ? "0" : format("{:+.2f} %", 100 * *share);
}

double distance(const PredictedRow& row) {
  double most = 0;
  for (const auto* amount : {&row.held, &row.sent})
    if (*amount) most = std::max(most, std::abs((*amount)->off().value_or(0)));
  return most;
}

}  // namespace

std::vector<NotedTable> predicted_tables(const Report& report, std::size_t most) {
  if (!report.predicted) return {};
  std::vector<PredictedRow> rows = report.predicted->rows;
  std::ranges::stable_sort(rows, std::ranges::greater{}, distance);
  NotedTable noted{"Predicted and measured", "for each rank",
                   Table{{{"rank"},
                          {"allocated between steps"},
                          {"measured"},
                          {"difference"},
                          {"sent in a step"},
                          {"measured"},
                          {"difference"}},
                         {}},
                   left_out(rows.size(), most)};
  rows.resize(rows.size() - noted.left_out.rows);
  for (const PredictedRow& row : rows)
    noted.table.rows.push_back({{format("{}", row.rank.value)},
                                {bytes(row.held)},
                                {measured(row.held)},
                                {off(row.held)},
                                {bytes(row.sent)},
                                {measured(row.sent)},
                                {off(row.sent)}});
  noted.notes.emplace_back(
      "Predicted by the trainer's formulas (rankscope train --explain). Allocated between steps: parameters, buffers "
      "and the optimizer's state; gradients and activations are freed. Sent: the bytes that a rank sends to others in "
      "the median step.");
  return {std::move(noted)};
}

}  // namespace rankscope::analyzer
