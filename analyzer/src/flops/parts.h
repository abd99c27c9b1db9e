// The section on FLOPs: how it is found, its tables, JSON and picture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/flops/section.h"
#include "rankscope/analyzer/split/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "render/noted_table.h"
#include "render/source.h"
#include "steps/find.h"

namespace rankscope::analyzer {

struct Report;

/// Over the ranks asked for, in the counted windows.
[[nodiscard]] Section<FlopsSection> count_flops(const Run& run, const Section<StepsSection>& steps,
                                                const Section<std::vector<RankRow>>& rank_rows,
                                                const ReportOptions& options);

/// Nothing where no FLOPs are known.
[[nodiscard]] std::vector<NotedTable> flop_tables(const Report& report, std::size_t most);

/// Why no FLOP of accelerators are known; empty if they are. How far CPU ranks are from the peak, nobody misses.
[[nodiscard]] std::string why_no_flops(const Report& report);
/// Why the run states no model FLOPs; empty if it does.
[[nodiscard]] std::string why_no_user_flops(const FlopsSection& section);
/// Parts of a ladder in hundredths of a point; they add up to 10000.
[[nodiscard]] std::vector<std::int64_t> points_of(const Ladder& ladder);
[[nodiscard]] std::string_view words_of(LadderStep step);
/// "BF16", "TF32"; "?" if it is unknown.
[[nodiscard]] std::string words_of(Precision precision, std::string_view device);
/// Steps that the ladder's times are means of; at least 1.
[[nodiscard]] std::int64_t rank_steps_of(const FlopsSection& section);
[[nodiscard]] nlohmann::ordered_json flops_json(const FlopsSection& section, const ReportOptions& options);

namespace html {
void write_flops(Writer& page, const Source& source);
}  // namespace html

}  // namespace rankscope::analyzer
