#include "overlap/parts.h"

#include <nlohmann/json.hpp>
#include "render/json_number.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

Json rank_json(const RankOverlap& rank) {
  Json out{{"rank", rank.rank.value}, {"headroom_ns", rank.headroom_ns ? Json(*rank.headroom_ns) : Json(nullptr)}};
  put(out, "overlap_ratio", rank.overlap);
  put(out, "transfer_overlap_ratio", rank.transfer_overlap);
  if (!rank.headroom_ns) out["why"]["headroom_ns"] = rank.transfer_overlap.why;
  return out;
}

}  // namespace

nlohmann::ordered_json overlap_json(const OverlapSection& section) {
  Json out;
  out["operations"] = Json::array();
  for (const OverlapRow& row : section.rows)
    out["operations"].push_back(Json{{"group", row.group},
                                     {"op", row.op},
                                     {"count", row.count},
                                     {"comm_ns", row.comm_ns},
                                     {"overlapped_ns", row.overlapped_ns},
                                     {"exposed_ns", row.exposed_ns()}});
  out["ranks"] = Json::array();
  for (const RankOverlap& rank : section.ranks) out["ranks"].push_back(rank_json(rank));
  out["steps"] = Json::array();
  for (const StepOverlap& step : section.steps)
    out["steps"].push_back(
        Json{{"index", step.step}, {"comm_ns", step.comm_ns}, {"overlapped_ns", step.overlapped_ns}});
  out["contended_kernels"] = Json::array();
  for (const ContendedKernel& kernel : section.contended)
    out["contended_kernels"].push_back(Json{{"name", kernel.name},
                                            {"grid", kernel.grid},
                                            {"block", kernel.block},
                                            {"beside", kernel.beside},
                                            {"alone", kernel.alone},
                                            {"median_beside_ns", kernel.median_beside_ns},
                                            {"median_alone_ns", kernel.median_alone_ns},
                                            {"cost_ns", kernel.cost_ns()}});
  if (!section.why_no_contention.empty()) out["why"]["contended_kernels"] = section.why_no_contention;
  return out;
}

}  // namespace rankscope::analyzer
