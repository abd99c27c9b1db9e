// The section on findings: its tables, JSON and picture.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "rankscope/analyzer/report.h"
#include "render/page.h"
#include "render/source.h"

namespace rankscope::analyzer {

[[nodiscard]] Tone tone_of(FindingSeverity severity);
void add_findings(Page& page, const Report& report, const ReportOptions& options);
[[nodiscard]] nlohmann::ordered_json finding_json(const Finding& row);

namespace html {
void write_findings(Writer& page, const Source& source);
}  // namespace html

}  // namespace rankscope::analyzer
