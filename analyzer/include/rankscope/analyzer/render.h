// A Report as text for people, as a page to send around, and as JSON for programs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/colour.h"
#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

/// At most 100 columns wide; of TextLength::one_screen at most 60 lines, too.
[[nodiscard]] std::string render_text(const Report& report, const Run& run, const ReportOptions& options,
                                      Colour colour);

/// Schema rankscope.report/1; deterministic.
[[nodiscard]] std::string render_json(const Report& report, const Run& run, const ReportOptions& options);

/// One HTML page that needs no other file and no network; deterministic.
[[nodiscard]] std::string render_html(const Report& report, const Run& run, const ReportOptions& options);

/// The verdict as text and page have it, a sentence or two each; the headline first.
[[nodiscard]] std::vector<std::string> verdict_sentences(const Report& report);

/// What makes findings unsure, or could hide others, a sentence each: a cut or other losses, and what cannot be told.
[[nodiscard]] std::vector<std::string> doubts_about(const Report& report);

/// How a next recording gets an analysis that is not available ("steps", "memory", ...); may be empty.
[[nodiscard]] std::string remedy_for(const Report& report, std::string_view id);

}  // namespace rankscope::analyzer
