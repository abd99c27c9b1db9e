// The section on bandwidth: how it is found, its tables, JSON and picture, and the rules that judge it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "collectives/find.h"
#include "rankscope/analyzer/bandwidth/section.h"
#include "rankscope/analyzer/collectives/section.h"
#include "rankscope/analyzer/section.h"
#include "rankscope/analyzer/split/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "render/page.h"
#include "render/rank_matrix.h"
#include "render/source.h"
#include "rules/rule.h"

namespace rankscope::analyzer {

struct Report;

/// Of the operations in the steps asked for in which a rank asked for took part; what is sent is that of these ranks.
[[nodiscard]] Section<BandwidthSection> find_bandwidth(const Run& run, const ClockTrust& clocks,
                                                       const Section<StepsSection>& steps,
                                                       const Section<std::vector<RankRow>>& rows,
                                                       const Matching& matching, const ReportOptions& options);

[[nodiscard]] Table bandwidth_table(const BandwidthSection& section, std::size_t most);
[[nodiscard]] Table traffic_table(const BandwidthSection& section, std::size_t most);
[[nodiscard]] Table margin_table(const BandwidthSection& section, std::size_t most);
[[nodiscard]] std::vector<RankCell> traffic_cells(const BandwidthSection& section);
/// One sentence for each slow path.
[[nodiscard]] std::vector<std::string> slow_path_notes(const BandwidthSection& section);
/// How to read the table of speeds, and what is left out of it.
[[nodiscard]] std::vector<std::string> bandwidth_notes(const BandwidthSection& section);

void add_bandwidth(Page& page, const Report& report, const ReportOptions& options);
[[nodiscard]] nlohmann::ordered_json bandwidth_json(const BandwidthSection& section);

void judge_slow_paths(const RuleContext& context, std::vector<Finding>& findings);

namespace html {
void write_bandwidth(Writer& page, const Source& source);
}  // namespace html

// Groups and links that move data more slowly than their like, or than they did before (metrics.md 9.7, 20).

/// Those that cost their ranks 2 % of their time and more, the most expensive first.
[[nodiscard]] std::vector<SlowPath> slow_paths(const Run& run, const ClockTrust& clocks,
                                               const Section<StepsSection>& steps, std::span<const RankRow> rows,
                                               std::span<const Operation* const> operations);

// Slow groups and links in words.

/// "30 kB to 100 kB", "below 1 kB", "from 100 GB on"
[[nodiscard]] std::string size_text(const SizeClass& size);
/// "group tp (ranks 0–3) moves data at 0.51 times the usual speed"
[[nodiscard]] std::string title_of(const SlowPath& path);
/// "allreduce of 1 MB to 3 MB reaches 4.1 GB/s of bus bandwidth, compared with 8.2 GB/s for 3 comparable links
/// (medians)"
[[nodiscard]] std::string evidence_of(const SlowPath& path);

}  // namespace rankscope::analyzer
