// The section on devices: how it is found, its tables and JSON, and the rules that judge it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "rankscope/analyzer/split/device_row.h"
#include "rankscope/analyzer/split/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "render/noted_table.h"
#include "rules/rule.h"
#include "steps/find.h"

namespace rankscope::analyzer {

struct Report;

/// Fills in the devices of each row, over the windows of its split, and what they make of the rank.
void describe_devices(const Run& run, const Section<StepsSection>& steps, std::vector<RankRow>& rows);

/// A line per device of each rank; no table where nothing was sampled. Of many ranks those that other tables show.
[[nodiscard]] std::vector<NotedTable> device_tables(const Report& report, std::size_t most);
[[nodiscard]] nlohmann::ordered_json devices_json(std::span<const DeviceRow> devices);

void judge_throttling(const RuleContext& context, std::vector<Finding>& findings);

// NVML's bits for why clocks are lower than they could be.

/// The reasons of one sample; none for a GPU at its full clock.
[[nodiscard]] std::vector<ClockReason> clock_reasons(std::uint64_t bits);

/// Shares of samples, which are not empty.
[[nodiscard]] Throttling throttling_of(std::span<const double> samples);

}  // namespace rankscope::analyzer
