#include "rankscope/gui/models/statistics/pivot.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <unordered_map>
#include <utility>

#include "rankscope/analyzer/report.h"
#include "rankscope/analyzer/words.h"
#include "rankscope/core/format.h"
#include "rankscope/core/median.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/models/session/moments.h"

namespace rankscope::gui {
namespace {

constexpr std::size_t spans_between_checks = 1 << 16;
constexpr std::int64_t outside = std::numeric_limits<std::int64_t>::max();  // of all ranks, or of all steps

bool is_kernel_name(SpanKind kind) { return kind == SpanKind::compute || kind == SpanKind::comm; }

/// Numbers the keys of rows or columns as they come.
class KeyPlaces {
 public:
  explicit KeyPlaces(PivotBy by) : by_(by) {}

  [[nodiscard]] PivotBy by() const { return by_; }
  std::uint32_t of_number(std::int64_t number, const char* word) {
    const auto [at, is_new] = numbers_.try_emplace(number, static_cast<std::uint32_t>(keys_.size()));
    if (is_new) keys_.push_back({number == outside ? format("no {}", word) : format("{} {}", word, number), number});
    return at->second;
  }
  std::uint32_t of_name(const std::string& name) {
    const auto [at, is_new] = names_.try_emplace(name, static_cast<std::uint32_t>(keys_.size()));
    if (is_new) keys_.push_back({name, 0});
    return at->second;
  }
  [[nodiscard]] const std::vector<PivotKey>& keys() const { return keys_; }

 private:
  PivotBy by_;
  std::vector<PivotKey> keys_;
  std::map<std::int64_t, std::uint32_t> numbers_;
  std::unordered_map<std::string, std::uint32_t> names_;
};

/// By name and the form of names: what the user typed is in it, and its short form.
class PivotNames {
 public:
  PivotNames(const Run& run, const std::string& text)
      : run_(run), wanted_(qt_text(text)), plain_(run.strings().size()), kernels_(run.strings().size()) {}

  struct Entry {
    bool known = false;
    bool matches = false;
    std::string shown;
  };
  const Entry& of(const Span& span) {
    const bool kernel = is_kernel_name(span.kind);
    Entry& entry = (kernel ? kernels_ : plain_)[span.name.index()];
    if (entry.known) return entry;
    const std::string_view full = run_.text(span.name);
    entry.known = true;
    entry.shown = kernel ? analyzer::short_kernel_name(full) : std::string{full};
    entry.matches = qt_text(full).contains(wanted_, Qt::CaseInsensitive) ||
                    qt_text(entry.shown).contains(wanted_, Qt::CaseInsensitive);
    return entry;
  }

 private:
  const Run& run_;
  QString wanted_;
  std::vector<Entry> plain_;  // by StringId
  std::vector<Entry> kernels_;
};

class PivotMaker {
 public:
  PivotMaker(const Run& run, const analyzer::Report* report, const PivotQuestion& question)
      : run_(run),
        report_(report),
        question_(question),
        names_(run, question.text),
        rows_(question.rows),
        columns_(question.columns) {}

  /// False if it was stopped.
  bool read(const std::stop_token& stop) {
    for (const Lane& lane : run_.lanes()) {
      if (!question_.ranks.empty() && !std::ranges::binary_search(question_.ranks, lane.rank)) continue;
      begin_lane(lane);
      std::size_t seen = 0;
      for (const Span& span : run_.spans_of(lane)) {
        if (seen++ % spans_between_checks == 0 && stop.stop_requested()) return false;
        if (is_wanted(span)) add(lane, span);
      }
    }
    return !stop.stop_requested();
  }

