#include <algorithm>
#include <nlohmann/json.hpp>

#include "rankscope/analyzer/render.h"
#include "render/data_loading.h"
#include "render/json_bandwidth.h"
#include "render/json_blame.h"
#include "render/json_clocks.h"
#include "render/json_copies.h"
#include "render/json_devices.h"
#include "render/json_efficiency.h"
#include "render/json_flops.h"
#include "render/json_hta.h"
#include "render/json_kernels.h"
#include "render/json_memory.h"
#include "render/json_number.h"
#include "render/json_operators.h"
#include "render/json_overlap.h"
#include "render/json_pipeline.h"
#include "render/json_replay.h"
#include "render/json_trend.h"
#include "render/predicted.h"
#include "source_advice.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

Json unavailable_json(std::string_view why) { return {{"unavailable", why}}; }

/// Collects the reasons of nulls beside the values.
class Why {
 public:
  Json value_or_null(const std::string& name, const Ratio& ratio) {
    if (ratio.value) return rounded(*ratio.value, 6);
    return null(name, ratio.why);
  }
  void say(const std::string& name, std::string_view why) { reasons_[name] = why; }
  Json null(const std::string& name, std::string_view why) {
    reasons_[name] = why.empty() ? "not recorded" : why;
    return nullptr;
  }
  void attach(Json& object) && {
    if (!reasons_.empty()) object["why"] = std::move(reasons_);
  }

 private:
  Json reasons_ = Json::object();
};

template <class T, class ToJson>
Json section_json(const Section<T>& section, ToJson to_json) {
  return section ? to_json(*section) : unavailable_json(section.error().why);
}

template <class Rows, class ToJson>
Json list_json(const Rows& rows, ToJson to_json) {
  Json list = Json::array();
  for (const auto& row : rows) list.push_back(to_json(row));
  return list;
}

Json run_json(const Report& report) {
  Why why;
  Json run;
  run["source"] = report.source;
  run["ranks"] = report.ranks.size();
  run["world_size"] = report.world_size > 0 ? Json(report.world_size) : why.null("world_size", "");
  run["steps"] = report.steps ? Json(report.steps->steps.size()) : why.null("steps", report.steps.error().why);
  run["duration_ns"] = report.duration_ns;
  run["clock"]["method"] = report.clock.method;
  run["clock"]["error_ns"] = report.clock.method == "none" ? why.null("clock.error_ns", "no common clock of the ranks")
                                                           : Json(report.clock.error.count());
  add_clocks(run["clock"], report.clocks);
  std::move(why).attach(run);
  if (report.asked_for.steps)
    run["asked_for"]["steps"] = {report.asked_for.steps->first, report.asked_for.steps->second};
  for (const RankId rank : report.asked_for.ranks) run["asked_for"]["ranks"].push_back(rank.value);
  for (const Straggler& row : report.asked_for.slow_ranks_left_out)
    run["asked_for"]["slow_ranks_left_out"].push_back(row.rank.value);
  if (!report.facts.empty()) {
    auto& facts = run["facts"] = Json::object();
    for (const auto& [key, value] : report.facts) facts[key] = value;
  }
  return run;
}

Json step_json(const Step& step) {
  return {{"index", step.index},
          {"begin_ns", ns_of(step.time.begin)},
          {"end_ns", ns_of(step.time.end)},
          {"complete", step.complete},
          {"warm_up", step.warm_up}};
}

Json utilization_json(const RankRow& row, Why& why) {
  Json out;
  out["busy"] = why.value_or_null("utilization.busy", row.busy);
  out["compute"] = why.value_or_null("utilization.compute", row.compute);
  out["sm_active"] = why.value_or_null("utilization.sm_active", row.sm_active);
  out["nvml_busy"] = why.value_or_null("utilization.nvml_busy", row.nvml_busy);
  out["cpu_percent"] =
      row.cpu_percent ? rounded(*row.cpu_percent, 1) : why.null("utilization.cpu_percent", "no host samples");
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
    if (share.most_in_step && 2 * share.most_ns > share.ns && row.per_step.size() > 1) {
      one["most_ns"] = share.most_ns;
      one["most_in_step"] = *share.most_in_step;
    }
    all.push_back(std::move(one));
  }
  return all;
}

/// Whether some rank has steps: then one without them is in no sum.
enum class Steps : std::uint8_t { some, none };

