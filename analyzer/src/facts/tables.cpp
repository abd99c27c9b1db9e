#include "facts/parts.h"

#include <algorithm>

#include "rankscope/core/format.h"
#include "render/noted_table.h"
#include "render/words.h"

namespace rankscope::analyzer {

namespace {

std::string ending_text(const RankFacts& facts) {
  switch (facts.ending) {
    case Ending::unknown:
      return std::string{empty_cell};
    case Ending::exited:
      return facts.exit_status == 0 ? "normally" : format("with status {}", facts.exit_status);
    case Ending::vanished:
      return "killed, crashed or called _exit";
  }
  return {};
}

bool ended_badly(const RankFacts& facts) {
  return facts.ending == Ending::vanished || (facts.ending == Ending::exited && facts.exit_status != 0);
}

}  // namespace

Table facts_table(const std::vector<RankFacts>& ranks, std::size_t limit) {
  Table table{{{"rank"},
               {"host", Align::left, 24},
               {"program", Align::left, 24},
               {"ended", Align::left},
               {"CPU"},
               {"peak memory"}},
              {}};
  for (const auto& facts : ranks) {
    if (table.rows.size() == limit) break;
    table.rows.push_back({{format("{}", facts.rank.value)},
                          {printable(facts.host)},
                          {printable(facts.program)},
                          {ending_text(facts), ended_badly(facts) ? Tone::bad : Tone::plain},
                          {facts.cpu_percent ? format("{:.0f} %", *facts.cpu_percent) : std::string{empty_cell}},
                          {facts.peak_rss_bytes ? bytes_text(*facts.peak_rss_bytes) : std::string{empty_cell}}});
  }
  return table;
}

void add_rank_facts(Page& page, const Report& report, const ReportOptions& options) {
  if (report.rank_facts.empty()) return;
  const auto limit = std::max<std::size_t>(16, options.top);
  page.heading("RANKS", report.steps ? "CPU = median of the samples in steps, 100 % is one core"
                                     : "CPU = median of the samples, 100 % is one core");
  page.table(facts_table(report.rank_facts, limit));
  add_left_out(page, left_out(report.rank_facts.size(), limit));
}

}  // namespace rankscope::analyzer
