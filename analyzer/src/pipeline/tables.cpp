#include "pipeline/parts.h"

#include <span>

#include "pipeline/worker_grid.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/words.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t widest_grid = 12;

std::string ms_text(std::int64_t ns) { return format("{:.2f}", static_cast<double>(ns) / 1e6); }

std::string shape_text(const PipelineSection& section) {
  std::string text = format(
      "{} on {}", format("{} micro-batch{}", section.shape.micro_batches, section.shape.micro_batches == 1 ? "" : "es"),
      counted(section.shape.ranks, "rank"));
  if (section.shape.chunks > 1) text += format(", {} chunks of the model on each", section.shape.chunks);
  if (section.pipelines > 1) text += format("; {} pipelines side by side", section.pipelines);
  return text + (section.steps > 0 ? format("; {}", counted(section.steps, "step")) : "; no steps were marked");
}

std::string bubble_text(const PipelineSection& section) {
  if (!section.bubble_measured.value)
    return "The size of the bubble is not known: " + section.bubble_measured.why + ".";
  const std::string measured = format("Bubble: {} of the time", percent_text(*section.bubble_measured.value));
  if (!section.bubble_theory.value)
    return format("{}. The bubble that the schedule requires is not known: {}.", measured, section.bubble_theory.why);
  return format("{}; the schedule requires {} (excess: {:+.1f} points).", measured,
                percent_text(*section.bubble_theory.value), 100 * *section.above_theory());
}

std::string owner_text(const PipelineSection& section) {
  if (!section.owner) return {};
  const auto& [rank, place, above] = *section.owner;
  return format(
      "Rank {} (position {}) causes most of the time beyond what the schedule requires. Per step: {} ms of longer "
      "work, {} ms until the inputs had arrived, and {} ms from then until the work started.",
      rank.value, place, ms_text(above.longer_work_ns), ms_text(above.transfer_ns), ms_text(above.host_ns));
}

std::string list_text(std::span<const std::int32_t> numbers) {
  std::string text;
  for (const std::int32_t number : numbers)
    text += format("{}{}", text.empty() ? "" : ", ", number < 0 ? std::string{"?"} : std::to_string(number));
  return text;
}

std::string first_ranks_text(std::span<const RankId> ranks) {
  constexpr std::size_t most = 4;
  std::string text;
  for (const RankId rank : ranks.first(std::min(ranks.size(), most)))
    text += format("{}{}", text.empty() ? "" : ", ", rank.value);
  return ranks.size() > most ? format("{}, … ({})", text, ranks.size()) : text;
}

}  // namespace

std::vector<std::string> pipeline_lines(const PipelineSection& section) {
  std::vector<std::string> lines;
  lines.push_back(section.schedule ? format("Schedule {}: {}.", name_of(*section.schedule), shape_text(section))
                                   : format("Unknown schedule ({}): {}.", section.why_unknown, shape_text(section)));
  if (!section.note.empty()) lines.push_back(section.note + ".");
  lines.push_back(bubble_text(section));
  if (section.parts)
    lines.push_back(format("{} per step = {}.", duration_text(section.parts->length_ns), parts_text(*section.parts)));
  if (std::string owner = owner_text(section); !owner.empty()) lines.push_back(std::move(owner));
  return lines;
}

NotedTable pipeline_table(const PipelineSection& section, std::size_t most) {
  NotedTable noted{
      "Pipeline",
      format("ms; forward, backward: medians per micro-batch{}", section.parts ? "; last three columns: per step" : ""),
      Table{{{"position"}, {"stages"}, {"ranks", Align::left, 30}, {"forward"}, {"backward"}, {"bubble"}}, {}},
      left_out(section.places.size(), most)};
  if (section.parts)
    for (const char* title : {"longer work", "transfers", "host"}) noted.table.columns.push_back({title});
  std::int32_t place = 0;
  for (const PipelinePlace& row : std::span{section.places}.first(section.places.size() - noted.left_out.rows)) {
    noted.table.rows.push_back({{format("{}", place++)},
                                {list_text(row.stages)},
                                {first_ranks_text(row.ranks)},
                                {ms_text(row.forward_ns)},
                                {ms_text(row.backward_ns)},
                                {percent_text(row.bubble)}});
    if (!section.parts) continue;
    for (const std::int64_t ns : {row.above.longer_work_ns, row.above.transfer_ns, row.above.host_ns})
      noted.table.rows.back().push_back({ms_text(ns)});
  }
  if (section.parts)
    noted.notes.emplace_back(
        "The schedule by itself assumes equal stages and no delays. The last columns show the time beyond what the "
        "schedule requires, on the chain of work that determined the length of the step. Longer work: work beyond the "
        "mean of all positions; transfers: time until the inputs had arrived; host: time from then until the work "
        "started.");
  return noted;
}

void add_pipeline(Page& page, const Report& report, const ReportOptions& options) {
  if (!report.pipeline) return;
  const NotedTable noted = pipeline_table(*report.pipeline, options.top);
  page.heading("PIPELINE", noted.what);
  for (const std::string& line : pipeline_lines(*report.pipeline)) page.paragraph(printable(line));
  page.table(noted.table);
  add_left_out(page, noted.left_out);
  for (const std::string& note : noted.notes) page.paragraph(note, Tone::faint);
  const WorkerGrid grid = worker_grid(*report.pipeline, options.top);
  if (grid.ranks.empty() || grid.ranks.front().size() > widest_grid) return;
  page.blank();
  page.paragraph("Work of each rank in ms per step; one row for each pipeline, one column for each position:",
                 Tone::faint);
  page.table(table_of(grid));
  if (grid.pipelines_left_out > 0)
    page.paragraph(format("Left out: {} whose work is closer to the median than that of those shown.",
                          counted(grid.pipelines_left_out, "pipeline")),
                   Tone::faint);
}

}  // namespace rankscope::analyzer
