#include "render/copies.h"

#include <algorithm>
#include <utility>

#include "rankscope/core/format.h"
#include "render/means.h"
#include "render/words.h"
#include "units.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t widest_place = 26;
constexpr std::string_view none = "–";

std::int64_t parts_of(const CopiesSection& section) {
  return std::max<std::int64_t>(1, section.rank_steps > 0 ? section.rank_steps : section.ranks);
}

std::string bandwidth_text(const CopyRow& row) {
  if (!row.gbps) return std::string{none};
  return *row.gbps >= 100 ? format("{:.0f} GB/s", *row.gbps) : format("{:.3g} GB/s", *row.gbps);
}

Table copy_table(const CopiesSection& section, std::size_t limit) {
  Table table{{{"kind", Align::left}, {"memory", Align::left, 28}, {"calls"}, {"ms"}, {"bytes"}, {"bandwidth"}}, {}};
  const std::int64_t parts = parts_of(section);
  for (const CopyRow& row : section.copies) {
    if (table.rows.size() == limit) break;
    const bool told = row.bytes > 0 || row.gbps;
    table.rows.push_back({{printable(row.kind)},
                          {printable(row.memory)},
                          {mean_count(row.count, parts)},
                          {mean_ms(row.sum_ns, parts)},
                          {told ? bytes_text(row.bytes / parts) : std::string{none}},
                          {bandwidth_text(row)}});
  }
  return table;
}

struct Use {
  std::string_view what;
  const std::vector<HostCallRow>& rows;
};

Table call_table(const CopiesSection& section, std::size_t limit) {
  Table table{{{"what", Align::left},
               {"call", Align::left, 24},
               {"in operator", Align::left, widest_place},
               {"in annotation", Align::left, widest_place},
               {"calls"},
               {"ms"}},
              {}};
  const std::int64_t parts = parts_of(section);
  for (const Use& use : {Use{"sync", section.synchronizations}, Use{"copy", section.blocking_copies},
                         Use{"memory", section.allocations}}) {
    std::size_t shown = 0;
    for (const HostCallRow& row : use.rows) {
      if (shown++ == limit) break;
      table.rows.push_back({{std::string{use.what}},
                            {printable(row.call)},
                            {printable(row.op)},
                            {printable(row.range)},
                            {mean_count(row.count, parts)},
                            {mean_ms(row.ns, parts)}});
    }
  }
  return table;
}

}  // namespace

std::vector<NotedTable> copy_tables(const Report& report, std::size_t most) {
  if (!report.copies) return {};
  const CopiesSection& section = *report.copies;
  const std::string means =
      format("mean per {} of {}", section.rank_steps > 0 ? "step and rank" : "rank", counted(section.ranks, "rank"));
  std::vector<NotedTable> tables;
  if (!section.copies.empty()) tables.push_back({"Copies", means, copy_table(section, most), {}});
  Table calls = call_table(section, most);
  if (calls.rows.empty()) return tables;
  tables.push_back({"Host held up",
                    means + "; calls that wait for the device, or allocate",
                    std::move(calls),
                    {"sync: waits for the device; copy: returns only when the copy is done, or copies pageable memory; "
                     "memory: allocates or frees behind the first step."}});
  return tables;
}

}  // namespace rankscope::analyzer
