// What only ranks with an accelerator have: why nothing ran on it, and how it was fed.
#include "rankscope/core/format.h"
#include "render/html/elements.h"
#include "render/html/sections.h"
#include "render/idle.h"
#include "render/launches.h"

namespace rankscope::analyzer::html {
namespace {

constexpr std::size_t most_rows = 25;

void write_noted(Writer& page, const std::optional<NotedTable>& noted, std::string_view caption) {
  if (!noted) return;
  write_table(page, noted->table, noted->what.empty() ? std::string{caption} : format("{}; {}", caption, noted->what));
  page.element("p", noted->note, {{"class", "faint"}});
}

}  // namespace

void write_idle_reasons(Writer& page, const Source& source) {
  write_noted(page, idle_reasons(source.report, most_rows), "Reasons of idle time");
}

void write_launches(Writer& page, const Source& source) {
  write_noted(page, launch_table(source.report, most_rows), "Launches");
}

}  // namespace rankscope::analyzer::html
