#include "predicted/tables.h"

#include <algorithm>
#include <cmath>

#include "rankscope/core/format.h"
#include "render/json_number.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

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

void put_amount(Json& out, const char* name, const std::optional<PredictedAmount>& amount) {
  if (!amount) {
    put(out, name, std::optional<Json>{}, "not predicted");
    return;
  }
  Json json{{"predicted_bytes", amount->predicted_bytes}};
  put(json, "measured_bytes", amount->measured_bytes, amount->why_not_measured);
  put(json, "off", rounded(amount->off(), 6), amount->measured_bytes ? "0 is predicted" : amount->why_not_measured);
  out[name] = std::move(json);
}

}  // namespace

std::vector<NotedTable> predicted_tables(const Report& report, std::size_t most) {
  if (!report.predicted) return {};
  std::vector<PredictedRow> rows = report.predicted->rows;
  std::ranges::stable_sort(rows, std::ranges::greater{}, distance);
  NotedTable noted{
      "Predicted and measured", "of each rank",
      Table{{{"rank"}, {"held between steps"}, {"measured"}, {"off"}, {"sent in a step"}, {"measured"}, {"off"}}, {}},
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
      "Predicted by the trainer's formulas (rankscope train --explain). Held: parameters, buffers and the optimizer's "
      "state; gradients and activations are gone between steps. Sent: what a rank gives to others, in the median "
      "step.");
  return {std::move(noted)};
}

Json predicted_json(const PredictedSection& section) {
  Json out;
  out["ranks"] = Json::array();
  for (const PredictedRow& row : section.rows) {
    Json json{{"rank", row.rank.value}};
    put_amount(json, "held", row.held);
    put_amount(json, "sent", row.sent);
    out["ranks"].push_back(std::move(json));
  }
  return out;
}

}  // namespace rankscope::analyzer
