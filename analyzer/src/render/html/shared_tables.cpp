// Tables that text and page share: why nothing ran, overlap, launches, kernels, operators, copies.
#include "rankscope/core/format.h"
#include "render/copies.h"
#include "render/fusable.h"
#include "render/html/elements.h"
#include "render/html/sections.h"
#include "render/idle.h"
#include "render/kernels.h"
#include "render/launches.h"
#include "render/operators.h"
#include "render/overlap.h"

namespace rankscope::analyzer::html {
namespace {

void write_noted(Writer& page, const std::vector<NotedTable>& tables) {
  for (const NotedTable& noted : tables) {
    write_table(page, noted.table, noted.what.empty() ? noted.title : format("{}: {}", noted.title, noted.what));
    if (noted.left_out.rows > 0) page.element("p", on_page(noted.left_out));
    for (const std::string& note : noted.notes) page.element("p", note, {{"class", "faint"}});
  }
}

}  // namespace

void write_idle_reasons(Writer& page, const Source& source) {
  write_noted(page, idle_tables(source.report, most_rows(source.options)));
}
void write_launches(Writer& page, const Source& source) {
  write_noted(page, launch_tables(source.report, most_rows(source.options)));
}
void write_kernels(Writer& page, const Source& source) {
  write_noted(page, kernel_tables(source.report, most_rows(source.options)));
}
void write_fusable(Writer& page, const Source& source) {
  write_noted(page, fusable_tables(source.report, most_rows(source.options)));
}
void write_overlap(Writer& page, const Source& source) {
  write_noted(page, overlap_tables(source.report, most_rows(source.options)));
}
void write_operators(Writer& page, const Source& source) {
  write_noted(page, operator_tables(source.report, most_rows(source.options)));
}
void write_copies(Writer& page, const Source& source) {
  write_noted(page, copy_tables(source.report, most_rows(source.options)));
}

}  // namespace rankscope::analyzer::html
