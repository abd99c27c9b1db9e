#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "facts/parts.h"
#include "quality/parts.h"
#include "rankscope/analyzer/render.h"
#include "render/json_parts.h"
#include "sections.h"
#include "verdict/doubts.h"

namespace rankscope::analyzer {

std::string render_json(const Report& report, const Run& run, const ReportOptions& options) {
  nlohmann::ordered_json out;
  out["schema"] = "rankscope.report/1";
  out["run"] = run_json(report);
  std::vector<const SectionRow*> rows;
  for (const SectionRow& row : section_rows())
    if (row.json != nullptr && is_shown(row, options)) rows.push_back(&row);
  std::ranges::stable_sort(rows, {}, &SectionRow::json_place);
  for (const SectionRow* row : rows)
    if (auto value = row->json({report, run, options}); !value.is_null())
      out[row->json_key.empty() ? row->id : row->json_key] = std::move(value);
  out["data_quality"] =
      list_json(report.data_quality, [&](const QualityRow& row) { return quality_json(row, advice_source(report)); });
  // What a recording holds need not be UTF-8.
  return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rankscope::analyzer
