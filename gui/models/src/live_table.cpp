#include "rankscope/gui/models/live_table.h"

#include <algorithm>
#include <array>

#include "rankscope/analyzer/words.h"
#include "rankscope/core/format.h"
#include "rankscope/gui/models/words.h"

namespace rankscope::gui {
namespace {

using recording::LiveProcess;
using recording::LiveSplit;

struct Head {
  const char* title;
  const char* meaning;
};
constexpr std::array<Head, LiveTable::column_count> heads{{
    {"Process", ""},
    {"Steps", "that have ended"},
    {"Last", "duration of the last step"},
    {"Median", "of the durations of the last 256 steps at most"},
    {"Compute", "share of the last steps"},
    {"Communication", "not hidden by compute; waiting for other ranks is in it"},
    {"Copies", "on the device, hidden by nothing"},
    {"Data", "waiting for the loader"},
    {"Blocked", "waiting, while nothing is computed or communicated"},
    {"Other", "of which nothing was told"},
    {"Host memory", "resident, now"},
    {"Allocated", "by the framework, else used on the device, now"},
    {"Lost", "events"},
}};

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
    : QAbstractTableModel(parent), preview_(preview), view_(preview.view()) {
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
  if (rowCount() > 0) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, column_count - 1));
}

int LiveTable::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(view_->processes.size());
}

int LiveTable::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int{column_count}; }

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
    case column_count:
      break;
  }
  return {};
}

QVariant LiveTable::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  if (role == Qt::DisplayRole) return text(static_cast<std::size_t>(index.row()), static_cast<Column>(index.column()));
  if (role == Qt::TextAlignmentRole && index.column() != process) return int{Qt::AlignRight | Qt::AlignVCenter};
  return {};
}

QVariant LiveTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= column_count) return {};
  const Head& head = heads[static_cast<std::size_t>(section)];
  if (role == Qt::DisplayRole) return QString::fromLatin1(head.title);
  if (role == Qt::ToolTipRole) return QString::fromLatin1(head.meaning);
  return {};
}

}  // namespace rankscope::gui
