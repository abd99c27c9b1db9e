#include "critical_path/parts.h"

#include <algorithm>
#include <span>
#include <string>

#include <nlohmann/json.hpp>
#include "render/json_number.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t least_operations = 100;  // of a list that --top may make longer

Json sums_json(const PathSums& sums) {
  Json out;
  for (std::size_t i = 0; i < path_class_count; ++i) out[std::string{name_of(static_cast<PathClass>(i))}] = sums[i];
  return out;
}

Json shares_json(const PathSums& sums, std::int64_t length_ns) {
  Json out;
  for (std::size_t i = 0; i < path_class_count; ++i)
    out[std::string{name_of(static_cast<PathClass>(i))}] =
        length_ns > 0 ? rounded(static_cast<double>(sums[i]) / static_cast<double>(length_ns), 9) : Json(nullptr);
  return out;
}

}  // namespace

nlohmann::ordered_json critical_path_json(const CriticalPathSection& path, const ReportOptions& options) {
  Json out{{"method", "measured"}, {"length_ns", path.length_ns}};
  out["shares"] = shares_json(path.sums_ns, path.length_ns);
  out["parts_ns"] = sums_json(path.sums_ns);
  out["ranks"] = Json::object();
  for (const PathOfRank& rank : path.ranks)
    out["ranks"][rank.rank.is_set() ? std::to_string(rank.rank.value) : "none"] = rank.ns;
  out["operations"] = Json::array();
  const std::size_t shown = std::min(path.operations.size(), std::max(least_operations, options.top));
  for (const PathOperation& operation : std::span{path.operations}.first(shown))
    out["operations"].push_back(Json{{"name", operation.name},
                                     {"kind", name_of(operation.kind)},
                                     {"ns", operation.ns},
                                     {"imbalance_ns", operation.imbalance_ns}});
  out["operations_left_out"] = path.operations.size() - shown;
  out["near_critical"] = rounded(path.near_critical, 6);
  out["incomplete"] = path.incomplete();
  out["clamped_ns"] = path.clamped_ns;
  out["steps"] = Json::array();
  for (const PathStep& step : path.steps) {
    Json row{{"length_ns", step.length_ns}, {"parts_ns", sums_json(step.sums_ns)}};
    if (!path.whole_recording) row["index"] = step.index;
    out["steps"].push_back(std::move(row));
  }
  return out;
}

}  // namespace rankscope::analyzer
