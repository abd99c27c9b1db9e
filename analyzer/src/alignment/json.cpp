#include "alignment/parts.h"

#include <nlohmann/json.hpp>
#include "render/json_number.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

Json host_json(const ClockRow& clock, const ClocksSection& section) {
  Json out;
  out["name"] = clock.name;
  out["ranks"] = Json::array();
  for (const RankId rank : clock.ranks) out["ranks"].push_back(rank.value);
  out["aligned_to"] = clock.aligned && !section.assumed_shared ? Json(clock.reference) : Json(nullptr);
  out["ahead_ns"] = clock.aligned ? rounded(clock.ahead_ns, 1) : Json(nullptr);
  out["drift_ppm"] = clock.aligned && clock.drift_known ? rounded(clock.drift_ppm, 4) : Json(nullptr);
  out["error_ns"] = clock.aligned ? Json(clock.error_ns) : Json(nullptr);
  out["noise_ns"] = clock.aligned ? Json(clock.noise_ns) : Json(nullptr);
  out["operations"] = clock.operations;
  if (section.assumed_shared)
    out["why"] = "one shared clock is assumed: no measured offset was applied";
  else if (!clock.why_apart.empty())
    out["why"] = clock.why_apart;
  if (!clock.doubt.empty()) out["doubt"] = clock.doubt;
  // Pairs of run time and how much later than on the others the operation ended.
  out["residuals"] = Json::array();
  for (const ClockResidual& point : clock.residuals) out["residuals"].push_back({point.at_ns, point.late_ns});
  return out;
}

}  // namespace

void add_clocks(Json& clock, const ClocksSection& section) {
  if (section.clocks.size() > 1) {
    clock["recorded_method"] = section.recorded_method;
    clock["exit_order_ns"] = section.allowance_ns;
    clock["hosts"] = Json::array();
    for (const ClockRow& row : section.clocks) clock["hosts"].push_back(host_json(row, section));
  }
  if (!section.notes.empty()) clock["notes"] = section.notes;
}

}  // namespace rankscope::analyzer
