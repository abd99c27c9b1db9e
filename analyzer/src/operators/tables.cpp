#include "operators/parts.h"

#include <algorithm>
#include <utility>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/means.h"
#include "render/words.h"
#include "split/row_sums.h"
#include "steps/counted_windows.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t widest_operator = 36;
constexpr std::size_t operators_with_shapes = 3;
constexpr std::size_t widest_shapes = 70;

Means means_of(const OperatorsSection& section) { return {section.ranks, section.rank_steps}; }

class OperatorTableText {
 public:
  OperatorTableText(const OperatorsSection& section, const OperatorTable& table) : section_(section), in_(table) {
    out_.columns = {{"name", Align::left, widest_operator}, {"calls"}, {"host ms"}, {"with nested"}};
    if (section.accelerators > 0) {
      for (const char* title : {"device ms", "with nested", "of device"}) out_.columns.push_back({title});
    }
  }

  Table of_top(std::size_t limit) && {
    const std::size_t shown = std::min(limit, in_.rows.size());
    for (std::size_t i = 0; i < shown; ++i) add(operator_words(in_.rows[i].name), in_.rows[i].times, Totals::shown);
    if (shown < in_.rows.size()) add_rest(shown);
    if (section_.accelerators > 0 && in_.outside_device_ns > 0) add_outside();
    return std::move(out_);
  }

 private:
  enum class Totals : std::uint8_t { shown, left_out };  // those of different rows hold the same time twice

  void add(std::string name, const OperatorTimes& times, Totals totals) {
    const Means means = means_of(section_);
    const auto total = [&](std::int64_t ns) { return totals == Totals::shown ? means.ms(ns) : std::string{}; };
    std::vector<Cell> cells{
        {std::move(name)}, {means.count(times.calls)}, {means.ms(times.self_ns)}, {total(times.total_ns)}};
    if (section_.accelerators > 0) {
      cells.push_back({means.ms(times.device_ns)});
      cells.push_back({total(times.device_total_ns)});
      cells.push_back({share_text(times.device_ns, section_.device_ns)});
    }
    out_.rows.push_back(std::move(cells));
  }

  void add_rest(std::size_t shown) {
    OperatorTimes rest;
    for (std::size_t i = shown; i < in_.rows.size(); ++i) {
      rest.calls += in_.rows[i].times.calls;
      rest.self_ns += in_.rows[i].times.self_ns;
      rest.device_ns += in_.rows[i].times.device_ns;
    }
    add(format("rest ({})", counted(in_.rows.size() - shown, "name")), rest, Totals::left_out);
  }

  void add_outside() {
    out_.rows.push_back({{"(outside these)"},
                         {""},
                         {""},
                         {""},
                         {means_of(section_).ms(in_.outside_device_ns)},
                         {""},
                         {share_text(in_.outside_device_ns, section_.device_ns)}});
  }

  const OperatorsSection& section_;
  const OperatorTable& in_;
  Table out_;
};

constexpr const char* threads_overlap =
    "The host times of several threads are added up, so the sum can exceed the elapsed time.";

bool more_than_the_windows(const OperatorTable& table, const Report& report) {
  if (!report.rank_rows) return false;
  std::int64_t room_ns = 0;
  for (const RankRow* row : rows_to_sum(*report.rank_rows)) room_ns += row->total.window_ns;
  for (const OperatorRow& row : table.rows) room_ns -= row.times.self_ns;
  return room_ns < 0;
}

void add_shapes(const OperatorTable& table, std::vector<std::string>& notes) {
  std::size_t shown = 0;
  for (const OperatorRow& row : table.rows) {
    if (shown == operators_with_shapes) break;
    if (row.shapes.empty() || row.shapes.front().shapes.empty()) continue;
    const ShapeRow& top = row.shapes.front();
    const bool on_device = row.times.device_ns > 0;
    notes.push_back(
        format("{}: {} of {} is spent in calls with the inputs {}", printable(row.name),
               share_text(on_device ? top.device_ns : top.self_ns, on_device ? row.times.device_ns : row.times.self_ns),
               on_device ? "its device time" : "its host time", shortened(printable(top.shapes), widest_shapes)));
    ++shown;
  }
}

