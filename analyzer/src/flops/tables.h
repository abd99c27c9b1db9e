// FLOP, MFU and the loss ladder, for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/noted_table.h"

namespace rankscope::analyzer {

/// Nothing where no FLOP are known.
[[nodiscard]] std::vector<NotedTable> flop_tables(const Report& report, std::size_t most);

/// Parts of a ladder in hundredths of a point; they add up to 10000.
[[nodiscard]] std::vector<std::int64_t> points_of(const Ladder& ladder);
[[nodiscard]] std::string_view words_of(LadderStep step);
/// Steps that the ladder's times are means of; at least 1.
[[nodiscard]] std::int64_t rank_steps_of(const FlopsSection& section);

}  // namespace rankscope::analyzer