Json rank_json(const RankRow& row, Steps steps) {
  const auto& split = row.total;
  Why why;
  if (steps == Steps::some && row.per_step.empty())
    why.say("window_ns", "no steps were recorded: the whole recording, left out of sums over ranks");
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
  if (!row.idle_shares.empty()) out["idle_details"] = idle_details_json(row);
  const auto bytes = [&](const std::string& name, const std::optional<std::int64_t>& value, std::string_view reason) {
    out["memory"][name] = value ? Json(*value) : why.null("memory." + name, reason);
  };
  bytes("peak_allocated_bytes", row.peak_allocated_bytes, row.why_no_memory);
  bytes("peak_reserved_bytes", row.peak_reserved_bytes, row.why_no_reserved);
  std::move(why).attach(out);
  return out;
}

Json ranks_json(const std::vector<RankRow>& rows) {
  const bool any = std::ranges::any_of(rows, [](const RankRow& row) { return !row.per_step.empty(); });
  return list_json(rows, [&](const RankRow& row) { return rank_json(row, any ? Steps::some : Steps::none); });
}

Json durations_json(const Durations& durations) {
  Json out;
  out["median_ns"] = durations.median_ns;
  out["p90_ns"] = durations.p90_ns;
  out["p99_ns"] = durations.p99_ns;
  return out;
}

Json launch_json(const LaunchRow& row) {
  Why why;
  Json out;
  out["rank"] = row.rank.value;
  if (row.stream != -1) {
    out["device"] = row.device;
    out["stream"] = row.stream;
  }
  out["launches"] = row.launches;
  out["in_graphs"] = row.in_graphs;
  out["without_launch"] = row.without_launch;
  out["began_in_call"] = row.began_in_call;
  out["began_before_call"] = row.began_before_call;
  out["call"] = row.has_calls() ? durations_json(row.call) : why.null("call", "all of them were in CUDA graphs");
  out["delay"] = durations_json(row.delay);
  out["issue"] = durations_json(row.issue);
  out["kernels"] = row.kernels;
  out["kernels_ns"] = row.kernels_ns;
  out["short_kernels"] = row.short_kernels;
  out["short_ns"] = row.short_ns;
  Json& queue = out["queue"];
  queue["mean"] = rounded(row.queue.mean, 3);
  queue["median"] = row.queue.median;
  queue["p95"] = row.queue.p95;
  queue["most"] = row.queue.most;
  queue["empty_share"] = rounded(row.queue.empty_share, 6);
  queue["empty_and_idle_share"] = rounded(row.queue.empty_and_idle_share, 6);
  queue["full_share"] = rounded(row.queue.full_share, 6);
  std::move(why).attach(out);
  return out;
}

Json facts_json(const RankFacts& facts) {
  Why why;
  Json out;
  out["rank"] = facts.rank.value;
  out["host"] = facts.host;
  out["program"] = facts.program;
  out["ending"] = name_of(facts.ending);
  out["exit_status"] = facts.ending == Ending::exited ? Json(facts.exit_status) : why.null("exit_status", "not known");
  out["cpu_percent"] = facts.cpu_percent ? rounded(*facts.cpu_percent, 1) : why.null("cpu_percent", "no host samples");
  out["peak_rss_bytes"] =
      facts.peak_rss_bytes ? Json(*facts.peak_rss_bytes) : why.null("peak_rss_bytes", "no host samples");
  std::move(why).attach(out);
  return out;
}

Json group_json(const GroupRow& row) {
  Why why;
  Json out;
  out["group"] = row.group;
  out["op"] = row.op;
  out["count"] = row.count;
  out["bytes"] = row.bytes >= 0 ? Json(row.bytes)
                                : why.null("bytes", row.bytes_too_large > 0 ? "does not fit 64 bits" : "not recorded");
  if (row.bytes_too_large > 0) out["bytes_too_large"] = row.bytes_too_large;
  out["wait_ns"] = row.without_wait < row.count ? Json(row.wait_ns) : why.null("wait_ns", row.why_no_wait);
  out["transfer_ns"] =
      row.without_transfer < row.count ? Json(row.transfer_ns) : why.null("transfer_ns", row.why_no_transfer);
  out["busbw_gbps"] = row.busbw_gbps ? rounded(*row.busbw_gbps, 4) : why.null("busbw_gbps", row.why_no_busbw);
  if (!row.method.empty()) out["method"] = row.method;
  std::move(why).attach(out);
  return out;
}

