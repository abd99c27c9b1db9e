#include "copies/merge.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "math/checked_product.h"
#include "steps/window_time.h"

namespace rankscope::analyzer {
namespace {

std::optional<std::string_view> behind(std::string_view text, std::string_view front) {
  if (!text.starts_with(front)) return std::nullopt;
  return text.substr(front.size());
}

/// "Memcpy HtoD (Pageable -> Device)" is HtoD between Pageable and Device.
CopyRow row_named(std::string_view name) {
  CopyRow row;
  const std::size_t open = name.find(" (");
  if (open != std::string_view::npos && name.ends_with(')')) row.memory = name.substr(open + 2, name.size() - open - 3);
  const std::string_view head = name.substr(0, open);
  if (const auto kind = behind(head, "Memcpy "))
    row.kind = *kind;
  else
    row.kind = head.starts_with("Memset") ? "memset" : "other";
  return row;
}

std::optional<std::string> text_in(const CopiesPart& part, std::uint32_t row) {
  return row == no_text ? std::nullopt : std::optional{part.texts[row]};
}

/// What a program allocates while it starts up is no cost of its steps.
bool is_start_up(const CopiesPart::Calls& calls, RunTime cell_begin, std::optional<RunTime> first_step_end) {
  if (calls.use != CallUse::allocation) return false;
  return first_step_end ? cell_begin < *first_step_end : calls.before_work;
}

}  // namespace

/// Sizes are added as long as they fit; those of one cell only together.
void CopiesMerge::Sums::add(const CopiesPart::Copies& more) {
  row.count += more.count;
  row.sum_ns += more.sum_ns;
  row.too_large += more.too_large;
  if (!add_fits(row.bytes, more.bytes)) {
    row.too_large += more.sized;
    row.unmeasured += more.count;
    return;
  }
  row.unmeasured += more.unmeasured;
  measured_bytes += more.measured_bytes;
  measured_ns += more.measured_ns;
}

CopyRow CopiesMerge::Sums::finish() && {
  if (measured_ns > 0) row.gbps = static_cast<double>(measured_bytes) / static_cast<double>(measured_ns);
  return std::move(row);
}

void CopiesMerge::add_copies(const CountedCells& counted, const CopiesPart& part) {
  for (const CopiesPart::Copies& copies : part.copies) {
    if (copies.count == 0 || !counted.begins[copies.cell]) continue;
    const std::string& name = part.texts[copies.name];
    const auto [sums, added] = by_name_.try_emplace(name);
    if (added) sums->second.row = row_named(name);
    sums->second.add(copies);
  }
  for (const CopiesPart::Copies& copies : part.copies) {
    if (copies.exposed_ns == 0 || !counted.time[copies.cell]) continue;
    const auto sums = by_name_.find(part.texts[copies.name]);
    if (sums != by_name_.end()) sums->second.row.exposed_ns += copies.exposed_ns;  // else only outside of the windows
  }
}

void CopiesMerge::add_call(const CopiesPart& part, const CopiesPart::Calls& calls) {
  CallSum& sum = calls_[{calls.use, part.texts[calls.call], text_in(part, calls.op), text_in(part, calls.range)}];
  sum.count += calls.count;
  sum.ns += calls.ns;
}

void CopiesMerge::add(const CountedRank& rank, const CopiesPart& part, std::optional<RunTime> first_step_end) {
  ++ranks_;
  rank_steps_ += rank.windows.steps;
  add_copies(counted_cells(rank), part);
  const WindowTime window_time{rank.windows};
  for (const CopiesPart::Calls& calls : part.calls) {
    const RunTime begin = rank.cells.range(calls.cell).begin;
    if (!is_start_up(calls, begin, first_step_end) && window_time.counts(begin)) add_call(part, calls);
  }
}

std::vector<HostCallRow> CopiesMerge::rows_of(CallUse use) const {
  std::vector<HostCallRow> rows;
  for (const auto& [place, sum] : calls_)
    if (place.use == use)
      rows.push_back({place.call, place.op.value_or(""), place.range.value_or(""), sum.count, sum.ns});
  std::ranges::stable_sort(rows, [](const HostCallRow& a, const HostCallRow& b) {
    return std::tie(b.ns, a.call, a.op, a.range) < std::tie(a.ns, b.call, b.op, b.range);
  });
  return rows;
}

CopiesSection CopiesMerge::finish() && {
  CopiesSection section;
  for (auto& [name, sums] : by_name_) section.copies.push_back(std::move(sums).finish());
  std::ranges::stable_sort(section.copies, [](const CopyRow& a, const CopyRow& b) {  // else by name
    return std::tie(b.sum_ns, a.kind, a.memory) < std::tie(a.sum_ns, b.kind, b.memory);
  });
  section.blocking_copies = rows_of(CallUse::copy);
  section.synchronizations = rows_of(CallUse::synchronization);
  section.allocations = rows_of(CallUse::allocation);
  section.ranks = ranks_;
  section.rank_steps = rank_steps_;
  return section;
}

}  // namespace rankscope::analyzer
