#include "bandwidth/parts.h"

#include <algorithm>
#include <span>

#include <nlohmann/json.hpp>
#include "render/json_number.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_cells = 4'096;

void add_speed(Json& out, const std::string& name, const std::optional<double>& gbps, const std::string& why) {
  out[name] = gbps ? rounded(*gbps, *gbps < 0.1 ? 9 : 4) : Json(nullptr);  // a few bytes are measured, too
  if (!gbps) out["why"][name] = why;
}

Json size_json(const SizeClass& size) {
  Json out{{"from_bytes", size.from_bytes}};
  if (size.below_bytes > 0) out["below_bytes"] = size.below_bytes;
  return out;
}

Json row_json(const BandwidthRow& row) {
  Json out{{"group", row.group},           {"op", row.op},
           {"group_size", row.group_size}, {"size", size_json(row.size)},
           {"count", row.count},           {"measured", row.measured},
           {"setting_up", row.setting_up}, {"too_short", row.too_short}};
  add_speed(out, "algbw_gbps", row.algbw_gbps, row.why_none);
  add_speed(out, "busbw_gbps", row.busbw_gbps, row.why_none);
  add_speed(out, "busbw_with_waiting_gbps", row.busbw_with_waiting_gbps, row.why_none);
  return out;
}

Json cell_json(const TrafficCell& cell) {
  Json out{{"from", cell.from.value},
           {"to", cell.to.value},
           {"count", cell.count},
           {"bytes", cell.bytes},
           {"without_bytes", cell.without_bytes}};
  add_speed(out, "gbps", cell.gbps, "no matched operation was long enough to measure");
  return out;
}

Json slow_json(const SlowPath& path) {
  Json out{{"kind", name_of(path.kind)}};
  if (!path.name.empty()) out["group"] = path.name;
  out["op"] = path.op;
  out["ranks"] = Json::array();
  for (const RankId rank : path.ranks) out["ranks"].push_back(rank.value);
  out["size"] = size_json(path.size);
  out["ratio"] = rounded(path.ratio, 4);
  out["gbps"] = rounded(path.gbps, 4);
  out["usual_gbps"] = rounded(path.usual_gbps, 4);
  out["compared_with"] = path.compared;
  if (path.since_step) out["since_step"] = *path.since_step;
  out["cost_ns"] = path.cost_ns;
  out["share"] = rounded(path.share, 6);
  return out;
}

}  // namespace

nlohmann::ordered_json bandwidth_json(const BandwidthSection& section) {
  Json out;
  out["operations"] = Json::array();
  for (const BandwidthRow& row : section.rows) out["operations"].push_back(row_json(row));
  out["traffic"] = Json::array();
  const std::size_t shown = std::min(section.traffic.size(), most_cells);
  for (const TrafficCell& cell : std::span{section.traffic}.first(shown)) out["traffic"].push_back(cell_json(cell));
  if (shown < section.traffic.size()) out["traffic_left_out"] = section.traffic.size() - shown;
  out["ranks"] = Json::array();
  for (const TrafficMargin& margin : section.margins)
    out["ranks"].push_back(Json{{"rank", margin.rank.value},
                                {"sent_bytes", margin.sent_bytes},
                                {"received_bytes", margin.received_bytes},
                                {"collective_bytes", margin.collective_bytes}});
  out["slow"] = Json::array();
  for (const SlowPath& path : section.slow) out["slow"].push_back(slow_json(path));
  return out;
}

}  // namespace rankscope::analyzer
