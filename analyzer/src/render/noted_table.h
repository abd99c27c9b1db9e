// A table with the words around it, for text and page alike.
#pragma once

#include <string>

#include "render/page.h"

namespace rankscope::analyzer {

struct NotedTable {
  std::string what;  ///< what its numbers are; may be empty
  Table table;
  std::string note;  ///< how to read it
};

/// Heading, table and note of a text page.
inline void add_noted_table(Page& page, std::string_view title, const NotedTable& noted) {
  page.heading(title, noted.what);
  page.table(noted.table);
  page.paragraph(noted.note, Tone::faint);
}

}  // namespace rankscope::analyzer
