#include "findings/parts.h"

#include <nlohmann/json.hpp>

#include "render/json_parts.h"

namespace rankscope::analyzer {

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

Json finding_json(const Finding& row) {
  Json out{{"id", row.id},         {"severity", name_of(row.severity)},
           {"title", row.title},   {"evidence", row.evidence},
           {"advice", row.advice}, {"gain_ns_per_step", row.gain_ns_per_step}};
  if (!row.why_no_gain.empty()) {
    Why why;
    out["gain_ns_per_step"] = why.null("gain_ns_per_step", row.why_no_gain);
    std::move(why).attach(out);
  }
  if (row.certainty) out["certainty"] = name_of(*row.certainty);
  if (row.rank) out["rank"] = row.rank->value;
  if (row.step) out["step"] = *row.step;
  return out;
}

}  // namespace rankscope::analyzer
