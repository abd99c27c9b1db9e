#include "operators/parts.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

// The rest is summed.
constexpr std::size_t fewest_operators = 200;
constexpr std::size_t most_shapes = 5;

constexpr const char* why_no_device = "no rank has an accelerator";

class Rows {
 public:
  Rows(const OperatorsSection& section, std::size_t limit) : has_device_(section.accelerators > 0), limit_(limit) {}

  [[nodiscard]] Json table(const OperatorTable& table) const {
    const std::size_t shown = std::min(limit_, table.rows.size());
    Json out;
    out["rows"] = Json::array();
    for (const OperatorRow& row : std::span{table.rows}.first(shown)) out["rows"].push_back(of_operator(row));
    out["rest"] = rest(std::span{table.rows}.subspan(shown));
    out["outside_device_ns"] = device(table.outside_device_ns);
    out["outside_unlaunched_ns"] = device(table.outside_unlaunched_ns);
    return out;
  }
  /// Null where there is no accelerator; the section says why.
  [[nodiscard]] Json device(std::int64_t ns) const { return has_device_ ? Json(ns) : Json(nullptr); }

 private:
  [[nodiscard]] Json of_operator(const OperatorRow& row) const {
    Json out;
    out["name"] = row.name;
    out["calls"] = row.times.calls;
    out["self_ns"] = row.times.self_ns;
    out["total_ns"] = row.times.total_ns;
    out["device_ns"] = device(row.times.device_ns);
    out["device_total_ns"] = device(row.times.device_total_ns);
    if (row.backward != BackwardTimes{}) {
      out["backward"] = {{"calls", row.backward.calls},
                         {"total_ns", row.backward.total_ns},
                         {"device_total_ns", device(row.backward.device_total_ns)}};
    }
    if (row.shapes.empty()) return out;
    out["shape_keys"] = row.shapes.size();
    Json& shapes = out["shapes"] = Json::array();
    for (const ShapeRow& shape : std::span{row.shapes}.first(std::min(most_shapes, row.shapes.size()))) {
      shapes.push_back({{"inputs", shape.shapes.empty() ? Json(nullptr) : Json(shape.shapes)},
                        {"calls", shape.calls},
                        {"self_ns", shape.self_ns},
                        {"device_ns", device(shape.device_ns)}});
      if (shape.shapes.empty()) shapes.back()["why"] = "not recorded";
    }
    return out;
  }

  [[nodiscard]] Json rest(std::span<const OperatorRow> rows) const {
    OperatorTimes sum;
    for (const OperatorRow& row : rows) {
      sum.calls += row.times.calls;
      sum.self_ns += row.times.self_ns;
      sum.device_ns += row.times.device_ns;
    }
    return {
        {"keys", rows.size()}, {"calls", sum.calls}, {"self_ns", sum.self_ns}, {"device_ns", device(sum.device_ns)}};
  }

  bool has_device_;
  std::size_t limit_;
};

}  // namespace

Json operators_json(const OperatorsSection& section, const ReportOptions& options) {
  const Rows rows{section, std::max(fewest_operators, options.top)};
  Json out;
  out["ranks"] = section.ranks;
  out["rank_steps"] = section.rank_steps;
  out["device_ns"] = rows.device(section.device_ns);
  if (section.accelerators == 0) out["why"]["device_ns"] = why_no_device;
  out["operators"] = rows.table(section.operators);
  out["annotations"] = rows.table(section.annotations);
  return out;
}

}  // namespace rankscope::analyzer
