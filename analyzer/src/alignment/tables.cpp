#include "alignment/parts.h"

#include <algorithm>
#include <cmath>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/clock_words.h"
#include "render/words.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t most_doubts = 2;

std::string ahead_text(const ClockRow& clock) {
  const auto ns = static_cast<std::int64_t>(std::clamp(clock.ahead_ns, -9e18, 9e18));
  return format("{} {}", duration_text(std::abs(ns)), ns < 0 ? "behind" : "ahead");
}

std::string drift_text(const ClockRow& clock) {
  return clock.drift_known ? format("{:+.2f} ppm", clock.drift_ppm) : "not measured";
}

Cell not_aligned(const ClockRow& clock, const ClocksSection& section) {
  if (section.assumed_shared) return {"one shared clock is assumed", Tone::faint};
  const std::string why = clock.why_apart.empty() ? std::string{} : ": " + printable(clock.why_apart);
  return {"not aligned" + why, Tone::warning};
}

std::string apart_text(const ClocksSection& section) {
  if (section.assumed_shared) return {};
  std::vector<const ClockRow*> moved;
  for (const ClockRow& clock : section.clocks)
    if (clock.aligned && clock.name != clock.reference) moved.push_back(&clock);
  if (moved.empty()) return {};
  const ClockRow& first =
      **std::ranges::max_element(moved, {}, [](const ClockRow* clock) { return std::abs(clock->ahead_ns); });
  const auto aligned = std::ranges::count_if(section.clocks, &ClockRow::aligned);
  std::string text = format(
      "{} {} aligned by the ends of operations in which every rank waits for all others. The clock of {}{} was {}{} "
      "that of {}",
      counted(aligned, "clock"), aligned == 1 ? "was" : "were", printable(first.name),
      moved.size() > 1 ? " had the largest offset: it" : "", ahead_text(first), first.ahead_ns < 0 ? "" : " of",
      printable(first.reference));
  if (first.drift_known) text += format(" and drifted by {:+.2f} ppm", first.drift_ppm);
  return text + format(" (measured with {}).", counted(first.operations, "operation"));
}

}  // namespace

std::vector<ClockLine> clock_lines(const Report& report) {
  std::vector<ClockLine> lines{{clock_text(report)}};
  const ClocksSection& section = report.clocks;
  if (auto apart = apart_text(section); !apart.empty()) {
    lines.push_back({std::move(apart)});
    lines.push_back(
        {format("If one rank always leaves operations later than another, this looks like an offset between their "
                "clocks. The stated error includes {} to allow for this.",
                duration_text(section.allowance_ns))});
  }
  std::size_t doubts = 0;
  for (const ClockRow& clock : section.clocks) {
    if (clock.doubt.empty() || doubts++ >= most_doubts) continue;
    lines.push_back({format("The clock of {} is doubtful (± {}): {}.", printable(clock.name),
                            duration_text(clock.error_ns), printable(clock.doubt)),
                     Tone::warning});
  }
  if (doubts > most_doubts)
    lines.push_back({format("{} {} doubtful.", counted(doubts - most_doubts, "more clock"),
                            doubts - most_doubts == 1 ? "is" : "are"),
                     Tone::warning});
  for (const std::string& note : section.notes) lines.push_back({printable(note), Tone::warning});
  return lines;
}

Table clock_table(const ClocksSection& section, std::size_t limit) {
  std::vector<const ClockRow*> rows;
  for (const ClockRow& clock : section.clocks) rows.push_back(&clock);
  if (rows.size() > limit) {
    std::ranges::stable_sort(rows, std::greater<>{}, [](const ClockRow* clock) {
      return std::pair{!clock->doubt.empty() || !clock->aligned, clock->error_ns};
    });
    rows.resize(limit);
  }
  Table table{{{"clock", Align::left},
               {"ranks"},
               {"measured against", Align::left},
               {"offset"},
               {"drift"},
               {"error"},
               {"noise"},
               {"operations"},
               {"doubt", Align::left}},
              {}};
  for (const ClockRow* const clock : rows) {
    std::vector<Cell> cells{{printable(clock->name)}, {format("{}", clock->ranks.size())}};
    if (!clock->aligned) {
      for (int i = 0; i < 6; ++i) cells.push_back({"-", Tone::faint});
      cells.push_back(not_aligned(*clock, section));
    } else if (clock->name == clock->reference) {
      cells.push_back({"the others", Tone::faint});
      for (int i = 0; i < 2; ++i) cells.push_back({"-", Tone::faint});
      cells.insert(cells.end(), {{duration_text(0)},
                                 {duration_text(clock->noise_ns)},
                                 {format("{}", clock->operations)},
                                 {printable(clock->doubt), Tone::warning}});
    } else {
      cells.insert(cells.end(), {{printable(clock->reference)},
                                 {ahead_text(*clock)},
                                 {drift_text(*clock)},
                                 {"± " + duration_text(clock->error_ns)},
                                 {duration_text(clock->noise_ns)},
                                 {format("{}", clock->operations)},
                                 {printable(clock->doubt), Tone::warning}});
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string clock_text(const Report& report) {
  const ClockInfo& clock = report.clock;
  const bool hosts_known =
      std::ranges::all_of(report.rank_facts, [](const RankFacts& facts) { return !facts.host.empty(); });
  if (clock.method == "none") return "Clocks: the ranks have no common clock; their times are not compared.";
  if (clock.method == "wall_clock")
    return format("Clocks: wall clocks, ± {}; {}.", duration_text(clock.error.count()),
                  hosts_known ? "times of different hosts are not compared"
                              : "the hosts are not known, so times of different ranks are not compared");
  return format("Clocks: {}, ± {}; a difference between ranks is reported only if it is more than twice this error.",
                printable(clock_method_words(clock)), duration_text(clock.error.count()));
}

}  // namespace rankscope::analyzer