void add_backward(const OperatorTable& table, const OperatorsSection& section, std::vector<std::string>& notes) {
  const auto longer = [](const OperatorRow& a, const OperatorRow& b) {
    return std::pair{a.backward.device_total_ns, a.backward.total_ns} <
           std::pair{b.backward.device_total_ns, b.backward.total_ns};
  };
  const auto top = std::ranges::max_element(table.rows, longer);
  if (top == table.rows.end() || top->backward.calls == 0) return;
  const Means means = means_of(section);
  const BackwardTimes& back = top->backward;
  std::string times = format("{} ms on the host", means.ms(back.total_ns));
  if (section.accelerators > 0) times += format(", {} ms on the device", means.ms(back.device_total_ns));
  notes.push_back(format("The longest backward pass is that of {}: {}.", printable(top->name), times));
}

/// True if devices had nothing to do for want of launches: then what the host takes matters.
bool host_holds_up(const Report& report) {
  constexpr std::int64_t share = 10;  // one part in ten of the time
  if (!report.rank_rows) return false;
  TimeSplit total;
  for (const RankRow* row : rows_to_sum(*report.rank_rows)) total += row->total;
  const std::int64_t held_up = total.idle_ns_of(IdleCause::host) + total.idle_ns_of(IdleCause::sync);
  return held_up > 0 && held_up >= total.window_ns / share;
}

/// The same rows by their self time on the host, where the device waits for it.
void add_by_host_time(const OperatorsSection& section, std::size_t most, std::vector<NotedTable>& tables) {
  OperatorTable by_host;
  by_host.rows = section.operators.rows;
  std::ranges::stable_sort(by_host.rows, std::ranges::greater{},
                           [](const OperatorRow& row) { return row.times.self_ns; });
  tables.push_back(
      {"Operators by host time",
       means_of(section).words(),
       OperatorTableText(section, by_host).of_top(most),
       left_out(by_host.rows.size(), most),
       {"Part of the time, the devices are idle because the host launches late or synchronizes. These operators take "
        "the most host time."}});
}

}  // namespace

/// The end of a name is cut off where it is too long: what all of them begin with is made short.
std::string operator_words(std::string_view name) {
  constexpr std::string_view front = "autograd::engine::evaluate_function: ";
  return name.starts_with(front) ? "autograd: " + printable(name.substr(front.size())) : printable(name);
}

std::vector<NotedTable> operator_tables(const Report& report, std::size_t most) {
  if (!report.operators) return {};
  const OperatorsSection& section = *report.operators;
  const std::string means =
      means_of(section).words() + (section.accelerators > 0 ? "; device ms: time of launched work" : "");
  std::vector<NotedTable> tables;
  if (!section.operators.rows.empty()) {
    NotedTable& noted =
        tables.emplace_back(NotedTable{"Operators", means, OperatorTableText(section, section.operators).of_top(most),
                                       left_out(section.operators.rows.size(), most)});
    if (more_than_the_windows(section.operators, report)) noted.notes.emplace_back(threads_overlap);
    if (section.operators.outside_unlaunched_ns > 0)
      noted.notes.push_back(format("For {} ms of device time, no launch was recorded.",
                                   means_of(section).ms(section.operators.outside_unlaunched_ns)));
    add_shapes(section.operators, noted.notes);
    add_backward(section.operators, section, noted.notes);
  }
  if (section.accelerators > 0 && section.operators.rows.size() > 1 && host_holds_up(report))
    add_by_host_time(section, most, tables);
  if (!section.annotations.rows.empty()) {
    NotedTable& noted = tables.emplace_back(NotedTable{"Annotations and modules", means,
                                                       OperatorTableText(section, section.annotations).of_top(most),
                                                       left_out(section.annotations.rows.size(), most)});
    if (more_than_the_windows(section.annotations, report)) noted.notes.emplace_back(threads_overlap);
  }
  return tables;
}

}  // namespace rankscope::analyzer
