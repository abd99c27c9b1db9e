#include "copies/parts.h"

#include <algorithm>
#include <span>

#include <nlohmann/json.hpp>
#include "render/json_number.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t fewest_calls = 100;

Json copy_json(const CopyRow& row) {
  Json out;
  out["kind"] = row.kind;
  if (!row.memory.empty()) out["memory"] = row.memory;
  out["count"] = row.count;
  out["sum_ns"] = row.sum_ns;
  out["bytes"] = row.bytes;
  if (row.too_large > 0) out["too_large"] = row.too_large;
  out["unmeasured"] = row.unmeasured;
  put(out, "gbps", rounded(row.gbps, 4), "no copy was recorded with both its duration and its bytes");
  return out;
}

/// The rows up to the limit, and what the others add up to.
void add_calls(Json& out, const std::string& name, const std::vector<HostCallRow>& rows, std::size_t limit) {
  const std::size_t shown = std::min(limit, rows.size());
  Json& list = out[name] = Json::array();
  for (const HostCallRow& row : std::span{rows}.first(shown)) {
    Json& one = list.emplace_back(Json{{"call", row.call}});
    if (!row.op.empty()) one["op"] = row.op;
    if (!row.range.empty()) one["range"] = row.range;
    one["count"] = row.count;
    one["host_ns"] = row.ns;
  }
  std::int64_t count = 0;
  std::int64_t ns = 0;
  for (const HostCallRow& row : std::span{rows}.subspan(shown)) {
    count += row.count;
    ns += row.ns;
  }
  out[name + "_rest"] = {{"keys", rows.size() - shown}, {"count", count}, {"host_ns", ns}};
}

}  // namespace

Json copies_json(const CopiesSection& section, const ReportOptions& options) {
  const std::size_t limit = std::max(fewest_calls, options.top);
  Json out;
  out["ranks"] = section.ranks;
  out["rank_steps"] = section.rank_steps;
  out["kinds"] = Json::array();
  for (const CopyRow& row : section.copies) out["kinds"].push_back(copy_json(row));
  add_calls(out, "blocking_copies", section.blocking_copies, limit);
  add_calls(out, "synchronizations", section.synchronizations, limit);
  add_calls(out, "allocations", section.allocations, limit);
  return out;
}

}  // namespace rankscope::analyzer
