#include "data_loading/parts.h"

#include <algorithm>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/means.h"

namespace rankscope::analyzer {
namespace {

bool any_of_kind(const DataLoadingSection& section, LoaderWorkers kind) {
  return std::ranges::find(section.rows, kind, &DataLoadingRow::kind) != section.rows.end();
}

std::vector<Cell> cells_of(const DataLoadingRow& row) {
  const Means means{1, row.steps};
  const bool known = row.kind == LoaderWorkers::recorded;
  const auto share = [&](std::int64_t part) {
    return known && row.waiting_ns > 0 ? share_text(part, row.waiting_ns) : std::string{"–"};
  };
  const std::string workers = row.kind == LoaderWorkers::none ? "0" : known ? format("{}", row.workers) : "?";
  return {{format("{}", row.rank.value)},
          {means.count(row.waits)},
          {means.ms(row.waiting_ns)},
          {share_text(row.waiting_ns, row.window_ns)},
          {workers},
          {share(row.all_busy_ns)},
          {share(row.some_busy_ns)},
          {share(row.none_busy_ns)},
          {row.batches > 0 ? Means{1, row.batches}.ms(row.batches_ns) : "–"},
          {row.ready_ahead ? format("{:.1f}", *row.ready_ahead) : "–"}};
}

void add_notes(const DataLoadingSection& section, NotedTable& noted) {
  if (any_of_kind(section, LoaderWorkers::recorded))
    noted.notes.emplace_back(
        "All busy, some, none: how much of the waiting time passed while all, some or none of the workers were "
        "loading. Waiting while all are loading: there are too few workers, or they are too slow. Waiting while none "
        "is loading: the data was already loaded but took long to reach the rank, or the training thread loads data, "
        "too. Ready: the mean "
        "number of batches that were already loaded when a wait began.");
  if (any_of_kind(section, LoaderWorkers::not_in_recording))
    noted.notes.emplace_back(
        "?: the work of the loader workers was not recorded (in PyTorch they are separate processes), so it is not "
        "known whether they were busy while the rank waited.");
  if (any_of_kind(section, LoaderWorkers::none))
    noted.notes.emplace_back("0 workers: the training thread loads its batches itself.");
}

}  // namespace

std::vector<NotedTable> data_loading_tables(const Report& report, std::size_t most) {
  if (!report.data_loading) return {};
  std::vector<DataLoadingRow> rows = report.data_loading->rows;
  std::ranges::stable_sort(rows, std::ranges::greater{}, &DataLoadingRow::waiting_ns);
  const bool steps = std::ranges::any_of(rows, [](const DataLoadingRow& row) { return row.steps > 0; });
  NotedTable noted{"Data loading", steps ? "mean per step" : "whole recording",
                   Table{{{"rank"},
                          {"waits"},
                          {"waiting ms"},
                          {"of time"},
                          {"workers"},
                          {"all busy"},
                          {"some"},
                          {"none"},
                          {"ms per batch"},
                          {"ready"}},
                         {}},
                   left_out(rows.size(), most)};
  rows.resize(rows.size() - noted.left_out.rows);
  for (const DataLoadingRow& row : rows) noted.table.rows.push_back(cells_of(row));
  add_notes(*report.data_loading, noted);
  return {std::move(noted)};
}

}  // namespace rankscope::analyzer
