#include "blame/parts.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_pairs = 4'096;

Json parts_json(const DelayParts& parts) {
  Json out = Json::object();
  for (std::size_t i = 0; i < delay_part_count; ++i)
    if (parts[i] != 0) out[std::string{name_of(static_cast<DelayPart>(i))}] = parts[i];
  return out;
}

Json row_json(const BlameRow& row) {
  return {{"rank", row.rank.value},
          {"cost_ns", row.cost_ns()},
          {"direct_ns", parts_json(row.direct_ns)},
          {"inherited_ns", parts_json(row.inherited_ns)},
          {"waited_ns", row.waited_ns},
          {"marginal_ns", row.marginal_ns}};
}

Json group_json(const BlameSection& section, const BlameGroup& group) {
  Json out{{"group", group.group}, {"op", group.op}, {"count", group.count}, {"ns", group.ns}};
  if (section.with_slack_ns) out["with_slack_ns"] = group.with_slack_ns;
  out["most_awaited"] = group.most_waited_for.is_set() ? Json(group.most_waited_for.value) : Json(nullptr);
  out["most_awaited_ns"] = group.most_waited_for_ns;
  if (!group.most_waited_for.is_set())
    out["why"]["most_awaited"] = "the ranks arrive too close together to determine which one this is";
  return out;
}

}  // namespace

nlohmann::ordered_json blame_json(const BlameSection& section) {
  Json out{{"total_ns", section.total_ns},
           {"unknown_ns", section.unknown_ns},
           {"partial_ns", section.partial_ns},
           {"window_ns", section.window_ns},
           {"method", section.method}};
  out["with_slack_ns"] = section.with_slack_ns ? Json(*section.with_slack_ns) : Json(nullptr);
  if (!section.with_slack_ns) out["why"]["with_slack_ns"] = section.with_slack_ns.error().why;
  out["ranks"] = Json::array();
  for (const BlameRow& row : section.rows) out["ranks"].push_back(row_json(row));
  out["groups"] = Json::array();
  for (const BlameGroup& group : section.groups) out["groups"].push_back(group_json(section, group));
  out["pairs"] = Json::array();
  const std::size_t shown = std::min(section.pairs.size(), most_pairs);
  for (const WaitingPair& pair : std::span{section.pairs}.first(shown))
    out["pairs"].push_back(
        Json{{"waiting", pair.waiting.value}, {"awaited", pair.last_to_arrive.value}, {"ns", pair.ns}});
  std::int64_t rest = 0;
  for (const WaitingPair& pair : std::span{section.pairs}.subspan(shown)) rest += pair.ns;
  out["pairs_rest"] = Json{{"count", section.pairs.size() - shown}, {"ns", rest}};
  out["pairs_unknown_ns"] = section.pairs_unknown_ns;
  return out;
}

}  // namespace rankscope::analyzer
