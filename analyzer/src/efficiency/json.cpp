#include <nlohmann/json.hpp>
#include "efficiency/parts.h"
#include "render/json_parts.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

/// Not rounded: the factors multiply to the product in the JSON, too.
void add_factors(Json& out, const EfficiencyFactors& factors) {
  if (!factors.known()) {
    for (const char* const name : {"parallel", "load_balance", "communication", "orchestration"}) {
      out[name] = nullptr;
      out["why"][name] = "nothing was computed";
    }
    return;
  }
  out["parallel"] = factors.parallel();
  out["load_balance"] = factors.load_balance();
  out["communication"] = factors.communication();
  out["orchestration"] = factors.orchestration();
}

void add_ratio(Json& out, Json& why, const std::string& name, const Ratio& ratio) {
  out[name] = ratio.value ? Json(*ratio.value) : Json(nullptr);
  if (!ratio.value) why[name] = ratio.why;
}

Json groups_json(const Grouping& grouping) {
  Json out = Json::array();
  for (const EfficiencyGroup& group : grouping.groups) {
    Json one{{"name", group.name}, {"ranks", ranks_json(group.ranks)}};
    add_factors(one, group.factors);
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

nlohmann::ordered_json efficiency_json(const EfficiencySection& section) {
  Json out;
  Json why = Json::object();
  add_factors(out, section.run);
  add_ratio(out, why, "serialization", section.serialization);
  add_ratio(out, why, "transfer", section.transfer);
  add_ratio(out, why, "between_classes", section.classes.between);
  add_ratio(out, why, "inside_classes", section.classes.inside);
  add_ratio(out, why, "between_hosts", section.hosts.between);
  add_ratio(out, why, "inside_hosts", section.hosts.inside);
  out["most_compute"] = Json{{"rank", section.run.most_computing.value}, {"ns", section.run.most_compute_ns}};
  out["most_active"] = Json{{"rank", section.run.most_active.value}, {"ns", section.run.most_active_ns}};
  out["longest"] = Json{{"rank", section.run.longest.value}, {"ns", section.run.longest_ns}};
  out["ranks"] = section.run.ranks;
  if (!section.left_out.empty()) out["left_out"] = ranks_json(section.left_out);
  Json& ledger = out["ledger"];
  for (std::size_t i = 0; i < ledger_part_count; ++i)
    ledger[std::string{name_of(static_cast<LedgerPart>(i))}] = section.ledger[i];
  out["ledger_ns"] = section.whole_ns;
  out["steps"] = Json::array();
  for (const StepEfficiency& step : section.steps) {
    Json one{{"index", step.step}};
    add_factors(one, step.factors);
    out["steps"].push_back(std::move(one));
  }
  out["classes"] = groups_json(section.classes);
  if (!section.classes.caveat.empty()) out["classes_caveat"] = section.classes.caveat;
  out["hosts"] = groups_json(section.hosts);
  if (!why.empty()) out["why"] = std::move(why);
  return out;
}

}  // namespace rankscope::analyzer
