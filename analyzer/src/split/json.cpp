#include "split/parts.h"

#include <algorithm>

#include <nlohmann/json.hpp>
#include "render/json_parts.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

Json utilization_json(const RankRow& row, Why& why) {
  Json out;
  out["busy"] = why.value_or_null("utilization.busy", row.busy);
  out["compute"] = why.value_or_null("utilization.compute", row.compute);
  out["sm_active"] = why.value_or_null("utilization.sm_active", row.sm_active);
  out["nvml_busy"] = why.value_or_null("utilization.nvml_busy", row.nvml_busy);
  out["cpu_percent"] = row.cpu_percent
                           ? rounded(*row.cpu_percent, 1)
                           : why.null("utilization.cpu_percent",
                                      row.per_step.empty() ? "no host samples" : "no host samples in the steps");
  return out;
}

Json idle_causes_json(const TimeSplit& split) {
  Json out;
  for (std::size_t i = 0; i < idle_cause_count; ++i) out[name_of(static_cast<IdleCause>(i))] = split.idle_causes_ns[i];
  return out;
}

Json idle_details_json(const RankRow& row) {
  Json all = Json::array();
  for (const IdleShare& share : row.idle_shares) {
    Json one;
    one["cause"] = name_of(share.cause);
    if (share.detail != IdleDetail::none) one["detail"] = name_of(share.detail);
    if (!share.range.empty()) one["range"] = share.range;
    if (!share.call.empty()) one["call"] = share.call;
    one["ns"] = share.ns;
    if (share.outside_ns > 0) one["outside_ns"] = share.outside_ns;
    if (share.most_in_step && 2 * share.most_ns > share.ns && row.per_step.size() > 1) {
      one["most_ns"] = share.most_ns;
      one["most_in_step"] = *share.most_in_step;
    }
    all.push_back(std::move(one));
  }
  return all;
}

/// Communication that was not recorded is unknown, and what is called compute or idle may be waiting (metrics.md 2.9).
void doubt_split(const RankRow& row, Json& out, Why& why) {
  if (row.why_no_comm.empty()) return;
  for (const char* const name :
       {"exposed_comm_ns", "overlapped_comm_ns", "comm_ns", "wait_ns", "transfer_ns", "unsplit_ns"}) {
    if (row.shows_communication())
      why.say(name, "a lower bound; " + row.why_no_comm);
    else
      out[name] = why.null(name, row.why_no_comm);
  }
  for (const char* const name : {"compute_ns", "idle_ns", "utilization.compute"})
    why.say(name, "an upper bound; " + row.why_no_comm);
}

/// Whether some rank has steps: then one without them is in no sum.
enum class Steps : std::uint8_t { some, none };

Json rank_json(const RankRow& row, Steps steps, DevicesJson devices_json) {
  const auto& split = row.total;
  Why why;
  if (steps == Steps::some && row.per_step.empty())
    why.say("window_ns",
            "no steps were recorded: the numbers of this rank cover the whole recording, and sums over ranks leave "
            "this rank out");
  Json out;
  out["rank"] = row.rank.value;
  out["host"] = row.host;
  out["device"] = row.device;
  out["window_ns"] = split.window_ns;
  out["compute_ns"] = split.compute_ns;
  out["exposed_comm_ns"] = split.exposed_comm_ns;
  out["memory_ns"] = split.memory_ns;
  out["idle_ns"] = split.idle_ns;
  out["overlapped_comm_ns"] = split.overlapped_comm_ns;
  out["comm_ns"] = split.comm_ns;
  out["overlap_ratio"] = why.value_or_null("overlap_ratio", row.overlap_ratio);
  out["wait_ns"] = split.wait_ns;
  out["transfer_ns"] = split.transfer_ns;
  out["unsplit_ns"] = split.unsplit_ns;
  out["utilization"] = utilization_json(row, why);
  out["devices"] = devices_json(row.devices);
  out["idle_causes"] = idle_causes_json(split);
  if (row.per_step.empty() && !row.idle_shares.empty()) {
    out["before_first_work_ns"] = row.before_work_ns;
    out["after_last_work_ns"] = row.after_work_ns;
  }
  doubt_split(row, out, why);
  if (!row.idle_shares.empty()) out["idle_details"] = idle_details_json(row);
  const auto bytes = [&](const std::string& name, const std::optional<std::int64_t>& value, std::string_view reason) {
    out["memory"][name] = value ? Json(*value) : why.null("memory." + name, reason);
  };
  bytes("peak_allocated_bytes", row.peak_allocated_bytes, row.why_no_memory);
  bytes("peak_reserved_bytes", row.peak_reserved_bytes, row.why_no_reserved);
  std::move(why).attach(out);
  return out;
}

}  // namespace

nlohmann::ordered_json ranks_json(const std::vector<RankRow>& rows, DevicesJson devices_json) {
  const bool any = std::ranges::any_of(rows, [](const RankRow& row) { return !row.per_step.empty(); });
  return list_json(rows,
                   [&](const RankRow& row) { return rank_json(row, any ? Steps::some : Steps::none, devices_json); });
}

}  // namespace rankscope::analyzer
