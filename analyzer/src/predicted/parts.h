// The section on predicted: its tables and JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "rankscope/analyzer/options.h"
#include "rankscope/analyzer/predicted/section.h"
#include "rankscope/analyzer/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "rankscope/core/model/run_parts.h"
#include "render/noted_table.h"

namespace rankscope::analyzer {

struct Report;

/// Ranks that are farthest off first; nothing where nothing was predicted.
[[nodiscard]] std::vector<NotedTable> predicted_tables(const Report& report, std::size_t most);
[[nodiscard]] nlohmann::ordered_json predicted_json(const PredictedSection& section);

// What ranks predicted of themselves in their metadata, beside what they did.

/// Metadata that the reference trainer writes, in bytes.
inline constexpr std::string_view predicted_held_key = "predicted_held_bytes";
inline constexpr std::string_view predicted_sent_key = "predicted_sent_bytes";

[[nodiscard]] Section<PredictedSection> find_predicted(const Run& run, const Section<StepsSection>& steps,
                                                       const ReportOptions& options);

}  // namespace rankscope::analyzer
