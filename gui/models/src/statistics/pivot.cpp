#include "rankscope/gui/models/statistics/pivot.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
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

  [[nodiscard]] PivotTable table() && {
    PivotTable table{question_, {}, {}, {}, 0};
    const std::vector<std::uint32_t> columns = columns_in_order();
    for (const std::uint32_t column : columns) table.columns.push_back(columns_.keys()[column]);
    std::vector<PivotCell> totals;
    for (std::uint32_t row = 0; row < rows_.keys().size(); ++row) totals.push_back(total_of(row));
    std::vector<std::uint32_t> rows(totals.size());
    std::iota(rows.begin(), rows.end(), 0U);
    std::ranges::stable_sort(rows, std::greater{}, [&totals](std::uint32_t row) { return totals[row].sum_ns; });
    for (const std::uint32_t row : rows) {
      table.rows.push_back(rows_.keys()[row]);
      for (const std::uint32_t column : columns) table.cells.push_back(cell_of(row, column));
      table.cells.push_back(totals[row]);
      table.all_ns += totals[row].sum_ns;
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
        return places.of_number(step_of(lane, span), "step");
    }
    return places.of_name("all");
  }

  /// Events of a lane come in the order of their starts, so that most are in the step of the one before.
  std::int64_t step_of(const Lane& lane, const Span& span) {
    if (!in_steps_.contains(span.time.begin)) return outside;
    if (step_ == nullptr || !step_->window.contains(span.time.begin))
      step_ = step_at(report_, lane.rank, span.time.begin);
    return step_ == nullptr ? outside : step_->index;
  }

  void begin_lane(const Lane& lane) {
    step_ = nullptr;
    in_steps_ = {};
    for (const analyzer::StepWindow& step : steps_of(report_, lane.rank))
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

  [[nodiscard]] PivotCell cell_of(std::uint32_t row, std::uint32_t column) const {
    const auto found = cells_.find(std::uint64_t{row} << 32U | column);
    if (found == cells_.end()) return {};
    return summed(found->second.durations_ns, found->second.longest_ns, found->second.longest);
  }

  [[nodiscard]] PivotCell total_of(std::uint32_t row) const {
    Gathered all;
    for (std::uint32_t column = 0; column < columns_.keys().size(); ++column) {
      const auto found = cells_.find(std::uint64_t{row} << 32U | column);
      if (found == cells_.end()) continue;
      const Gathered& one = found->second;
      all.durations_ns.insert(all.durations_ns.end(), one.durations_ns.begin(), one.durations_ns.end());
      if (one.longest_ns <= all.longest_ns) continue;
      all.longest_ns = one.longest_ns;
      all.longest = one.longest;
    }
    return summed(std::move(all.durations_ns), all.longest_ns, all.longest);
  }

  const Run& run_;
  const analyzer::Report* report_;
  const PivotQuestion& question_;
  PivotNames names_;
  KeyPlaces rows_;
  KeyPlaces columns_;
  const analyzer::StepWindow* step_ = nullptr;         // of the last event of the lane
  TimeRange in_steps_;                                 // from the first to the last step of its rank
  std::unordered_map<std::uint64_t, Gathered> cells_;  // by row and column
};

}  // namespace

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
  return std::move(maker).table();
}

}  // namespace rankscope::gui
