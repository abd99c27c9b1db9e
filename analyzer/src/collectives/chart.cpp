// Operations between ranks: how often, how much, waiting and moving.
#include "collectives/parts.h"
#include "rankscope/core/format.h"
#include "render/html/elements.h"

namespace rankscope::analyzer::html {

void write_collectives(Writer& page, const Source& source) {
  if (!source.report.collectives) return;
  const auto& section = *source.report.collectives;
  if (section.groups.empty()) {
    page.element("p", "None was recorded.");
    return;
  }
  constexpr std::size_t most = 200;
  write_table(page, collective_table(section.groups, most), "Communication by group and operation");
  if (section.groups.size() > most)
    page.element("p", format("{} more; the JSON report has all.", section.groups.size() - most));
  page.element("p",
               "Waiting is for the last rank, whatever made it late, summed over the ranks; moving data is from its "
               "arrival to the median end. " +
                   matching_note(section),
               {{"class", "faint"}});
  for (const std::string& note : unmatched_notes(section)) page.element("p", note, {{"class", "faint"}});
  if (const auto note = unknown_note(section.groups); !note.empty()) page.element("p", note, {{"class", "faint"}});
}

}  // namespace rankscope::analyzer::html
