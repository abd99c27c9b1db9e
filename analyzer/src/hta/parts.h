// The section on HTA's numbers beside ours: its tables, JSON and picture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/hta/section.h"
#include "render/left_out.h"
#include "render/page.h"
#include "render/source.h"

namespace rankscope::analyzer {

struct Report;

inline constexpr std::string_view hta_explanation = "what HolisticTraceAnalysis 0.6.1 says about the same trace";

/// What is said of all of them.
[[nodiscard]] std::string_view hta_note(HtaLastStep last_step);
/// Percent of the kernel time, as HTA rounds.
[[nodiscard]] double hta_share(std::int64_t part_ns, const HtaTimes& times);

/// Why HTA's numbers differ from ours, under the titles of its columns.
struct HtaReason {
  std::string_view number;
  std::string why;
};

struct HtaTable {
  std::string_view title;
  Table table;  ///< without columns: only words
  LeftOut left_out{};
  std::vector<HtaReason> reasons{};
};

/// At most `most` rows of each, but 16 ranks. Not to be called where the section is missing.
[[nodiscard]] std::vector<HtaTable> hta_tables(const Report& report, std::size_t most);
/// What is true of all tables.
[[nodiscard]] std::vector<std::string> hta_notes(const Report& report);

/// Nothing if they are there; nobody misses them who did not ask for them.
[[nodiscard]] std::optional<Unavailable> absence_of_hta(const Report& report);
/// Nothing if they were not asked for.
void add_hta(Page& page, const Report& report, const ReportOptions& options);
[[nodiscard]] nlohmann::ordered_json hta_json(const Section<HtaSection>& section);

namespace html {
void write_hta(Writer& page, const Source& source);
}  // namespace html

}  // namespace rankscope::analyzer
