#include "flops/parts.h"

#include <algorithm>
#include <span>

#include <nlohmann/json.hpp>
#include "render/json_number.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

// The rest is summed.
constexpr std::size_t fewest_products = 100;
constexpr int digits = 6;

/// Values that may be missing, with the reasons of those that are.
class Nullable {
 public:
  explicit Nullable(Json& object) : object_(object) {}
  ~Nullable() {
    if (!why_.empty()) object_["why"] = std::move(why_);
  }
  Nullable(const Nullable&) = delete;
  Nullable& operator=(const Nullable&) = delete;

  void ratio(const char* name, const Ratio& ratio) {
    object_[name] = ratio.value ? rounded(*ratio.value, digits) : null(name, ratio.why);
  }
  void value(const char* name, const std::optional<Json>& value, const std::string& why) {
    object_[name] = value ? *value : null(name, why);
  }

 private:
  Json null(const char* name, const std::string& why) {
    why_[name] = why;
    return nullptr;
  }

  Json& object_;
  Json why_ = Json::object();
};

std::optional<Json> json_of(const std::optional<std::int64_t>& value) {
  return value ? std::optional<Json>{*value} : std::nullopt;
}

/// TFLOP/s of counted kernels.
std::optional<Json> speed_of(const FlopSums& sums) {
  if (sums.kernels_ns <= 0 || sums.executed <= 0) return std::nullopt;
  return rounded(static_cast<double>(sums.executed) / static_cast<double>(sums.kernels_ns) / 1000, digits);
}

void add_sums(Json& out, const FlopSums& sums) {
  out["calls"] = sums.calls;
  out["model_flops"] = sums.model;
  out["executed_flops"] = sums.executed;
  out["assumed_flops"] = sums.assumed;
  out["kernels_ns"] = sums.kernels_ns;
  out["exclusive_ns"] = sums.exclusive_ns;
}

constexpr const char* no_kernels = "no counted kernels";

Json precision_json(const PrecisionRow& row) {
  Json out;
  out["precision"] = name_of(row.precision);
  add_sums(out, row.sums);
  Nullable values{out};
  values.value("tflops", speed_of(row.sums), no_kernels);
  values.value("peak_tflops", row.peak_tflops ? std::optional<Json>{*row.peak_tflops} : std::nullopt,
               "the peak speed of the device for numbers of this precision is not known");
  return out;
}

Json rank_json(const RankFlops& rank) {
  Json out;
  out["rank"] = rank.rank.value;
  out["device"] = rank.device;
  out["devices"] = rank.devices;
  out["steps"] = rank.steps;
  out["window_ns"] = rank.window_ns;
  out["compute_ns"] = rank.compute_ns;
  out["source"] = rank.stated_by_user ? "model_flops_per_step" : "shapes";
  out["model_flops_of_windows"] = rank.model_flops;
  Nullable values{out};
  values.value("at_peak_ns", json_of(rank.at_peak_ns), rank.why_no_peak);
  values.ratio("mfu", rank.mfu);
  values.ratio("hfu", rank.hfu);
  values.ratio("coverage", rank.coverage);
  values.value("peak_source", rank.peak_source.empty() ? std::nullopt : std::optional<Json>{rank.peak_source},
               "no table of device peaks lists this device");
  add_sums(out["counted"], rank.sums);
  out["counted"]["recomputed_flops"] = rank.recomputed;
  out["counted"]["fp32_unclear_flops"] = rank.fp32_unclear;
  out["precisions"] = Json::array();
  for (const PrecisionRow& row : rank.precisions) out["precisions"].push_back(precision_json(row));
  for (std::size_t i = 0; i < not_countable_count; ++i)
    out["lost_calls"][name_of(static_cast<NotCountable>(i))] = rank.lost_calls[i];
  out["calls_without_work"] = rank.calls_without_work;
  if (rank.accelerator)
    for (std::size_t i = 0; i < compute_time_count; ++i)
      out["compute_parts"][name_of(static_cast<ComputeTime>(i))] = rank.compute_parts[i];
  return out;
}

Json operator_json(const FlopRow& row) {
  Json out;
  out["name"] = row.name;
  out["inputs"] = row.shapes;
  out["class"] = name_of(row.kind);
  out["precision"] = name_of(row.precision);
  add_sums(out, row.sums);
  Nullable values{out};
  values.value("tflops", speed_of(row.sums), no_kernels);
  values.value("at_peak_ns", json_of(row.at_peak_ns),
               "the peak speed of the device for numbers of this precision is not known");
  return out;
}

Json rest_json(std::span<const FlopRow> rows) {
  FlopSums sum;
  for (const FlopRow& row : rows) RS_CHECK(sum.add(row.sums));  // those of the section hold them
  Json out;
  out["keys"] = rows.size();
  add_sums(out, sum);
  return out;
}

Json ladder_json(const Section<Ladder>& ladder) {
  if (!ladder) return {{"unavailable", ladder.error().why}};
  Json out;
  out["whole_ns"] = ladder->whole_ns;
  const auto points = points_of(*ladder);
  out["parts"] = Json::array();
  for (std::size_t i = 0; i < points.size(); ++i)
    out["parts"].push_back({{"step", name_of(ladder->parts[i].step)},
                            {"ns", ladder->parts[i].ns},
                            {"points", static_cast<double>(points[i]) / 100}});
  if (!ladder->why_at_compute.empty()) out["why_at_compute"] = ladder->why_at_compute;
  return out;
}

}  // namespace

Json flops_json(const FlopsSection& section, const ReportOptions& options) {
  Json out;
  {
    Nullable values{out};
    values.value("user_peak_tflops",
                 section.user_peak_tflops ? std::optional<Json>{*section.user_peak_tflops} : std::nullopt, "not given");
    values.value("user_model_flops_per_step", json_of(section.user_flops_per_step), why_no_user_flops(section));
    values.value("step_ns", section.step_ns > 0 ? std::optional<Json>{section.step_ns} : std::nullopt, "no steps");
    values.ratio("mfu", section.mfu);
    values.ratio("hfu", section.hfu);
    values.ratio("coverage", section.coverage);
  }
  if (!section.why_no_flops.empty()) out["why"]["model_flops"] = section.why_no_flops;
  add_sums(out["counted"], section.sums);
  out["ladder"] = ladder_json(section.ladder);
  out["ranks"] = Json::array();
  for (const RankFlops& rank : section.ranks) out["ranks"].push_back(rank_json(rank));
  const std::size_t shown = std::min(section.operators.size(), std::max(fewest_products, options.top));
  out["operators"] = Json::array();
  for (const FlopRow& row : std::span{section.operators}.first(shown)) out["operators"].push_back(operator_json(row));
  out["operators_rest"] = rest_json(std::span{section.operators}.subspan(shown));
  return out;
}

}  // namespace rankscope::analyzer
