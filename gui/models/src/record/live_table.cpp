#include "rankscope/gui/models/record/live_table.h"

#include <algorithm>

#include "rankscope/analyzer/words.h"
#include "rankscope/core/format.h"
#include "rankscope/gui/models/base/words.h"

namespace rankscope::gui {
namespace {

using recording::LiveProcess;
using recording::LiveSplit;

std::vector<TableColumn> live_columns() {
  const auto number = [](const QString& title, const QString& meaning) {
    return TableColumn{title, meaning, Align::right};
  };
  return {
      {LiveTable::tr("Process")},
      number(LiveTable::tr("Steps"), LiveTable::tr("Steps that have ended")),
      number(LiveTable::tr("Last"), LiveTable::tr("Duration of the last step")),
      number(LiveTable::tr("Median"), LiveTable::tr("Median duration of the latest steps (at most 256)")),
      number(LiveTable::tr("Compute"), LiveTable::tr("Share of the time of the latest steps")),
      number(LiveTable::tr("Communication"), LiveTable::tr("Not hidden by compute; includes waiting for other ranks")),
      number(LiveTable::tr("Copies"), LiveTable::tr("Copies on the device while nothing else runs on it")),
      number(LiveTable::tr("Data"), LiveTable::tr("Waiting for the data loader")),
      number(LiveTable::tr("Blocked"), LiveTable::tr("Waiting while nothing computes or communicates")),
      number(LiveTable::tr("Other"), LiveTable::tr("Time for which nothing was recorded")),
      number(LiveTable::tr("Host memory"), LiveTable::tr("Resident memory of the process now")),
      number(LiveTable::tr("Allocated"),
             LiveTable::tr(
                 "Memory allocated by the framework now, or memory used on the device if the framework reports none")),
      number(LiveTable::tr("Lost"), LiveTable::tr("Lost events"))};
}

QString duration(const std::optional<nanoseconds>& time) { return time ? time_text(*time) : QString{}; }

QString share(const std::optional<LiveSplit>& split, nanoseconds LiveSplit::*part) {
  if (!split) return {};
  const nanoseconds all =
      split->compute + split->communication + split->copies + split->data + split->wait + split->other;
  if (all <= nanoseconds{0}) return {};
  return percent_text(static_cast<double>(((*split).*part).count()) / static_cast<double>(all.count()));
}

QString bytes(const std::optional<double>& value) {
  return value ? qt_text(analyzer::bytes_text(static_cast<std::int64_t>(*value))) : QString{};
}

std::optional<double> device_memory(const LiveProcess& process) {
  if (const auto allocated = latest(process, "allocated_bytes")) return allocated;
  const auto used = std::ranges::find_if(process.memory, [](const auto& curve) { return is_of_device(curve.name); });
  if (used == process.memory.end()) return std::nullopt;
  return used->values.back().value;
}

}  // namespace

LiveTable::LiveTable(LivePreview& preview, QObject* parent)
    : TableModel(live_columns(), parent), preview_(preview), view_(preview.view()) {
  connect(&preview, &LivePreview::changed, this, &LiveTable::take);
}

/// Rows stay what they are as long as there are as many: who looks at one keeps it.
void LiveTable::take() {
  const auto now = preview_.view();
  const bool same = now->processes.size() == view_->processes.size();
  if (!same) beginResetModel();
  view_ = now;
  summaries_.clear();
  for (const LiveProcess& one : view_->processes) summaries_.push_back(summary_of(one));
  if (!same) return endResetModel();
  if (rowCount() > 0) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, lost));
}

QString LiveTable::text(std::size_t row, Column column) const {
  const LiveProcess& one = view_->processes[row];
  const LiveSummary& summary = summaries_[row];
  switch (column) {
    case process:
      return one.watched ? tr("%1 (only sampled)").arg(name_of(one)) : name_of(one);
    case steps:
      return QString::number(one.steps);
    case last:
      return duration(summary.last);
    case median:
      return duration(summary.median);
    case compute:
      return share(summary.split, &LiveSplit::compute);
    case communication:
      return share(summary.split, &LiveSplit::communication);
    case copies:
      return share(summary.split, &LiveSplit::copies);
    case data_wait:
      return share(summary.split, &LiveSplit::data);
    case wait:
      return share(summary.split, &LiveSplit::wait);
    case other:
      return share(summary.split, &LiveSplit::other);
    case host_memory:
      return bytes(latest(one, "rss_bytes"));
    case device_memory:
      return bytes(gui::device_memory(one));
    case lost:
      return one.dropped == 0 ? QString{} : QString::number(one.dropped);
  }
  return {};
}

QVariant LiveTable::cell(std::size_t row, int column, int role) const {
  return role == Qt::DisplayRole ? QVariant{text(row, static_cast<Column>(column))} : QVariant{};
}

}  // namespace rankscope::gui
