#include "pipeline/parts.h"

#include <string>

#include <nlohmann/json.hpp>
#include "render/json_parts.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

void add_ratio(Json& out, const char* name, const Ratio& ratio) {
  out[name] = ratio.value ? rounded(*ratio.value, 6) : Json(nullptr);
  if (!ratio.value) out["why"][name] = ratio.why;
}

Json above_json(const AboveTheory& above) {
  return {{"longer_work_ns", above.longer_work_ns}, {"transfer_ns", above.transfer_ns}, {"host_ns", above.host_ns}};
}

Json place_json(const PipelinePlace& place, bool with_theory) {
  Json out{{"stages", place.stages},
           {"ranks", ranks_json(place.ranks)},
           {"forward_ns", place.forward_ns},
           {"backward_ns", place.backward_ns},
           {"bubble", rounded(place.bubble, 6)}};
  if (with_theory) out["above_theory"] = above_json(place.above);
  return out;
}

void add_parts(Json& out, const PipelineSection& section) {
  if (!section.parts) {
    out["parts"] = nullptr;
    out["why"]["parts"] = section.why_no_parts;
    return;
  }
  const PipelineParts& parts = *section.parts;
  out["parts"] = {{"length_ns", parts.length_ns},
                  {"work_ns", parts.work_ns},
                  {"bubble_ns", parts.bubble_ns},
                  {"imbalance_ns", parts.imbalance_ns},
                  {"excess_ns", parts.excess_ns}};
  if (!parts.why_no_imbalance.empty()) out["why"]["imbalance_ns"] = parts.why_no_imbalance;
  if (section.owner)
    out["owner"] = {{"rank", section.owner->rank.value},
                    {"place", section.owner->place},
                    {"above_theory", above_json(section.owner->above)}};
}

Json drawn_json(const DrawnPipeline& drawn) {
  Json out{{"step", drawn.step}, {"length_ns", drawn.length_ns}, {"ranks", ranks_json(drawn.ranks)}};
  out["actions"] = Json::array();
  for (const DrawnAction& drawn_action : drawn.actions) {
    const PipelineAction& action = drawn_action.action;
    out["actions"].push_back({{"place", drawn_action.place},
                              {"part", std::string(1, letter_of(action.part))},
                              {"chunk", action.chunk},
                              {"micro_batch", action.micro_batch},
                              {"begin_ns", drawn_action.begin_ns},
                              {"end_ns", drawn_action.end_ns}});
  }
  return out;
}

}  // namespace

Json pipeline_json(const PipelineSection& section) {
  Json out;
  out["schedule"] = section.schedule ? std::string{name_of(*section.schedule)} : "unknown";
  if (!section.schedule) out["why"]["schedule"] = section.why_unknown;
  add_ratio(out, "bubble_measured", section.bubble_measured);
  add_ratio(out, "bubble_theory", section.bubble_theory);
  out["places_in_a_pipeline"] = section.shape.ranks;
  out["micro_batches"] = section.shape.micro_batches;
  out["chunks"] = section.shape.chunks;
  out["pipelines"] = section.pipelines;
  out["steps"] = section.steps;
  if (!section.note.empty()) out["note"] = section.note;
  out["forward_ns"] = section.forward_ns;
  out["backward_ns"] = section.backward_ns;
  if (section.input_ns > 0 || section.weight_ns > 0) {
    out["backward_input_ns"] = section.input_ns;
    out["backward_weight_ns"] = section.weight_ns;
  }
  add_parts(out, section);
  out["places"] = Json::array();
  for (const PipelinePlace& place : section.places)
    out["places"].push_back(place_json(place, section.parts.has_value()));
  out["ranks"] = Json::array();
  for (const PipelineRank& rank : section.ranks)
    out["ranks"].push_back({{"rank", rank.rank.value}, {"place", rank.place}, {"bubble", rounded(rank.bubble(), 6)}});
  out["drawn"] = section.drawn ? drawn_json(*section.drawn) : Json(nullptr);
  if (!section.drawn) out["why"]["drawn"] = section.why_not_drawn;
  return out;
}

}  // namespace rankscope::analyzer
