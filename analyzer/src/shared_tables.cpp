// Tables that text and page share: why nothing ran, devices, data loading, overlap, launches, kernels, operators,
// copies.
#include "copies/tables.h"
#include "data_loading/tables.h"
#include "devices/tables.h"
#include "fusable/tables.h"
#include "render/html/elements.h"
#include "page_sections.h"
#include "split/idle_tables.h"
#include "kernels/tables.h"
#include "launches/tables.h"
#include "operators/tables.h"
#include "overlap/tables.h"
#include "predicted/tables.h"
#include "what_if/tables.h"

namespace rankscope::analyzer::html {
void write_idle_reasons(Writer& page, const Source& source) {
  write_noted_tables(page, idle_tables(source.report, most_rows(source.options)));
}
void write_devices(Writer& page, const Source& source) {
  write_noted_tables(page, device_tables(source.report, most_rows(source.options)));
}
void write_launches(Writer& page, const Source& source) {
  write_noted_tables(page, launch_tables(source.report, most_rows(source.options)));
}
void write_kernels(Writer& page, const Source& source) {
  write_noted_tables(page, kernel_tables(source.report, most_rows(source.options)));
}
void write_fusable(Writer& page, const Source& source) {
  write_noted_tables(page, fusable_tables(source.report, most_rows(source.options)));
}
void write_predicted(Writer& page, const Source& source) {
  write_noted_tables(page, predicted_tables(source.report, most_rows(source.options)));
}

void write_data_loading(Writer& page, const Source& source) {
  write_noted_tables(page, data_loading_tables(source.report, most_rows(source.options)));
}
void write_overlap(Writer& page, const Source& source) {
  write_noted_tables(page, overlap_tables(source.report, most_rows(source.options)));
}
void write_what_if(Writer& page, const Source& source) {
  write_noted_tables(page, what_if_tables(source.report, most_rows(source.options)));
}
void write_operators(Writer& page, const Source& source) {
  write_noted_tables(page, operator_tables(source.report, most_rows(source.options)));
}
void write_copies(Writer& page, const Source& source) {
  write_noted_tables(page, copy_tables(source.report, most_rows(source.options)));
}

}  // namespace rankscope::analyzer::html
