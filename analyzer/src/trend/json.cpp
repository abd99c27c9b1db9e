#include "trend/parts.h"

#include <nlohmann/json.hpp>
#include <span>

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

Json parts_json(std::span<const GrownPart> ranks) {
  Json list = Json::array();
  for (const GrownPart& part : ranks)
    list.push_back(Json{{"rank", part.rank.value},
                        {"kind", name_of(part.kind)},
                        {"own_before_ns", part.before_ns},
                        {"own_after_ns", part.after_ns}});
  return list;
}

/// "ranks", or null and why.
template <class Row>
Json with_ranks(Json out, const Row& row) {
  out["ranks"] = row.why_no_ranks.empty() ? parts_json(row.ranks) : Json(nullptr);
  if (!row.why_no_ranks.empty()) out["why"]["ranks"] = row.why_no_ranks;
  return out;
}

}  // namespace

nlohmann::ordered_json trend_json(const TrendSection& section) {
  Json out;
  out["changes"] = Json::array();
  for (const StepChange& change : section.changes)
    out["changes"].push_back(with_ranks(Json{{"step", change.step},
                                             {"before_ns", change.before_ns},
                                             {"after_ns", change.after_ns},
                                             {"lasts", change.lasts}},
                                        change));
  out["changes_unavailable"] = section.why_no_changes.empty() ? Json(nullptr) : Json(section.why_no_changes);
  out["odd_steps"] = Json::array();
  for (const OddStep& odd : section.odd_steps)
    out["odd_steps"].push_back(
        with_ranks(Json{{"step", odd.step}, {"wall_ns", odd.wall_ns}, {"excess_ns", odd.excess_ns}}, odd));
  return out;
}

}  // namespace rankscope::analyzer
