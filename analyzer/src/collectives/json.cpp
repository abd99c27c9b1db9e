#include "collectives/parts.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <ranges>

#include <nlohmann/json.hpp>
#include "rankscope/core/model/run.h"
#include "render/json_parts.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

Json group_row_json(const GroupRow& row) {
  Why why;
  Json out;
  out["group"] = row.group;
  out["op"] = row.op;
  out["count"] = row.count;
  out["bytes"] = row.bytes >= 0
                     ? Json(row.bytes)
                     : why.null("bytes", row.bytes_too_large > 0 ? "does not fit in 64 bits" : "not recorded");
  if (row.bytes_too_large > 0) out["bytes_too_large"] = row.bytes_too_large;
  out["wait_ns"] = row.without_wait < row.count ? Json(row.wait_ns) : why.null("wait_ns", row.why_no_wait);
  out["transfer_ns"] =
      row.without_transfer < row.count ? Json(row.transfer_ns) : why.null("transfer_ns", row.why_no_transfer);
  out["busbw_gbps"] = row.busbw_gbps ? rounded(*row.busbw_gbps, 4) : why.null("busbw_gbps", row.why_no_busbw);
  if (!row.method.empty()) out["method"] = row.method;
  std::move(why).attach(out);
  return out;
}

Json instance_json(const Operation& operation, const Run& run) {
  Why why;
  Json out;
  const auto rank = [&](const char* name, RankId id) {
    if (id.is_set()) return Json(id.value);
    return why.null(name, operation.why_no_transfer.empty()
                              ? "the ranks arrive too close together to determine which one this is"
                              : operation.why_no_transfer);
  };
  const auto number = [&](const char* name, std::int64_t value) {
    return value >= 0 ? Json(value) : why.null(name, "");
  };
  out["group"] = run.text(run.groups()[operation.group.index()].name);
  out["op"] = run.text(operation.op);
  out["seq"] = number("seq", operation.sequence);
  out["bytes"] =
      operation.bytes_too_large ? why.null("bytes", "does not fit in 64 bits") : number("bytes", operation.bytes);
  out["last_rank"] = rank("last_rank", operation.last_rank);
  out["first_rank"] = rank("first_rank", operation.first_rank);
  // What tells when the transfer began tells the spread, too.
  const bool timed = operation.why_no_transfer.empty();
  out["spread_ns"] = timed ? Json(operation.spread_ns) : why.null("spread_ns", operation.why_no_transfer);
  out["transfer_ns"] = timed ? Json(operation.transfer_ns) : why.null("transfer_ns", operation.why_no_transfer);
  out["members"] = operation.members.size();
  out["complete"] = operation.complete;
  std::move(why).attach(out);
  return out;
}

Json unmatched_json(const UnmatchedParts& parts) {
  return {{"why", parts.why},     {"group", parts.group},     {"op", parts.op},
          {"count", parts.count}, {"rank", parts.rank.value}, {"first_ns", ns_of(parts.first)}};
}

/// By what most of the matched members were matched (the weaker of two with equally many), and how many of all were.
Json matching_json(const CollectivesSection& section) {
  constexpr std::array names{"sequence", "call_order", "ends"};
  const auto most = std::ranges::max_element(section.matched_by | std::views::reverse);
  const auto by = static_cast<std::size_t>(std::distance(section.matched_by.begin(), most.base()) - 1);
  const std::int64_t all = section.matched + section.unmatched;
  return {
      {"by", section.matched > 0 ? names[by] : "none"},
      {"share", all > 0 ? rounded(static_cast<double>(section.matched) / static_cast<double>(all), 4) : Json(nullptr)}};
}

}  // namespace

nlohmann::ordered_json collectives_json(const CollectivesSection& section, const Run& run,
                                        const ReportOptions& options) {
  Json out;
  out["matched"] = section.matched;
  out["unmatched"] = section.unmatched;
  out["unmatched_parts"] = list_json(section.unmatched_parts, unmatched_json);
  out["key"] = section.key;
  out["matching"] = matching_json(section);
  out["groups"] = list_json(section.groups, group_row_json);
  if (!options.instances) return out;
  auto& instances = out["instances"] = Json::array();
  for (const auto& operation : section.operations) {
    if (operation.members.size() >= 2) instances.push_back(instance_json(operation, run));
  }
  return out;
}

}  // namespace rankscope::analyzer
