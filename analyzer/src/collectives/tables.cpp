#include "collectives/parts.h"

#include <algorithm>
#include <iterator>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/noted_table.h"
#include "render/words.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

Table collective_table(const std::vector<GroupRow>& groups, std::size_t limit) {
  Table table{{{"group", Align::left, 16},
               {"operation", Align::left, 16},
               {"count"},
               {"bytes"},
               {"waiting"},
               {"transfer"},
               {"bus bandwidth"}},
              {}};
  for (const auto& group : groups) {
    if (table.rows.size() == limit) break;
    table.rows.push_back(
        {{printable(group.group)},
         {printable(group.op)},
         {format("{}", group.count)},
         {group.bytes < 0 ? std::string{empty_cell} : bytes_text(group.bytes)},
         {group.without_wait == group.count ? std::string{empty_cell} : duration_text(group.wait_ns)},
         {group.without_transfer == group.count ? std::string{empty_cell} : duration_text(group.transfer_ns)},
         {group.busbw_gbps ? speed_text(*group.busbw_gbps) : std::string{empty_cell}}});
  }
  return table;
}

/// "No bandwidth is shown for some operations: the transfer was too short to measure; the number of bytes was not
/// recorded."; empty without reasons.
std::string none_where(std::string_view what, std::span<const std::string> reasons) {
  std::vector<std::string> unique;
  for (const auto& reason : reasons)
    if (!reason.empty() && std::ranges::find(unique, printable(reason)) == unique.end())
      unique.push_back(printable(reason));
  std::string note;
  for (const auto& reason : unique)
    note += (note.empty() ? format("No {} is shown for some operations: ", what) : "; ") + reason;
  return note.empty() ? note : note + ".";
}

std::string unknown_note(const std::vector<GroupRow>& groups) {
  std::vector<std::string> times;
  std::vector<std::string> bandwidths;
  for (const auto& group : groups) {
    if (group.without_wait == group.count) times.push_back(group.why_no_wait);
    if (group.without_transfer == group.count) times.push_back(group.why_no_transfer);
    if (!group.busbw_gbps) bandwidths.push_back(group.why_no_busbw);
  }
  std::string note = none_where("waiting or transfer", times);
  const std::string bandwidth = none_where("bandwidth", bandwidths);
  if (!note.empty() && !bandwidth.empty()) note += ' ';
  return note + bandwidth;
}

std::string matching_note(const CollectivesSection& section) {
  const auto all = section.matched + section.unmatched;
  return format("Calls were matched by {}; a partner was found for {} of {} calls.", printable(section.key),
                section.matched, all);
}

std::vector<std::string> unmatched_notes(const CollectivesSection& section) {
  constexpr std::size_t most = 4;
  std::vector<std::string> notes;
  for (const UnmatchedParts& parts : section.unmatched_parts) {
    if (notes.size() == most) {
      const std::size_t rest = section.unmatched_parts.size() - most;
      notes.push_back(format("{} of calls without a partner {} listed in the JSON report.", counted(rest, "more group"),
                             rest == 1 ? "is" : "are"));
      break;
    }
    notes.push_back(format("No partner was found for {} of {} in {}, the first on rank {} at {:.3f} s. Reason: {}.",
                           counted(parts.count, "call"), printable(parts.op), printable(parts.group), parts.rank.value,
                           static_cast<double>(ns_of(parts.first)) / 1e9, parts.why));
  }
  return notes;
}

}  // namespace

std::vector<NotedTable> collective_tables(const Report& report, std::size_t most) {
  if (!report.collectives) return {};
  const CollectivesSection& section = *report.collectives;
  NotedTable noted{"Collectives", "sums over all operations", {}};
  if (section.groups.empty()) {
    noted.notes.emplace_back("No collective was recorded.");
    return {std::move(noted)};
  }
  const auto limit = std::max<std::size_t>(16, most);
  noted.table = collective_table(section.groups, limit);
  noted.left_out = left_out(section.groups.size(), limit);
  noted.notes.push_back(matching_note(section) +
                        " Waiting lasts until the last rank has started, whatever made that rank late. Transfer lasts "
                        "from then until the median time at which the ranks finish the operation.");
  std::ranges::copy(unmatched_notes(section), std::back_inserter(noted.notes));
  if (const auto note = unknown_note(section.groups); !note.empty()) noted.notes.push_back(note);
  return {std::move(noted)};
}

}  // namespace rankscope::analyzer
