// The section on data quality and what is missing: its tables, JSON and picture.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/page.h"
#include "render/source.h"

namespace rankscope::analyzer {

/// One counter: "data loss", and what was lost where and what to do.
struct QualityWords {
  Cell kind;
  std::string text;
};
[[nodiscard]] QualityWords words_of(const QualityRow& row, std::string_view source);
void add_quality(Page& page, const Report& report, const ReportOptions& options);
void add_missing(Page& page, const Report& report, const ReportOptions& options);
/// What was lost or is an error, in one line; nothing where nothing is.
void add_brief_quality(Page& page, const Report& report, const ReportOptions& options, std::size_t most);
/// The names of what is not available in one line; where that limits the verdict, how the next recording gets it.
void add_brief_missing(Page& page, const Report& report, const ReportOptions& options, std::size_t most);
[[nodiscard]] nlohmann::ordered_json quality_json(const QualityRow& row, std::string_view source);

namespace html {
void write_quality(Writer& page, const Source& source);
void write_missing(Writer& page, const Source& source);
}  // namespace html

// What the report lacks, why, and how the next recording gets it.

/// A section that could not be computed: its name, the reason, and how a next recording gets it (may be empty).
struct MissingSection {
  std::string name;
  std::string why;
  std::string remedy;
};
/// The name of what was not asked for within sections that are there.
inline constexpr std::string_view details_name = "details";
/// In the place of any other remedy.
inline constexpr std::string_view one_job_at_a_time = "Run `rankscope report` on the files of each job separately.";
[[nodiscard]] std::string remedy_for_steps(const Report& report);
[[nodiscard]] std::string remedy_for_ranks(const Report& report);
[[nodiscard]] std::string remedy_for_memory(const Report& report);
[[nodiscard]] std::string remedy_for_stragglers(const Report& report);
[[nodiscard]] std::string remedy_for_collectives(const Report& report);
/// As remedy_for(); empty if the finding on ranks without a recording gives the same advice.
[[nodiscard]] std::string remedy_beside_finding(const Report& report, std::string_view id);
[[nodiscard]] std::vector<MissingSection> missing_sections(const Report& report);

}  // namespace rankscope::analyzer
