// The one table of the sections of a report: what each answers, how it is found, and how it is shown.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/find.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/analyzer/steps/section.h"
#include "render/noted_table.h"
#include "render/source.h"
#include "replay/graph.h"
#include "steps/find.h"

namespace rankscope::analyzer {

/// What the sections hand on to those that need them.
struct Work {
  const Run& recorded;  ///< times as the ranks' own clocks showed them
  const Run& run;       ///< in run time
  const ReportOptions& options;
  ClockTrust clocks;
  Section<StepsSection> all_steps;  ///< whatever was asked for
  Matching matching;
  Quality quality;  ///< of the analyses; the run has its own
  Report report;
  std::string other_jobs;  ///< why the ranks are not compared; empty: they are
  std::vector<std::int64_t>
      waits_of_operations;  ///< exposed ones, parallel to the operations of the matching; for blame
  Section<replay::Graph> graph = unavailable("not computed");
  std::optional<StepsSection> with_thinned{};  ///< StepsResult::with_thinned
  std::string why_no_thinned{};                ///< StepsResult::why_no_thinned
};

/// One section, or a part of one: the next row of a report. Fields that a row leaves out do not apply to it.
struct SectionRow {
  std::string_view id;          ///< as in --only; on the page with '-' for '_'
  std::string_view title;       ///< heading of the page, and name under "not available"; empty: not on the page
  std::string_view question{};  ///< what it answers; empty: a part of another section, or of the whole report only
  std::string_view part_of{};   ///< the section with which it is chosen; empty with no question: only the whole report
  std::string_view needs{};     ///< sections that must be found before, "steps ranks"; "*" is all with a question
  void (*find)(Work& work) = nullptr;
  /// Why the section is not there; nothing if it is. Null only in rows without a question: a part of a section is there
  /// if its section is, and parts of the whole report always are.
  std::optional<Unavailable> (*absence)(const Report& report) = nullptr;
  /// What readers miss in a section that is there; empty: nothing.
  std::string (*lacks)(const Report& report) = nullptr;
  /// How a next recording gets the section; may be empty.
  std::string (*remedy)(const Report& report) = nullptr;
  /// False if what was found is worth a report only where the section was asked for by name; null: it always is.
  bool (*is_result)(const Report& report) = nullptr;
  /// Leaves out what is of ranks that were not asked for, when all sections are found: they compare with all ranks.
  void (*keep_ranks)(Report& report, const ReportOptions& options) = nullptr;
  /// At most `most` rows each, for text and page.
  std::vector<NotedTable> (*tables)(const Report& report, std::size_t most) = nullptr;
  /// In the place of tables where the text says more.
  void (*text)(Page& page, const Report& report, const ReportOptions& options) = nullptr;
  /// Its part of a text of one screen, at most `most` lines.
  void (*brief)(Page& page, const Report& report, const ReportOptions& options, std::size_t most) = nullptr;
  /// The most lines that `brief` is given; 0: what the other parts leave.
  std::size_t brief_lines = 0;
  /// In the place of tables where the page draws, too.
  void (*chart)(html::Writer& page, const Source& source) = nullptr;
  /// The place among the keys of the JSON report, which never changes; new keys come last.
  int json_place = 99;
  std::string_view json_key{};  ///< empty: the id
  nlohmann::ordered_json (*json)(const Source& source) = nullptr;

  /// The id that --only chooses it by; empty: it is in the whole report only.
  [[nodiscard]] constexpr std::string_view chosen_by() const { return question.empty() ? part_of : id; }
};

/// In the order of the report.
[[nodiscard]] std::span<const SectionRow> section_rows();
/// False where the reader asked for other sections only.
[[nodiscard]] bool is_shown(const SectionRow& row, const ReportOptions& options);
/// The row of an id that has a question; null for any other text.
[[nodiscard]] const SectionRow* section_row(std::string_view id);

}  // namespace rankscope::analyzer
