// One step of a pipeline, drawn: a row per place, a bar per micro-batch, hatched where it stands still.
#include "pipeline/parts.h"

#include <array>

#include "pipeline/worker_grid.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/html/elements.h"
#include "render/words.h"

namespace rankscope::analyzer::html {
namespace {

constexpr double left_margin = 90;
constexpr double right_margin = 20;
constexpr double top_margin = 8;
constexpr double bottom_margin = 44;
constexpr double row_height = 26;
constexpr double width_of_digit = 8;

std::string_view colour_of(PipelinePart part) {
  switch (part) {
    case PipelinePart::forward:
      return "compute";
    case PipelinePart::backward:
      return "wait";
    case PipelinePart::backward_input:
      return "copies";
    case PipelinePart::backward_weight:
      return "transfer";
  }
  return "";
}

std::string_view words_of(PipelinePart part) {
  switch (part) {
    case PipelinePart::forward:
      return "forward";
    case PipelinePart::backward:
      return "backward";
    case PipelinePart::backward_input:
      return "backward, input gradient";
    case PipelinePart::backward_weight:
      return "backward, weight gradient";
  }
  return "";
}

void draw_axis(Chart& chart, const TimeScale& scale, double base) {
  for (std::int64_t tick = 0; tick <= scale.longest_ns; tick += scale.tick_ns) {
    chart.line(left_margin + scale.length(tick), top_margin, left_margin + scale.length(tick), base,
               tick == 0 ? "axis" : "grid");
    chart.text(left_margin + scale.length(tick), base + 18, scale.label(tick), "tick middle");
  }
  chart.text(left_margin + scale.pixels / 2, base + 36, format("{} after the first forward pass started", scale.unit),
             "tick middle");
}

void draw_action(Writer& page, Chart& chart, const TimeScale& scale, const DrawnAction& drawn) {
  const PipelineAction& action = drawn.action;
  const double x = left_margin + scale.length(drawn.begin_ns);
  const double y = top_margin + row_height * drawn.place + 3;
  const double width = scale.length(drawn.end_ns - drawn.begin_ns);
  write_bar(page, {x, y, width, row_height - 6}, colour_of(action.part),
            format("position {}, micro-batch {}{}: {}, {}, starting at {}", drawn.place, action.micro_batch,
                   action.chunk > 0 ? format(" of chunk {}", action.chunk) : std::string{}, words_of(action.part),
                   duration_text(drawn.end_ns - drawn.begin_ns), duration_text(drawn.begin_ns)));
  const std::string label = std::to_string(action.micro_batch);
  if (width > width_of_digit * static_cast<double>(label.size()) + 4)
    chart.text(x + width / 2, y + row_height / 2 + 1, label, "middle on-bar");
}

void draw(Writer& page, const DrawnPipeline& drawn) {
  const double base = top_margin + row_height * static_cast<double>(drawn.ranks.size());
  const TimeScale scale = time_scale(drawn.length_ns, chart_width - left_margin - right_margin);
  Chart chart{page,
              {"pipeline-step", format("Step {} of one pipeline, as it ran", drawn.step),
               "One row for each position in the pipeline, and one bar for each forward and backward pass, labelled "
               "with the number of its micro-batch. Hatched parts show when the rank is idle; the table below has the "
               "numbers."},
              base + bottom_margin};
  draw_axis(chart, scale, base);
  for (std::size_t place = 0; place < drawn.ranks.size(); ++place) {
    const double y = top_margin + row_height * static_cast<double>(place);
    chart.text(left_margin - 10, y + row_height / 2 + 4, format("rank {}", drawn.ranks[place].value), "tick end");
    // A broad dashed line looks hatched; colour alone would not tell idle time from work.
    chart.line(left_margin, y + row_height / 2, left_margin + scale.pixels, y + row_height / 2, "pipeline-idle");
  }
  for (const DrawnAction& action : drawn.actions) draw_action(page, chart, scale, action);
}

void write_parts_legend(Writer& page, const DrawnPipeline& drawn) {
  std::array<bool, 4> there{};
  for (const DrawnAction& action : drawn.actions) there[static_cast<std::size_t>(action.action.part)] = true;
  std::vector<LegendEntry> entries;
  for (std::size_t part = 0; part < there.size(); ++part)
    if (there[part])
      entries.push_back({colour_of(static_cast<PipelinePart>(part)), words_of(static_cast<PipelinePart>(part))});
  entries.push_back({"pipeline-idle", "idle"});
  write_legend(page, entries);
}

}  // namespace

void write_pipeline(Writer& page, const Source& source) {
  if (!source.report.pipeline) return;
  const PipelineSection& section = *source.report.pipeline;
  for (const std::string& line : pipeline_lines(section)) page.element("p", line);
  if (section.drawn) {
    draw(page, *section.drawn);
    write_parts_legend(page, *section.drawn);
  } else {
    page.element("p", format("Not drawn: {}.", section.why_not_drawn), {{"class", "faint"}});
  }
  write_worker_map(page, section);
  write_noted_tables(page, {pipeline_table(section, most_rows(source.options))});
}

}  // namespace rankscope::analyzer::html
