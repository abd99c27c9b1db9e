#include "efficiency/parts.h"

#include <algorithm>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/means.h"
#include "render/words.h"

namespace rankscope::analyzer {
namespace {

std::string percent(double share) { return format("{:.1f} %", 100 * share); }

void add_grouping(const Grouping& grouping, std::string_view between, std::string_view inside,
                  std::vector<TreeLine>& lines) {
  if (!grouping.between.value) return;
  lines.push_back({"", between, 2, *grouping.between.value, ""});
  lines.push_back({"", inside, 2, *grouping.inside.value, ""});
}

std::string ledger_sentence(const EfficiencySection& section) {
  const auto tenths = apportioned(section.ledger, 1000);
  std::string text;
  for (std::size_t i = 0; i < ledger_part_count; ++i)
    if (tenths[i] > 0)
      text +=
          format("{}{} {} %", text.empty() ? "" : ", ", words_of(static_cast<LedgerPart>(i)), decimal(tenths[i], 1));
  return format("How the ranks spend their time: {}.", text);
}

std::string steps_sentence(const EfficiencySection& section) {
  if (section.steps.size() < 2) return {};
  const auto parallel = [](const StepEfficiency& step) { return step.factors.known() ? step.factors.parallel() : 0; };
  const auto [least, most] = std::ranges::minmax_element(section.steps, {}, parallel);
  const std::string lowest = percent(parallel(*least));
  const std::string highest = percent(parallel(*most));
  if (lowest == highest) return format("Parallel efficiency is {} in every step.", lowest);
  return format("Parallel efficiency ranges from {} in step {} to {} in step {}.", lowest, least->step, highest,
                most->step);
}

}  // namespace

std::string_view words_of(LedgerPart part) {
  switch (part) {
    case LedgerPart::compute:
      return "compute";
    case LedgerPart::exposed_transfer:
      return "transfer";
    case LedgerPart::exposed_wait:
      return "waiting for other ranks";
    case LedgerPart::exposed_unsplit:
      return "either waiting or transfer";
    case LedgerPart::memory:
      return "copies";
    case LedgerPart::idle_host:
      return "idle because of the host";
    case LedgerPart::idle_sync:
      return "idle in synchronization";
    case LedgerPart::idle_data:
      return "idle waiting for data";
    case LedgerPart::idle_kernel_gap:
      return "gaps between kernels";
    case LedgerPart::idle_other:
      return "idle for other reasons";
    case LedgerPart::tail:
      return "done before other ranks";
  }
  return "?";
}

std::vector<TreeLine> tree_lines(const EfficiencySection& section) {
  const EfficiencyFactors& run = section.run;
  std::vector<TreeLine> lines;
  lines.push_back(
      {"parallel", "parallel efficiency", 0, run.parallel(), "the share of the ranks' time spent computing"});
  lines.push_back({"load_balance", "load balance", 1, run.load_balance(),
                   format("mean compute / most compute (rank {}); reduced by uneven work", run.most_computing.value)});
  add_grouping(section.classes, "between classes of peers", "inside these classes", lines);
  add_grouping(section.hosts, "between hosts", "inside hosts", lines);
  lines.push_back(
      {"communication", "communication", 1, run.communication(),
       format("most compute / most time not idle (rank {}); reduced by comm, copies", run.most_active.value)});
  if (section.transfer.value && section.serialization.value) {
    lines.push_back({"serialization", "serialization", 2, *section.serialization.value,
                     "communication / transfer; reduced by waiting for each other"});
    lines.push_back({"transfer", "transfer", 2, *section.transfer.value,
                     "step time with instant transfers / step time; reduced by transfers"});
  }
  lines.push_back({"orchestration", "orchestration", 1, run.orchestration(),
                   format("most time not idle / longest time (rank {}); reduced by idle time", run.longest.value)});
  return lines;
}

Table tree_table(const EfficiencySection& section) {
  Table table{{{"factor", Align::left}, {"value"}, {"meaning", Align::left, 70}}, {}};
  bool first = true;
  for (const TreeLine& line : tree_lines(section)) {
    const std::string_view sign = line.depth == 1 ? (first ? "= " : "× ") : line.depth == 0 ? "" : "    ";
    if (line.depth == 1) first = false;
    table.rows.push_back({{format("{}{}", sign, line.name)}, {percent(line.value)}, {line.meaning}});
  }
  return table;
}

Table ledger_table(const EfficiencySection& section) {
  const auto tenths = apportioned(section.ledger, 1000);
  const auto steps = static_cast<std::int64_t>(section.steps.size());
  const Means means{section.run.ranks, steps * section.run.ranks};
  Table table{{{"time", Align::left}, {"ms"}, {"share"}}, {}};
  for (std::size_t i = 0; i < ledger_part_count; ++i)
    if (section.ledger[i] > 0)
      table.rows.push_back({{std::string{words_of(static_cast<LedgerPart>(i))}},
                            {means.ms(section.ledger[i])},
                            {decimal(tenths[i], 1) + " %"}});
  return table;
}

Table grouping_table(const Grouping& grouping, std::string_view what) {
  Table table{{{std::string{what}, Align::left, 32},
               {"ranks", Align::left, 24},
               {"parallel"},
               {"load balance"},
               {"communication"},
               {"orchestration"}},
              {}};
  if (grouping.groups.size() < 2) return table;
  for (const EfficiencyGroup& group : grouping.groups) {
    const EfficiencyFactors& factors = group.factors;
    if (!factors.known()) {
      table.rows.push_back({{printable(group.name)}, {rank_ranges(group.ranks)}, {"0 %"}, {"–"}, {"–"}, {"–"}});
      continue;
    }
    table.rows.push_back({{printable(group.name)},
                          {rank_ranges(group.ranks)},
                          {percent(factors.parallel())},
                          {percent(factors.load_balance())},
                          {percent(factors.communication())},
                          {percent(factors.orchestration())}});
  }
  return table;
}

std::vector<std::string> efficiency_notes(const Report& report) {
  const EfficiencySection& section = *report.efficiency;
  std::vector<std::string> notes{ledger_sentence(section)};
  if (const auto steps = steps_sentence(section); !steps.empty()) notes.front() += " " + steps;
  if (section.run.ranks < report.world_size)
    notes.push_back(format(
        "These numbers cover {} of {} ranks{}.", section.run.ranks, report.world_size,
        section.left_out.empty() ? "" : format("; {} did not record all counted steps", ranks_text(section.left_out))));
  return notes;
}

void add_efficiency(Page& page, const Report& report, const ReportOptions& options) {
  if (!report.efficiency) return;
  const EfficiencySection& section = *report.efficiency;
  if (section.run.ranks == 1 && options.only.empty()) return;  // the time split of the one rank says the same
  const auto steps = static_cast<std::int64_t>(section.steps.size());
  page.heading("EFFICIENCY",
               format("{} of {}; 80 % or more is usually fine", steps > 0 ? counted(steps, "step") : "whole recording",
                      counted(section.run.ranks, "rank")));
  page.table(tree_table(section));
  for (const std::string& note : efficiency_notes(report)) page.paragraph(note, Tone::faint);
}

}  // namespace rankscope::analyzer
