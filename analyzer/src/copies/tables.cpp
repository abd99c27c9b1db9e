#include "copies/parts.h"

#include <algorithm>
#include <span>
#include <utility>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/means.h"
#include "render/words.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t widest_call = 26;

std::string bandwidth_text(const CopyRow& row) {
  if (!row.gbps) return std::string{empty_cell};
  return *row.gbps >= 100 ? format("{:.0f} GB/s", *row.gbps) : format("{:.3g} GB/s", *row.gbps);
}

Table copy_table(const CopiesSection& section, const Means& means, std::size_t limit) {
  Table table{{{"kind", Align::left}, {"memory", Align::left, 28}, {"calls"}, {"ms"}, {"bytes"}, {"bandwidth"}}, {}};
  for (const CopyRow& row : section.copies) {
    if (table.rows.size() == limit) break;
    const bool known = row.bytes > 0 || row.gbps;
    table.rows.push_back({{printable(row.kind)},
                          {printable(row.memory)},
                          {means.count(row.count)},
                          {means.ms(row.sum_ns)},
                          {known ? bytes_text(row.bytes / means.parts()) : std::string{empty_cell}},
                          {bandwidth_text(row)}});
  }
  return table;
}

struct Use {
  std::string_view what;
  const std::vector<HostCallRow>& rows;
};

/// At most `limit` rows of each use.
NotedTable call_table(const CopiesSection& section, const Means& means, std::size_t limit) {
  NotedTable noted{"Host held up", means.words() + "; calls that wait for the device or allocate memory",
                   Table{{{"what", Align::left},
                          {"call", Align::left, 24},
                          {"in operator", Align::left, widest_call},
                          {"in annotation", Align::left, widest_call},
                          {"calls"},
                          {"ms"}},
                         {}}};
  for (const Use& use : {Use{"sync", section.synchronizations}, Use{"copy", section.blocking_copies},
                         Use{"memory", section.allocations}}) {
    const LeftOut left = left_out(use.rows.size(), limit);
    noted.left_out.rows += left.rows;
    noted.left_out.top = std::max(noted.left_out.top, left.top);
    for (const HostCallRow& row : std::span{use.rows}.first(use.rows.size() - left.rows))
      noted.table.rows.push_back({{std::string{use.what}},
                                  {printable(row.call)},
                                  {printable(row.op)},
                                  {printable(row.range)},
                                  {means.count(row.count)},
                                  {means.ms(row.ns)}});
  }
  noted.notes.push_back(
      format("sync: the call waits for the device. copy: the call returns only when the copy is done, or copies "
             "pageable memory. memory: the call allocates or frees memory after the first {}.",
             section.rank_steps > 0 ? "step" : "device work"));
  return noted;
}

}  // namespace

std::vector<NotedTable> copy_tables(const Report& report, std::size_t most) {
  if (!report.copies) return {};
  const CopiesSection& section = *report.copies;
  const Means means{section.ranks, section.rank_steps};
  std::vector<NotedTable> tables;
  if (!section.copies.empty()) {
    tables.push_back(
        {"Copies", means.words(), copy_table(section, means, most), left_out(section.copies.size(), most)});
    std::int64_t too_large = 0;
    for (const CopyRow& row : section.copies) too_large += row.too_large;
    if (too_large > 0)
      tables.back().notes.push_back(format("The byte totals leave out {} whose size is impossible or too large to add.",
                                           counted(too_large, "copy record")));
  }
  if (NotedTable calls = call_table(section, means, most); !calls.table.rows.empty())
    tables.push_back(std::move(calls));
  return tables;
}

}  // namespace rankscope::analyzer