Json instance_json(const Unit& unit, const Run& run) {
  Why why;
  Json out;
  const auto rank = [&](const char* name, RankId id) {
    return id.is_set() ? Json(id.value) : why.null(name, "below the clock error");
  };
  const auto number = [&](const char* name, std::int64_t value) {
    return value >= 0 ? Json(value) : why.null(name, "");
  };
  out["group"] = run.text(run.groups()[unit.group.index()].name);
  out["op"] = run.text(unit.op);
  out["seq"] = number("seq", unit.sequence);
  out["bytes"] = unit.bytes_too_large ? why.null("bytes", "does not fit 64 bits") : number("bytes", unit.bytes);
  out["last_rank"] = rank("last_rank", unit.last_rank);
  out["first_rank"] = rank("first_rank", unit.first_rank);
  out["spread_ns"] = unit.spread_ns;
  out["transfer_ns"] = unit.transfer_ns;
  out["members"] = unit.members.size();
  out["complete"] = unit.complete;
  std::move(why).attach(out);
  return out;
}

Json unmatched_json(const UnmatchedParts& parts) {
  return {{"why", parts.why},     {"group", parts.group},     {"op", parts.op},
          {"count", parts.count}, {"rank", parts.rank.value}, {"first_ns", ns_of(parts.first)}};
}

Json collectives_json(const CollectivesSection& section, const Run& run, const ReportOptions& options) {
  Json out;
  out["matched"] = section.matched;
  out["unmatched"] = section.unmatched;
  out["unmatched_parts"] = list_json(section.unmatched_parts, unmatched_json);
  out["key"] = section.key;
  out["groups"] = list_json(section.groups, group_json);
  if (!options.instances) return out;
  auto& instances = out["instances"] = Json::array();
  for (const auto& unit : section.units) {
    if (unit.members.size() >= 2) instances.push_back(instance_json(unit, run));
  }
  return out;
}

Json straggler_json(const Straggler& row) {
  Json out{{"rank", row.rank.value},
           {"kind", name_of(row.kind)},
           {"persistence", name_of(row.persistence)},
           {"certainty", name_of(row.certainty)},
           {"severity", name_of(row.severity)},
           {"slowdown", rounded(row.slowdown, 4)},
           {"lag_ns_per_step", row.lag_ns_per_step},
           {"gain_ns_per_step", row.gain_ns_per_step},
           {"gain_method", row.gain_replayed ? "replay" : "measured"}};
  if (row.since_step) out["since_step"] = *row.since_step;
  if (row.until_step) out["until_step"] = *row.until_step;
  if (row.step_ns_while_slow > 0) {
    out["gain_ns_while_slow"] = row.gain_ns_while_slow;
    out["step_ns_while_slow"] = row.step_ns_while_slow;
  }
  out["evidence"] = row.evidence;
  return out;
}

Json last_arrivals_json(const LastArrivals& arrivals) {
  Json out{{"counted", arrivals.counted}, {"what", arrivals.by_operation ? "operations" : "steps"}};
  std::int64_t told = 0;
  out["ranks"] = Json::object();
  for (const auto& [rank, times] : arrivals.ranks) {
    out["ranks"][std::to_string(rank.value)] = times;
    told += times;
  }
  out["not_told"] = arrivals.counted - told;
  out["certainty"] = name_of(arrivals.certainty);
  return out;
}

/// What the list of stragglers rests on; `[]` means more or less depending on it.
Json straggler_basis_json(const StragglersSection& section) {
  Why why;
  Json out;
  out["compared"] = section.compared;
  out["smallest_detectable"] = section.smallest_detectable ? rounded(*section.smallest_detectable, 4)
                                                           : why.null("smallest_detectable", "too few ranks or steps");
  out["last_arrivals"] = last_arrivals_json(section.last_arrivals);
  out["cannot_tell"] = section.cannot_tell.empty() ? Json(nullptr) : Json(section.cannot_tell);
  std::move(why).attach(out);
  return out;
}

/// The sums are of all sequences, listed or not.
Json fusable_json(const FusableSection& section, const ReportOptions& options) {
  constexpr std::size_t fewest_rows = 100;
  Json out{{"kernel_ns", section.kernel_ns},
           {"gap_ns", section.gap_ns},
           {"window_ns", section.window_ns},
           {"count", section.sequences.size()}};
  const std::size_t shown = std::min(section.sequences.size(), std::max(fewest_rows, options.top));
  out["sequences"] = list_json(std::span{section.sequences}.first(shown), [](const FusableSequence& row) {
    return Json{{"kernels", row.kernels},
                {"length", row.length},
                {"count", row.count},
                {"kernel_ns", row.kernel_ns},
                {"gap_ns", row.gap_ns}};
  });
  return out;
}

