// The section on steps that were thinned out: how it is found, its tables and JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "collectives/find.h"
#include "rankscope/analyzer/options.h"
#include "rankscope/analyzer/thinned/section.h"
#include "render/page.h"
#include "render/source.h"

namespace rankscope::analyzer {

struct Report;

/// `steps`: all of them, some with sums only. Nothing if none of those asked for has sums.
[[nodiscard]] std::optional<ThinnedSection> find_thinned(const Run& run, const StepsSection& steps,
                                                         const Matching& matching,
                                                         const std::optional<StepRange>& asked);

/// "Steps 0 to 811 were thinned out ..."; empty if none were.
[[nodiscard]] std::string thinned_text(const Report& report);
[[nodiscard]] nlohmann::ordered_json thinned_json(const ThinnedSection& section);
/// Null, which is left out, if no step was thinned out.
[[nodiscard]] nlohmann::ordered_json thinned_json_of(const Source& source);
void add_thinned(Page& page, const Report& report, const ReportOptions& options);
void add_brief_thinned(Page& page, const Report& report, const ReportOptions& options, std::size_t most);
void keep_thinned_ranks(Report& report, const ReportOptions& options);

namespace html {
void write_thinned(Writer& page, const Source& source);
}  // namespace html

}  // namespace rankscope::analyzer
