#include "what_if/parts.h"

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "render/json_parts.h"

namespace rankscope::analyzer {

namespace {

using Json = nlohmann::ordered_json;

/// Each alone as measured and all else ideal (metrics.md 12.6).
void add_slowdowns(const WhatIfSection& section, Json& out, Why& why) {
  const std::array keys{"rank_slowdowns", "kind_slowdowns", "operation_slowdowns", "host_slowdowns"};
  for (const char* key : keys)
    out[key] = section.why_no_ideal.empty() ? Json::object() : why.null(key, section.why_no_ideal);
  if (!section.why_no_ideal.empty()) return;
  for (const RankReplay& rank : section.ranks)
    out["rank_slowdowns"][std::to_string(rank.rank.value)] = rounded(rank.slowdown, 6);
  for (const KindSlowdown& kind : section.kinds) out["kind_slowdowns"][kind.kind] = rounded(kind.slowdown, 6);
  for (const auto& [key, list] :
       {std::pair{"operation_slowdowns", &section.operations}, {"host_slowdowns", &section.hosts}})
    for (const NamedSlowdown& one : *list) out[key][one.name] = rounded(one.slowdown, 6);
}

/// Each rank as fast as its peers, or why that is not known (metrics.md 12.7).
void add_ranks(const WhatIfSection& section, Json& out) {
  out["without_rank"] = Json::object();
  Json unknown = Json::object();
  for (const RankReplay& rank : section.ranks) {
    const std::string key = std::to_string(rank.rank.value);
    if (rank.without_rank_ns)
      out["without_rank"][key] = *rank.without_rank_ns;
    else
      unknown[key] = rank.why_unknown;
  }
  if (!unknown.empty()) out["without_rank_unknown"] = std::move(unknown);
}

std::string_view why_no_few_ranks(const WhatIfSection& section) {
  if (!section.why_no_ideal.empty()) return section.why_no_ideal;
  return section.ranks.empty() ? "there is only one rank" : "imbalance costs less than 3 %";
}

}  // namespace

nlohmann::ordered_json what_if_json(const WhatIfSection& section) {
  Why why;
  Json out;
  out["slowdown"] = section.slowdown ? rounded(*section.slowdown, 6) : why.null("slowdown", section.why_no_ideal);
  out["replay_error"] = rounded(section.replay_error, 6);
  out["steps"] = section.steps;
  out["measured_ns"] = section.measured_ns;
  out["replayed_ns"] = section.replayed_ns;
  out["ideal_ns"] = section.ideal_ns ? Json(*section.ideal_ns) : why.null("ideal_ns", section.why_no_ideal);
  out["without_host_delay"] = section.without_host_delay_ns;
  out["ideal_network"] =
      section.ideal_network_ns ? Json(*section.ideal_network_ns) : why.null("ideal_network", transfer_unknown);
  out["without_data"] =
      section.without_data_ns ? Json(*section.without_data_ns) : why.null("without_data", partners_are_unknown);
  add_ranks(section, out);
  out["rank_slowdowns"] = nullptr;
  out["ranks_left_out"] = section.ranks_left_out;
  add_slowdowns(section, out, why);
  out["few_ranks"] =
      section.few_ranks ? rounded(*section.few_ranks, 6) : why.null("few_ranks", why_no_few_ranks(section));
  if (section.few_ranks_added) out["few_ranks_added"] = rounded(*section.few_ranks_added, 6);
  if (section.last_stage) out["last_stage"] = rounded(*section.last_stage, 6);
  if (section.why_no_ideal.empty()) {
    out["step_slowdowns"] = Json::array();
    for (const double slowdown : section.step_slowdowns) out["step_slowdowns"].push_back(rounded(slowdown, 6));
  } else {
    out["step_slowdowns"] = why.null("step_slowdowns", section.why_no_ideal);
  }
  if (!section.doubts.empty()) out["doubts"] = section.doubts;
  std::move(why).attach(out);
  return out;
}

}  // namespace rankscope::analyzer
