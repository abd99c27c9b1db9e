#include "rankscope/analyzer/report.h"
#include "render/html/elements.h"
#include "trend/parts.h"

namespace rankscope::analyzer::html {

void write_trend(Writer& page, const Source& source) {
  const TrendLines said = trend_lines(source.report, most_rows(source.options));
  for (const std::string& line : said.lines) page.element("p", line);
  if (said.left_out.rows > 0) page.element("p", on_page(said.left_out));
}

}  // namespace rankscope::analyzer::html
