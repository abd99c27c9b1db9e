// The section on blame: how it is found, its tables, JSON and picture, and the rule that judges it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/find.h"
#include "rankscope/analyzer/blame/section.h"
#include "rankscope/analyzer/collectives/section.h"
#include "rankscope/analyzer/split/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "render/page.h"
#include "render/rank_matrix.h"
#include "render/source.h"
#include "rules/rule.h"

namespace rankscope::analyzer {

struct Report;

struct BlameResult {
  Section<BlameSection> section = unavailable("not computed");
  std::vector<std::int64_t>
      waits_ns;  ///< what each operation of the matching adds to total_ns; empty without a section
};

/// Of what the ranks asked for waited in the steps asked for, whoever caused it. `rows` are those of the time split.
[[nodiscard]] BlameResult find_blame(const Run& run, const ClockTrust& clocks, const Section<StepsSection>& steps,
                                     const Section<std::vector<RankRow>>& rows, const Matching& matching,
                                     const ReportOptions& options);

/// Says how much of the waiting costs nothing now (10.4), by operation of the matching.
void set_slack(const Run& run, std::span<const Operation> operations, const std::vector<bool>& operation_has_slack,
               std::span<const std::int64_t> waits_ns, BlameSection& blame);

/// "compute", "the host", ...
[[nodiscard]] std::string_view words_of(DelayPart part);
/// Waits below this share of the ranks' time are not worth a table in the text.
inline constexpr double little_waiting = 0.005;
[[nodiscard]] double waiting_share(const BlameSection& section);

[[nodiscard]] Table blame_table(const BlameSection& section, std::size_t most);
[[nodiscard]] Table blame_group_table(const BlameSection& section, std::size_t most);
[[nodiscard]] std::vector<RankCell> waiting_cells(const BlameSection& section);
[[nodiscard]] std::vector<std::string> blame_notes(const BlameSection& section);
/// "of 3.30 s that ranks waited ..."
[[nodiscard]] std::string blame_explanation(const BlameSection& section);

/// What is said where hardly any waiting is known.
[[nodiscard]] std::string little_waiting_text(const Report& report);

/// Nothing if the section is there; of one rank nobody misses it.
[[nodiscard]] std::optional<Unavailable> absence_of_blame(const Report& report);
void add_blame(Page& page, const Report& report, const ReportOptions& options);
[[nodiscard]] nlohmann::ordered_json blame_json(const BlameSection& section);

void judge_waiting_without_steps(const RuleContext& context, std::vector<Finding>& findings);

namespace html {
void write_blame(Writer& page, const Source& source);
}  // namespace html

}  // namespace rankscope::analyzer
