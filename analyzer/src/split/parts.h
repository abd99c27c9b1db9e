// The section on where the time of each rank went: its tables, JSON and picture, and the rules that judge it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/split/section.h"
#include "render/noted_table.h"
#include "render/page.h"
#include "render/source.h"
#include "rules/rule.h"

namespace rankscope::analyzer {

struct Report;

void add_rank_tables(Page& page, const Report& report, const ReportOptions& options);
/// One bar per rank, of many ranks for eight of them.
void add_rank_bars(Page& page, const Report& report, const ReportOptions& options, std::size_t most);

using RankRows = std::vector<const RankRow*>;
/// All ranks, or of many the slow ones and those whose own time is farthest from the median, in their order.
[[nodiscard]] RankRows rows_to_show(const Report& report, std::size_t limit);
/// Which they are: "the 32 of 512 ranks that are slow or whose own times differ most from the median"
[[nodiscard]] std::string shown_rows_text(std::size_t shown, std::size_t all);
/// Ranks without steps where others have some; empty if there are none.
[[nodiscard]] std::string without_steps_text(const Report& report);
/// That compute may be waiting; empty where communication was recorded (metrics.md 2.9).
[[nodiscard]] std::string compute_doubt_text(const RankRows& rows);
/// Counted steps of the ranks that have any.
[[nodiscard]] std::int64_t steps_of(const RankRows& rows);
/// Steps over which a rank's total was summed; 1 where there are none and the total is the whole recording.
[[nodiscard]] std::int64_t steps_in(const RankRow& row);
/// Milliseconds per step, and shares of them.
[[nodiscard]] Table share_table(const RankRows& rows);
/// Milliseconds per step: communication by use, idle time by cause.
[[nodiscard]] Table detail_table(const RankRows& rows);
/// The `most` longest reasons and the rest; nothing where no rank has an accelerator.
[[nodiscard]] std::vector<NotedTable> idle_tables(const Report& report, std::size_t most);
/// How the devices of a rank are written: the subject devices knows.
using DevicesJson = nlohmann::ordered_json (*)(std::span<const DeviceRow> devices);
[[nodiscard]] nlohmann::ordered_json ranks_json(const std::vector<RankRow>& rows, DevicesJson devices_json);

void judge_idle(const RuleContext& context, std::vector<Finding>& findings);
void judge_profiler_overhead(const RuleContext& context, std::vector<Finding>& findings);

namespace html {
/// True if every rank, shown or not, has a time for every counted step, so that columns can be filled.
[[nodiscard]] bool have_steps(const Report& report);
void write_heat_maps(Writer& page, const Source& source);
void write_split(Writer& page, const Source& source);
void write_steps(Writer& page, const Source& source);
}  // namespace html

// Reasons of idle time in words.

/// "host was late", "gap between kernels", ...
[[nodiscard]] std::string_view words_of(const IdleShare& share);

}  // namespace rankscope::analyzer