  /// Nothing if it was stopped.
  [[nodiscard]] std::optional<PivotTable> table(const std::stop_token& stop) && {
    PivotTable table{question_, {}, {}, {}, {}, 0};
    const std::vector<std::uint32_t> columns = columns_in_order();
    for (const std::uint32_t column : columns) table.columns.push_back(columns_.keys()[column]);
    std::vector<Row> rows = rows_with_cells(columns);
    for (Row& row : rows) {
      if (stop.stop_requested()) return std::nullopt;
      std::ranges::sort(row.cells, {}, &std::pair<std::uint32_t, const Gathered*>::first);
      row.total = total_of(row);
      row.total.column = static_cast<std::uint32_t>(columns.size());
    }
    std::vector<std::uint32_t> order(rows.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, std::greater{}, [&rows](std::uint32_t row) { return rows[row].total.sum_ns; });
    for (const std::uint32_t row : order) {
      if (stop.stop_requested()) return std::nullopt;
      table.rows.push_back(rows_.keys()[row]);
      if (!columns.empty())
        for (const auto& [column, gathered] : rows[row].cells) {
          table.cells.push_back(summed(gathered->durations_ns, gathered->longest_ns, gathered->longest));
          table.cells.back().column = column;
        }
      table.cells.push_back(rows[row].total);
      table.row_ends.push_back(table.cells.size());
      table.all_ns += rows[row].total.sum_ns;
    }
    return table;
  }

 private:
  /// Durations of the events of a cell, and which takes longest.
  struct Gathered {
    std::vector<std::int64_t> durations_ns;
    SpanId longest{};
    std::int64_t longest_ns = -1;
  };
  /// What was gathered of a row, by column as it is shown.
  struct Row {
    std::vector<std::pair<std::uint32_t, const Gathered*>> cells;
    PivotCell total;
  };

  bool is_wanted(const Span& span) {
    if (question_.kind != PivotKind::all && pivot_kind_of(span.kind) != question_.kind) return false;
    if (question_.time && !question_.time->contains(span.time.begin)) return false;
    return names_.of(span).matches;
  }

  void add(const Lane& lane, const Span& span) {
    const std::uint64_t row = place_of(rows_, lane, span);
    const std::uint64_t column = place_of(columns_, lane, span);
    Gathered& cell = cells_[row << 32U | column];
    const std::int64_t ns = span.time.length().count();
    cell.durations_ns.push_back(ns);
    if (ns <= cell.longest_ns) return;
    cell.longest_ns = ns;
    cell.longest = run_.id_of(span);
  }

  std::uint32_t place_of(KeyPlaces& places, const Lane& lane, const Span& span) {
    switch (places.by()) {
      case PivotBy::nothing:
        break;
      case PivotBy::name:
        return places.of_name(names_.of(span).shown);
      case PivotBy::rank:
        return places.of_number(lane.rank.is_set() ? lane.rank.value : outside, "rank");
      case PivotBy::step:
        return places.of_number(step_of(span), "step");
    }
    return places.of_name("all");
  }

  /// Events of a lane come in the order of their starts: most are in the step of the one before, or in the next.
  std::int64_t step_of(const Span& span) {
    const auto has_it = [&span](const analyzer::StepWindow& step) { return step.window.contains(span.time.begin); };
    if (!in_steps_.contains(span.time.begin)) return outside;
    if (step_ < steps_.size() && has_it(steps_[step_])) return steps_[step_].index;
    if (step_ + 1 < steps_.size() && has_it(steps_[step_ + 1]))
      ++step_;
    else
      step_ = static_cast<std::size_t>(std::ranges::find_if(steps_, has_it) - steps_.begin());
    return step_ == steps_.size() ? outside : steps_[step_].index;
  }

  void begin_lane(const Lane& lane) {
    steps_ = steps_of(report_, lane.rank);
    step_ = 0;
    in_steps_ = {};
    for (const analyzer::StepWindow& step : steps_)
      in_steps_ = in_steps_.empty() ? step.window
                                    : TimeRange{std::min(in_steps_.begin, step.window.begin),
                                                std::max(in_steps_.end, step.window.end)};
  }

