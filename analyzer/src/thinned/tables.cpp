#include <algorithm>
#include <nlohmann/json.hpp>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/html/elements.h"
#include "render/html/writer.h"
#include "steps/parts.h"
#include "thinned/parts.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t mean(std::int64_t sum, const ThinnedRank& rank) { return rank.steps > 0 ? sum / rank.steps : 0; }

Table table_of(const ThinnedSection& section) {
  Table table{{{"rank"}, {"steps"}, {"step"}, {"own time"}, {"compute"}, {"comm"}, {"waits"}, {"data"}, {"bytes"}}, {}};
  for (const ThinnedRank& rank : section.ranks) {
    const TimeSplit& total = rank.total;
    table.rows.push_back({{format("{}", rank.rank.value)},
                          {format("{}", rank.steps)},
                          {duration_text(mean(total.window_ns, rank))},
                          {duration_text(mean(total.own_ns(), rank))},
                          {duration_text(mean(total.compute_ns, rank)), Tone::compute},
                          {duration_text(mean(total.exposed_comm_ns, rank)), Tone::comm},
                          {duration_text(mean(rank.wait_at_least_ns, rank))},
                          {duration_text(mean(total.idle_ns_of(IdleCause::data), rank))},
                          {bytes_text(mean(rank.bytes, rank))}});
  }
  return table;
}

constexpr const char* how_to_read =
    "Mean times and bytes of a thinned step. Own time is the step time minus all communication; the waits are lower "
    "bounds: the communication time minus that of the rank that communicated least in the same step.";

Json list_of(const ThinnedRank& rank, std::int64_t (*value)(const TimeSplit& split)) {
  Json list = Json::array();
  for (const TimeSplit& split : rank.per_step) list.push_back(value(split));
  return list;
}

Json rank_json(const ThinnedRank& rank) {
  return {{"rank", rank.rank.value},
          {"steps", rank.steps},
          {"window_ns", rank.total.window_ns},
          {"compute_ns", rank.total.compute_ns},
          {"exposed_comm_ns", rank.total.exposed_comm_ns},
          {"memory_ns", rank.total.memory_ns},
          {"idle_ns", rank.total.idle_ns},
          {"data_ns", rank.total.idle_ns_of(IdleCause::data)},
          {"wait_at_least_ns", rank.wait_at_least_ns},
          {"bytes", rank.bytes},
          {"operations", rank.operations},
          {"own_ns_per_step", list_of(rank, [](const TimeSplit& split) { return split.own_ns(); })},
          {"exposed_comm_ns_per_step", list_of(rank, [](const TimeSplit& split) { return split.exposed_comm_ns; })},
          {"bytes_per_step", rank.bytes_per_step}};
}

}  // namespace

std::string thinned_text(const Report& report) {
  if (!report.thinned || report.thinned->steps.steps.empty()) return {};
  const ThinnedSection& section = *report.thinned;
  const std::int64_t first = section.steps.steps.front().index;
  const std::string rest =
      report.steps_recorded
          ? format("; everything else in this report covers the time from step {} on", section.first_full_step)
          : std::string{"; no step with events is left, so this report shows nothing else about steps"};
  return format(
      "{} {} thinned out while the job ran (record --keep): for {}, only sums per rank and step are recorded. These "
      "sums show slow ranks{}.",
      first + 1 == section.first_full_step ? format("Step {}", first)
                                           : format("Steps {} to {}", first, section.first_full_step - 1),
      first + 1 == section.first_full_step ? "was" : "were", first + 1 == section.first_full_step ? "it" : "them",
      rest);
}

Json thinned_json(const ThinnedSection& section) {
  Json steps = Json::array();
  for (const Step& step : section.steps.steps)
    if (step.index < section.first_full_step) steps.push_back(step_json(step));
  Json ranks = Json::array();
  for (const ThinnedRank& rank : section.ranks) ranks.push_back(rank_json(rank));
  return {{"first_full_step", section.first_full_step}, {"steps", std::move(steps)}, {"ranks", std::move(ranks)}};
}

Json thinned_json_of(const Source& source) {
  return source.report.thinned ? thinned_json(*source.report.thinned) : Json{};
}

void add_thinned(Page& page, const Report& report, const ReportOptions&) {
  if (!report.thinned) return;
  page.heading("THINNED STEPS");
  page.paragraph(thinned_text(report));
  page.table(table_of(*report.thinned));
  page.paragraph(how_to_read, Tone::faint);
}

void add_brief_thinned(Page& page, const Report& report, const ReportOptions&, std::size_t) {
  if (const std::string text = thinned_text(report); !text.empty()) page.paragraph(text);
}

namespace html {

void write_thinned(Writer& page, const Source& source) {
  if (!source.report.thinned) return;
  page.element("p", thinned_text(source.report));
  write_table(page, table_of(*source.report.thinned), "Thinned steps by rank");
  page.element("p", how_to_read, {{"class", "faint"}});
}

}  // namespace html

void keep_thinned_ranks(Report& report, const ReportOptions& options) {
  if (!report.thinned) return;
  std::erase_if(report.thinned->ranks, [&](const ThinnedRank& rank) { return !is_asked_for(options, rank.rank); });
}

}  // namespace rankscope::analyzer
