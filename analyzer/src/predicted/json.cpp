#include "predicted/parts.h"

#include <nlohmann/json.hpp>

#include "render/json_number.h"

namespace rankscope::analyzer {

namespace {

using Json = nlohmann::ordered_json;

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
