// The first lines of a report: who is slow, why, by how much, and what repairing it would give back.
#pragma once

#include <string>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/page.h"
#include "render/source.h"

namespace rankscope::analyzer {

/// One or two plain sentences. "No problem found" is said only if everything that it needs was recorded and computed.
struct Verdict {
  Tone tone = Tone::plain;
  std::string headline;
  std::vector<std::string> more;
};
[[nodiscard]] Verdict verdict_of(const Report& report);

/// "4 ranks", "3 of 4 ranks".
[[nodiscard]] std::string ranks_text(const Report& report);
/// What is left out of the sections below; empty if nothing is.
[[nodiscard]] std::string asked_for_text(const AskedFor& part);

void add_verdict(Page& page, const Report& report, const ReportOptions& options);
/// What was recorded, in a few lines.
void add_head(Page& page, const Report& report, const ReportOptions& options);
/// ", 57.0 ms of it in steps", where that is clearly less than what was recorded: the rest is in no sum.
[[nodiscard]] std::string in_steps_text(const Report& report);
/// The same in two lines, with its name, date and command, and with what limits the verdict.
void add_brief_head(Page& page, const Report& report, const ReportOptions& options, std::size_t most);

namespace html {
void write_verdict(Writer& page, const Source& source);
}  // namespace html

}  // namespace rankscope::analyzer