Json finding_json(const Finding& row) {
  Json out{{"id", row.id},         {"severity", name_of(row.severity)},
           {"title", row.title},   {"evidence", row.evidence},
           {"advice", row.advice}, {"gain_ns_per_step", row.gain_ns_per_step}};
  if (!row.why_no_gain.empty()) {
    Why why;
    out["gain_ns_per_step"] = why.null("gain_ns_per_step", row.why_no_gain);
    std::move(why).attach(out);
  }
  if (row.rank) out["rank"] = row.rank->value;
  if (row.step) out["step"] = *row.step;
  return out;
}

Json quality_json(const QualityRow& row, std::string_view source) {
  const auto& info = info_of(row.counter);
  Json out{{"counter", info.name},
           {"value", row.value},
           {"severity", name_of(info.severity)},
           {"advice", advice_for(row.counter, source)}};
  if (!row.where.empty()) out["where"] = row.where;
  return out;
}

/// The analysis that a key belongs to.
std::string_view analysis_of(std::string_view key) {
  if (key == "rank_facts") return "ranks";
  if (key == "straggler_basis") return "stragglers";
  return key == "hta_compat" ? "hta" : key;
}

void keep_wanted(Json& out, const ReportOptions& options) {
  if (options.only.empty()) return;
  Json kept;
  for (const auto& [key, value] : out.items())
    if (key == "schema" || key == "run" || key == "data_quality" || wants(options, analysis_of(key))) kept[key] = value;
  out = std::move(kept);
}

}  // namespace

std::string render_json(const Report& report, const Run& run, const ReportOptions& options) {
  Json out;
  out["schema"] = "rankscope.report/1";
  out["run"] = run_json(report);
  out["steps"] = section_json(report.steps, [](const auto& steps) { return list_json(steps.steps, step_json); });
  out["ranks"] = section_json(report.rank_rows, ranks_json);
  out["rank_facts"] = list_json(report.rank_facts, facts_json);
  out["trend"] = section_json(report.trend, trend_json);
  out["data_loading"] = section_json(report.data_loading, data_loading_json);
  out["overlap"] = section_json(report.overlap, overlap_json);
  out["launches"] =
      section_json(report.launches, [](const auto& section) { return list_json(section.rows, launch_json); });
  out["kernels"] = section_json(report.kernels, [&](const auto& section) { return kernels_json(section, options); });
  out["fusable"] = section_json(report.fusable, [&](const auto& section) { return fusable_json(section, options); });
  out["operators"] =
      section_json(report.operators, [&](const auto& section) { return operators_json(section, options); });
  out["copies"] = section_json(report.copies, [&](const auto& section) { return copies_json(section, options); });
  out["flops"] = section_json(report.flops, [&](const auto& section) { return flops_json(section, options); });
  out["memory"] =
      section_json(report.memory, [&](const auto& section) { return memory_json(section, report.copies, options); });
  out["predicted"] = section_json(report.predicted, predicted_json);
  out["collectives"] =
      section_json(report.collectives, [&](const auto& section) { return collectives_json(section, run, options); });
  out["bandwidth"] = section_json(report.bandwidth, bandwidth_json);
  out["efficiency"] = section_json(report.efficiency, efficiency_json);
  out["blame"] = section_json(report.blame, blame_json);
  out["stragglers"] =
      section_json(report.stragglers, [](const auto& section) { return list_json(section.rows, straggler_json); });
  out["straggler_basis"] = section_json(report.stragglers, straggler_basis_json);
  out["critical_path"] =
      section_json(report.critical_path, [&](const auto& section) { return critical_path_json(section, options); });
  out["pipeline"] = section_json(report.pipeline, pipeline_json);
  out["what_if"] = section_json(report.what_if, what_if_json);
  out["findings"] = section_json(report.findings, [](const auto& rows) { return list_json(rows, finding_json); });
  if (report.hta) out["hta_compat"] = hta_json(*report.hta);
  out["data_quality"] =
      list_json(report.data_quality, [&](const QualityRow& row) { return quality_json(row, report.source); });
  keep_wanted(out, options);
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rankscope::analyzer
