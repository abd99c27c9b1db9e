#include "rankscope/gui/models/memory/memory_model.h"

#include <algorithm>
#include <utility>

#include "rankscope/analyzer/report.h"
#include "rankscope/analyzer/words.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/models/session/moments.h"

namespace rankscope::gui {
namespace {

using analyzer::MemoryQuantity;

QString size_text(std::int64_t bytes) { return qt_text(analyzer::bytes_text(bytes)); }

/// The report's words for a place: "aten::mm in Linear"; empty where it is not known.
QString place_words(const analyzer::AllocationPlace& place) {
  if (place.op.empty()) return qt_text(place.range);
  const std::string op = analyzer::short_kernel_name(place.op);
  return place.outer.empty() ? qt_text(op) : MemoryModel::tr("%1 in %2").arg(qt_text(op), qt_text(place.outer));
}

QString holders_text(const analyzer::DeviceMemory& memory) {
  constexpr std::size_t most = 5;
  if (!memory.holders) return {};
  QString text;
  for (std::size_t i = 0; i < std::min(most, memory.holders->rows.size()); ++i) {
    const analyzer::MemoryHolder& holder = memory.holders->rows[i];
    text += MemoryModel::tr("\nheld by %1: %2").arg(place_words(holder.place), size_text(holder.bytes));
  }
  return text;
}

const analyzer::DeviceMemory* device_of(const analyzer::Report* report, const analyzer::MemoryLine& line) {
  if (report == nullptr || !report->memory) return nullptr;
  const auto kind =
      line.quantity == MemoryQuantity::host_allocated ? analyzer::MemoryKind::host : analyzer::MemoryKind::device;
  for (const analyzer::DeviceMemory& memory : report->memory->devices)
    if (memory.rank == line.rank && memory.kind == kind && memory.device == line.device) return &memory;
  return nullptr;
}

const analyzer::MemoryPeak* resident_peak(const analyzer::Report* report, RankId rank) {
  if (report == nullptr || !report->memory) return nullptr;
  const auto found = std::ranges::find(report->memory->hosts, rank, &analyzer::HostMemory::rank);
  return found == report->memory->hosts.end() ? nullptr : &found->resident;
}

std::vector<TableColumn> memory_columns() {
  const auto number = [](const QString& title) { return TableColumn{.title = title, .align = Align::right}; };
  return {{MemoryModel::tr("Rank")},         number(MemoryModel::tr("Peak in view")),
          number(MemoryModel::tr("Time")),   number(MemoryModel::tr("Step")),
          {MemoryModel::tr("Allocated in")}, {MemoryModel::tr("Peak of the run")}};
}

}  // namespace

MemoryModel::MemoryModel(Session& session, QObject* parent) : TableModel(memory_columns(), parent), session_(session) {
  connect(&session, &Session::runOpened, this, &MemoryModel::forget);
  connect(&session, &Session::runChanged, this, &MemoryModel::ask);
  connect(&session, &Session::filterChanged, this, &MemoryModel::list_rows);
  connect(&session, &Session::reportChanged, this, &MemoryModel::list_rows);
  connect(&session, &Session::visibleRangeChanged, this, &MemoryModel::find_peaks);
}

MemoryModel::Lines::Lines(const Run& run) : all(analyzer::memory_lines(run)), peaks(all.begin(), all.end()) {}

void MemoryModel::forget() {
  job_.cancel();
  beginResetModel();
  rows_.clear();
  lines_.reset();
  lines_of_.reset();
  choices_.clear();
  choice_ = -1;
  endResetModel();
  Q_EMIT choicesChanged();
}

void MemoryModel::set_active(bool active) {
  active_ = active;
  if (!active) return;
  ask();
  find_peaks();
}

void MemoryModel::ask() {
  if (!active_ || session_.run() == nullptr || lines_of_ == session_.run()) return;
  job_.start([this, run = session_.run()](const std::stop_token&) -> LatestJob::Delivery {
    const auto lines = std::make_shared<const Lines>(*run);
    return [this, run, lines] { take(lines, run); };
  });
}

void MemoryModel::take(std::shared_ptr<const Lines> lines, const std::shared_ptr<const Run>& run) {
  const Choice chosen = choice_ < 0 ? Choice{} : choices_[static_cast<std::size_t>(choice_)];
  beginResetModel();
  rows_.clear();
  lines_ = std::move(lines);
  lines_of_ = run;
  choices_.clear();
  for (const analyzer::MemoryLine& line : lines_->all)
    if (const Choice choice{line.quantity, line.device}; choices_.empty() || choices_.back() != choice)
      choices_.push_back(choice);
  const auto found = std::ranges::find(choices_, chosen);
  choice_ = choices_.empty() ? -1 : (found == choices_.end() ? 0 : static_cast<int>(found - choices_.begin()));
  endResetModel();
  Q_EMIT choicesChanged();
  list_rows();
}

void MemoryModel::set_choice(int choice) {
  if (choice == choice_ || choice < 0 || choice >= static_cast<int>(choices_.size())) return;
  choice_ = choice;
  list_rows();
}

void MemoryModel::list_rows() {
  beginResetModel();
  rows_.clear();
  if (lines_ != nullptr && choice_ >= 0) {
    const auto& ranks = session_.filter().ranks;
    for (const MemoryPeaks& peaks : lines_->peaks) {
      const analyzer::MemoryLine& line = peaks.line();
      const bool wanted = ranks.empty() || std::ranges::find(ranks, line.rank) != ranks.end();
      if (wanted && Choice{line.quantity, line.device} == choices_[static_cast<std::size_t>(choice_)])
        rows_.push_back({&peaks, peaks.in(session_.visible())});
    }
  }
  endResetModel();
  Q_EMIT peaksChanged();
}

void MemoryModel::find_peaks() {
  if (!active_ || rows_.empty()) return;
  for (Row& row : rows_) row.peak = row.peaks->in(session_.visible());
  Q_EMIT dataChanged(index(0, peak), index(rowCount() - 1, where));
  Q_EMIT peaksChanged();
}

QStringList MemoryModel::choices() const {
  QStringList names;
  for (const Choice& choice : choices_) {
    const QString name = qt_text(analyzer::words_of(choice.quantity));
    names.append(choice.device < 0 ? name : tr("%1 (device %2)").arg(name).arg(choice.device));
  }
  return names;
}

QString MemoryModel::caption() const {
  if (rows_.empty()) return {};
  const bool sampled = std::ranges::any_of(rows_, [](const Row& row) { return row.peaks->line().sampled; });
  const bool growth = std::ranges::any_of(rows_, [](const Row& row) { return row.peaks->line().changes_only; });
  QString text = sampled ? tr("Bytes (1 GB = 1,000 MB), sampled: peaks between two samples are missed.")
                         : tr("Bytes (1 GB = 1,000 MB), after each allocation and release.");
  if (growth) text += tr(" No totals were recorded; the values are the growth since the start of the recording.");
  return text;
}

QString MemoryModel::why_empty() const {
  if (!rows_.empty()) return {};
  if (session_.run() == nullptr) return tr("Open a recording to see its memory.");
  if (lines_ == nullptr) return tr("Reading...");
  if (lines_->all.empty()) return tr("No allocations or memory counters were recorded.");
  return tr("No memory of this kind was recorded for the chosen ranks.");
}

std::int64_t MemoryModel::highest() const {
  std::int64_t most = 0;
  for (const Row& row : rows_)
    if (row.peak) most = std::max(most, row.peak->bytes);
  return most;
}

int MemoryModel::selected_row() const {
  if (!session_.selection()) return -1;
  const Run& run = *session_.run();
  const RankId wanted = run.lane(run.span(*session_.selection()).lane).rank;
  const auto found = std::ranges::find_if(rows_, [wanted](const Row& row) { return row.peaks->line().rank == wanted; });
  return found == rows_.end() ? -1 : static_cast<int>(found - rows_.begin());
}

QString MemoryModel::sentence(int row, RunTime moment) const {
  const analyzer::MemoryLine& one = line(row);
  const auto after = std::ranges::upper_bound(one.values, moment, {}, &analyzer::MemoryValue::time);
  const QString who = qt_text(format("rank {}", one.rank.value));
  const QString time = time_text(moment - session_.run()->extent().begin);
  if (after == one.values.begin()) return tr("%1: nothing was recorded before %2").arg(who, time);
  const analyzer::MemoryValue& value = *std::prev(after);
  QString text = tr("%1: %2 at %3").arg(who, size_text(value.bytes), time);
  if (const auto* const in = step_at(session_.report().get(), one.rank, moment)) text += tr(", step %1").arg(in->index);
  const QString place = place_text(value);
  return place.isEmpty() ? text : text + tr(", last changed in %1").arg(place);
}

QString MemoryModel::place_text(const analyzer::MemoryValue& value) const {
  return value.place.is_set() ? qt_text(analyzer::short_kernel_name(session_.run()->text(value.place))) : QString{};
}

const analyzer::MemoryPeak* MemoryModel::peak_of_run(int row) const {
  const analyzer::Report* const report = session_.report().get();
  const analyzer::DeviceMemory* const device = device_of(report, line(row));
  switch (line(row).quantity) {
    case MemoryQuantity::allocated:
    case MemoryQuantity::host_allocated:
      return device == nullptr ? nullptr : &device->allocated;
    case MemoryQuantity::reserved:
      return device == nullptr ? nullptr : &device->reserved;
    case MemoryQuantity::resident:
      return resident_peak(report, line(row).rank);
    case MemoryQuantity::pools:
    case MemoryQuantity::used:
      break;  // the report does not follow them
  }
  return nullptr;
}

QString MemoryModel::run_peak_text(int row) const {
  const analyzer::MemoryPeak* const most = peak_of_run(row);
  if (most == nullptr) {
    const auto found = peaks(row).in(session_.extent());
    return found ? size_text(found->bytes) : QString{};
  }
  if (!most->bytes) return qt_text(most->why);
  QString text = size_text(*most->bytes);
  if (most->step) text += tr(", step %1").arg(*most->step);
  if (!most->time_ns) return text + tr(", at a time between two samples");
  const QString place = place_words(most->place);
  return place.isEmpty() ? text : text + tr(", %1").arg(place);
}

QString MemoryModel::text_of(int row, Column column) const {
  const auto& most = peak_in_sight(row);
  switch (column) {
    case rank:
      return qt_text(format("rank {}", line(row).rank.value));
    case peak:
      return most ? size_text(most->bytes) : tr("no sample");
    case when:
      return most ? time_text(most->time - session_.run()->extent().begin) : QString{};
    case step: {
      const auto* const in = most ? step_at(session_.report().get(), line(row).rank, most->time) : nullptr;
      return in == nullptr ? QString{} : QString::number(in->index);
    }
    case where:
      return most ? place_text(*most) : QString{};
    case run_peak:
      return run_peak_text(row);
  }
  return {};
}

QString MemoryModel::tip_of(int row, Column column) const {
  if (column != run_peak) return tr("Click to go to this peak.");
  const analyzer::DeviceMemory* const device = device_of(session_.report().get(), line(row));
  QString tip = run_peak_text(row) + tr("\nClick to go there.");
  if (device == nullptr) return tip;
  if (device->total_bytes) tip += tr("\nTotal memory: %1").arg(size_text(*device->total_bytes));
  if (device->left_bytes) tip += tr("\nMemory that was never reserved: %1").arg(size_text(*device->left_bytes));
  return line(row).quantity == MemoryQuantity::reserved ? tip : tip + holders_text(*device);
}

void MemoryModel::go_to(int row, RunTime moment) {
  if (row >= 0 && row < rowCount()) go_to_moment(session_, line(row).rank, moment);
}

void MemoryModel::go_to_peak(int row) {
  if (row < 0 || row >= rowCount() || !peak_in_sight(row)) return;
  const analyzer::MemoryValue most = *peak_in_sight(row);  // going there may change what is in sight
  go_to_moment(session_, line(row).rank, most.time, most.place);
}

void MemoryModel::go_to_run_peak(int row) {
  if (row < 0 || row >= rowCount()) return;
  const analyzer::MemoryPeak* const most = peak_of_run(row);
  const auto found = peaks(row).in(session_.extent());
  if (most == nullptr ? !found.has_value() : !most->time_ns.has_value()) return;
  if (most == nullptr) return go_to_moment(session_, line(row).rank, found->time, found->place);
  go_to_moment(session_, line(row).rank, at(*most->time_ns), session_.run()->strings().find(most->place.op));
}

QVariant MemoryModel::cell(std::size_t row, int column, int role) const {
  if (role == Qt::ToolTipRole) return tip_of(static_cast<int>(row), static_cast<Column>(column));
  return role == Qt::DisplayRole ? text_of(static_cast<int>(row), static_cast<Column>(column)) : QVariant{};
}

}  // namespace rankscope::gui