  [[nodiscard]] std::vector<std::uint32_t> columns_in_order() const {
    if (columns_.by() == PivotBy::nothing) return {};
    std::vector<std::uint32_t> order(columns_.keys().size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, [this](std::uint32_t a, std::uint32_t b) {
      const PivotKey& left = columns_.keys()[a];
      const PivotKey& right = columns_.keys()[b];
      return left.number != right.number ? left.number < right.number : comes_before(left.text, right.text);
    });
    return order;
  }

  static PivotCell summed(std::vector<std::int64_t> durations_ns, std::int64_t longest_ns, SpanId longest) {
    PivotCell cell;
    if (durations_ns.empty()) return cell;
    cell.count = static_cast<std::int64_t>(durations_ns.size());
    cell.sum_ns = std::accumulate(durations_ns.begin(), durations_ns.end(), std::int64_t{0});
    std::ranges::sort(durations_ns);
    cell.median_ns = sorted_median(durations_ns);
    cell.longest_ns = longest_ns;
    cell.longest = longest;
    return cell;
  }

  /// `columns`: in the order in which they are shown.
  [[nodiscard]] std::vector<Row> rows_with_cells(const std::vector<std::uint32_t>& columns) const {
    std::vector<std::uint32_t> places(columns_.keys().size(), 0);
    for (std::uint32_t place = 0; place < columns.size(); ++place) places[columns[place]] = place;
    std::vector<Row> rows(rows_.keys().size());
    for (const auto& [key, gathered] : cells_)
      rows[key >> 32U].cells.emplace_back(places[key & 0xFFFFFFFFU], &gathered);
    return rows;
  }

  static PivotCell total_of(const Row& row) {
    Gathered all;
    for (const auto& [column, one] : row.cells) {
      all.durations_ns.insert(all.durations_ns.end(), one->durations_ns.begin(), one->durations_ns.end());
      if (one->longest_ns <= all.longest_ns) continue;
      all.longest_ns = one->longest_ns;
      all.longest = one->longest;
    }
    return summed(std::move(all.durations_ns), all.longest_ns, all.longest);
  }

  const Run& run_;
  const analyzer::Report* report_;
  const PivotQuestion& question_;
  PivotNames names_;
  KeyPlaces rows_;
  KeyPlaces columns_;
  std::span<const analyzer::StepWindow> steps_;        // of the rank of the lane
  std::size_t step_ = 0;                               // in these, of the last event of the lane
  TimeRange in_steps_;                                 // from the first to the last of them
  std::unordered_map<std::uint64_t, Gathered> cells_;  // by row and column
};

}  // namespace

const PivotCell& PivotTable::cell(std::size_t row, std::size_t column) const {
  static const PivotCell none{};
  const std::size_t first = row == 0 ? 0 : row_ends[row - 1];
  const auto of_row = std::span{cells}.subspan(first, row_ends[row] - first);
  const auto found = std::ranges::lower_bound(of_row, column, {}, &PivotCell::column);
  return found != of_row.end() && found->column == column ? *found : none;
}

PivotKind pivot_kind_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::compute:
    case SpanKind::graph:
      return PivotKind::kernel;
    case SpanKind::comm:
      return PivotKind::communication;
    case SpanKind::memory:
      return PivotKind::copy;
    case SpanKind::op:
      return PivotKind::op;
    case SpanKind::user:
    case SpanKind::step:
    case SpanKind::forward:
    case SpanKind::backward:
    case SpanKind::optimizer:
      return PivotKind::annotation;
    case SpanKind::python:
      return PivotKind::python;
    case SpanKind::runtime:
    case SpanKind::api:
      return PivotKind::call;
    case SpanKind::data:
    case SpanKind::wait:
    case SpanKind::sync:
    case SpanKind::loader:
    case SpanKind::checkpoint:
    case SpanKind::overhead:
      break;
  }
  return PivotKind::other;
}

std::optional<PivotTable> pivot(const Run& run, const analyzer::Report* report, const PivotQuestion& question,
                                const std::stop_token& stop) {
  PivotMaker maker{run, report, question};
  if (!maker.read(stop)) return std::nullopt;
  return std::move(maker).table(stop);
}

}  // namespace rankscope::gui
