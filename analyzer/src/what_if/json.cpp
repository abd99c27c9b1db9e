#include "what_if/parts.h"

#include <nlohmann/json.hpp>
#include <string>

#include "render/json_number.h"

namespace rankscope::analyzer {

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

nlohmann::ordered_json what_if_json(const WhatIfSection& section) {
  Json out{{"slowdown", rounded(section.slowdown, 6)},
           {"replay_error", rounded(section.replay_error, 6)},
           {"steps", section.steps},
           {"measured_ns", section.measured_ns},
           {"replayed_ns", section.replayed_ns},
           {"ideal_ns", section.ideal_ns},
           {"without_host_delay", section.without_host_delay_ns},
           {"ideal_network", section.ideal_network_ns ? Json(*section.ideal_network_ns) : Json(nullptr)}};
  if (!section.ideal_network_ns) out["why"]["ideal_network"] = transfer_unknown;
  out["without_rank"] = Json::object();
  out["rank_slowdowns"] = Json::object();
  for (const RankReplay& rank : section.ranks) {
    if (rank.without_rank_ns) out["without_rank"][std::to_string(rank.rank.value)] = *rank.without_rank_ns;
    out["rank_slowdowns"][std::to_string(rank.rank.value)] = rounded(rank.slowdown, 6);
  }
  out["ranks_left_out"] = section.ranks_left_out;
  out["kind_slowdowns"] = Json::object();
  for (const KindSlowdown& kind : section.kinds) out["kind_slowdowns"][kind.kind] = rounded(kind.slowdown, 6);
  for (const auto& [key, list] :
       {std::pair{"operation_slowdowns", &section.operations}, {"host_slowdowns", &section.hosts}}) {
    out[key] = Json::object();
    for (const NamedSlowdown& one : *list) out[key][one.name] = rounded(one.slowdown, 6);
  }
  out["few_ranks"] = section.few_ranks ? rounded(*section.few_ranks, 6) : Json(nullptr);
  if (section.few_ranks_added) out["few_ranks_added"] = rounded(*section.few_ranks_added, 6);
  if (section.last_stage) out["last_stage"] = rounded(*section.last_stage, 6);
  if (!section.few_ranks)
    out["why"]["few_ranks"] = section.ranks.empty() ? "there is one rank" : "unevenness costs less than 3 %";
  out["step_slowdowns"] = Json::array();
  for (const double slowdown : section.step_slowdowns) out["step_slowdowns"].push_back(rounded(slowdown, 6));
  if (!section.doubts.empty()) out["doubts"] = section.doubts;
  return out;
}

}  // namespace rankscope::analyzer
