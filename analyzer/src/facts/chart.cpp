#include <algorithm>

#include "facts/parts.h"
#include "rankscope/core/format.h"
#include "render/html/elements.h"
#include "render/left_out.h"

namespace rankscope::analyzer::html {

void write_ranks(Writer& page, const Source& source) {
  const auto& facts = source.report.rank_facts;
  if (facts.empty()) return;
  constexpr std::size_t most = 512;
  write_table(page, facts_table(facts, most), "Where each rank ran and how it ended");
  page.element("p", "CPU = median of the samples, 100 % is one core.", {{"class", "faint"}});
  if (facts.size() > most) page.element("p", only_in_json(facts.size() - most, "rank"));
}

void write_about(Writer& page, const Source& source) {
  if (source.report.facts.empty()) return;
  const auto list = page.scope("dl", {{"class", "facts"}});
  for (const auto& [name, value] : source.report.facts) {
    auto words = name;
    std::ranges::replace(words, '_', ' ');
    page.element("dt", words);
    page.element("dd", value);
  }
}

}  // namespace rankscope::analyzer::html
