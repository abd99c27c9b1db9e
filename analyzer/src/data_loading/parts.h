// The section on data loading: how it is found, its tables and JSON, and the rules that judge it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "rankscope/analyzer/data_loading/section.h"
#include "rankscope/analyzer/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "render/noted_table.h"
#include "rules/rule.h"

namespace rankscope::analyzer {

struct Report;

/// Of the ranks asked for, in their counted windows.
[[nodiscard]] Section<DataLoadingSection> find_data_loading(const Run& run, const Section<StepsSection>& steps,
                                                            const ReportOptions& options);

/// Ranks that wait longest first; nothing where nothing was recorded.
[[nodiscard]] std::vector<NotedTable> data_loading_tables(const Report& report, std::size_t most);
[[nodiscard]] nlohmann::ordered_json data_loading_json(const DataLoadingSection& section);

void judge_data_loading(const RuleContext& context, std::vector<Finding>& findings);

// What helps ranks that wait for their data.

/// What the loaders of all ranks did while their ranks waited for data.
struct LoaderSums {
  std::int64_t waiting_ns = 0;  ///< of the ranks whose workers were recorded
  std::int64_t all_busy_ns = 0;
  std::int64_t some_busy_ns = 0;
  std::int64_t none_busy_ns = 0;
  std::int64_t workers = 0;  ///< of a rank, the most
  std::int64_t needed = 0;   ///< of a rank, the most; 0: not known
  bool own_thread = false;   ///< a rank that waits loads its batches itself
};
[[nodiscard]] LoaderSums sum_loaders(const Report& report);
[[nodiscard]] std::string advice_for_data(const LoaderSums& sums);

}  // namespace rankscope::analyzer
