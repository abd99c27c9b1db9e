// Tables with the words around them, for text and page alike.
#pragma once

#include <string>
#include <vector>

#include "render/left_out.h"
#include "render/page.h"

namespace rankscope::analyzer {

struct NotedTable {
  std::string title;  ///< "Why nothing ran"
  std::string what;   ///< what its numbers are; may be empty
  Table table;        ///< without columns: only words
  LeftOut left_out{};
  std::vector<std::string> notes{};  ///< how to read it, and what stands out
};

inline void add_left_out(Page& page, const LeftOut& left) {
  if (left.rows > 0) page.paragraph(in_text(left));
}

/// Heading, table and notes of each on a text page.
inline void add_noted_tables(Page& page, const std::vector<NotedTable>& tables) {
  for (const NotedTable& noted : tables) {
    std::string heading = noted.title;
    for (char& letter : heading)
      if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
    page.heading(heading, noted.what);
    if (!noted.table.columns.empty()) page.table(noted.table);
    add_left_out(page, noted.left_out);
    for (const std::string& note : noted.notes) page.paragraph(note, Tone::faint);
  }
}

}  // namespace rankscope::analyzer
