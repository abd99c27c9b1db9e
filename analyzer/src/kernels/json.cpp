#include "kernels/parts.h"

#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>
#include "render/json_number.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

// The rest is summed: a trace of generated kernels has thousands of names.
constexpr std::size_t fewest_kernels = 100;
constexpr std::size_t fewest_rows_of_rank = 20;

constexpr std::array<const char*, together_count> together_names{
    "idle", "compute", "comm", "compute_comm", "memory", "compute_memory", "comm_memory", "compute_comm_memory"};

void add_times(Json& out, const KernelTimes& times, std::int64_t window_ns) {
  Json why = Json::object();
  const auto told = [&](const char* name, const std::optional<Json>& value, const char* reason) {
    out[name] = value ? *value : Json(nullptr);
    if (!value) why[name] = reason;
  };
  out["count"] = times.count;
  out["sum_ns"] = times.sum_ns;
  out["exclusive_ns"] = times.exclusive_ns;
  std::optional<Json> share;
  if (window_ns > 0) share = rounded(static_cast<double>(times.exclusive_ns) / static_cast<double>(window_ns), 6);
  told("share", share, "empty window");
  const auto of_durations = [&](const char* name, std::int64_t ns) {
    told(name, times.count > 0 ? std::optional<Json>{ns} : std::nullopt, "no call began in the counted time");
  };
  of_durations("mean_ns", times.sum_ns / std::max<std::int64_t>(1, times.count));
  of_durations("min_ns", times.min_ns);
  of_durations("median_ns", times.median_ns);
  of_durations("p90_ns", times.p90_ns);
  of_durations("max_ns", times.max_ns);
  if (!why.empty()) out["why"] = std::move(why);
}

Json row_json(const KernelRow& row, std::int64_t window_ns) {
  Json out;
  out["name"] = row.name;
  out["short_name"] = row.short_name;
  if (!row.grid.empty()) out["grid"] = row.grid;
  if (!row.block.empty()) out["block"] = row.block;
  out["class"] = name_of(row.kind);
  if (row.kind == ActivityClass::compute) out["tensor_cores"] = name_of(row.tensor_cores);
  add_times(out, row.times, window_ns);
  return out;
}

Json rest_json(const KernelRest& rest) {
  return {{"keys", rest.keys}, {"count", rest.count}, {"sum_ns", rest.sum_ns}, {"exclusive_ns", rest.exclusive_ns}};
}

Json rows_json(const std::vector<KernelRow>& rows, std::size_t limit, std::int64_t window_ns) {
  Json list = Json::array();
  for (const KernelRow& row : std::span{rows}.first(std::min(limit, rows.size())))
    list.push_back(row_json(row, window_ns));
  return list;
}

Json rank_json(const KernelsSection& section, const RankKernels& rank, std::size_t limit) {
  Json out;
  out["rank"] = rank.rank.value;
  out["window_ns"] = rank.window_ns;
  out["exclusive_ns"] = rank.exclusive_ns;
  for (std::size_t bits = 0; bits < together_count; ++bits) out["together"][together_names[bits]] = rank.together[bits];
  Json& names = out["names"] = Json::array();
  for (const RankKernelRow& row : std::span{rank.names}.first(std::min(limit, rank.names.size()))) {
    Json& one = names.emplace_back(Json{{"name", section.names[row.name].name}});
    one["class"] = name_of(section.names[row.name].kind);
    add_times(one, row.times, rank.window_ns);
  }
  out["names_rest"] = rest_json(rest_of(std::span{rank.names}, limit));
  return out;
}

}  // namespace

Json kernels_json(const KernelsSection& section, const ReportOptions& options) {
  const std::size_t limit = std::max(fewest_kernels, options.top);
  Json out;
  out["window_ns"] = section.window_ns;
  out["exclusive_ns"] = section.exclusive_ns;
  out["rank_steps"] = section.rank_steps;
  for (const TensorCores use : {TensorCores::yes, TensorCores::no, TensorCores::unknown})
    out["tensor_cores_ns"][name_of(use)] = section.tensor_cores_ns[static_cast<std::size_t>(use)];
  out["names"] = rows_json(section.names, limit, section.window_ns);
  out["names_rest"] = rest_json(rest_of(std::span{section.names}, limit));
  out["keys"] = rows_json(section.keys, limit, section.window_ns);
  out["keys_rest"] = rest_json(rest_of(std::span{section.keys}, limit));
  out["ranks"] = Json::array();
  const std::size_t rank_limit = std::max(fewest_rows_of_rank, options.top);
  for (const RankKernels& rank : section.ranks) out["ranks"].push_back(rank_json(section, rank, rank_limit));
  return out;
}

}  // namespace rankscope::analyzer
