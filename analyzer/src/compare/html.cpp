// The comparison as one page.
#include <array>
#include <utility>

#include "compare/tables.h"
#include "compare/words.h"
#include "rankscope/core/format.h"
#include "render/html/document.h"
#include "render/html/elements.h"
#include "render/words.h"

namespace rankscope::analyzer {
namespace {

using html::Writer;

void write_verdict(Writer& page, const ComparisonView& view) {
  const Verdict verdict = verdict_of(view);
  {
    const auto box = page.scope("div", {{"class", format("verdict {}", html::class_of(verdict.tone))}});
    page.element("p", verdict.headline, {{"class", "headline"}});
    for (const std::string& sentence : verdict.more) page.element("p", sentence);
  }
  const Comparison& comparison = view.comparison;
  const auto list = page.scope("dl", {{"class", "figures"}});
  for (const ComparedRun* run : {&comparison.a, &comparison.b}) {
    if (run->median_ns) write_fact(page, "Median step, " + title_of(*run), duration_text(*run->median_ns));
    if (run->mean_ns) write_fact(page, "Mean step, " + title_of(*run), duration_text(*run->mean_ns));
  }
  if (comparison.steps.change) write_fact(page, "Change of the median", signed_percent(*comparison.steps.change));
  if (comparison.steps.low)
    write_fact(page, "95 % interval",
               format("{} to {}", signed_percent(*comparison.steps.low), signed_percent(*comparison.steps.high)));
  if (comparison.steps.mean) write_fact(page, "Change of the mean", signed_percent(comparison.steps.mean->change));
  if (view.gate) write_fact(page, "Limit", format("{:g} %", view.gate->limit * 100));
}

void write_runs(Writer& page, const ComparisonView& view) {
  const Comparison& comparison = view.comparison;
  {
    const auto list = page.scope("dl", {{"class", "facts"}});
    for (const ComparedRun* run : {&comparison.a, &comparison.b})
      write_fact(page, title_of(*run), format("{}: {}", run->name.path, facts_text(*run)));
  }
  if (const std::string part = asked_for_text(comparison.asked_for); !part.empty())
    page.element("p", part, {{"class", "warning"}});
  for (const std::string& caveat : caveats_of(comparison)) page.element("p", caveat, {{"class", "faint"}});
  if (const std::string scaling = scaling_text(comparison); !scaling.empty()) page.element("p", scaling);
}

void write_keys(Writer& page, const ComparisonView& view) {
  html::write_noted_tables(page, key_tables(view));
  for (const std::string& sentence : unlisted_keys(view.comparison.keys)) page.element("p", sentence);
}
void write_differences(Writer& page, const ComparisonView& view) {
  html::write_noted_tables(page, difference_tables(view));
}

constexpr std::array<html::LegendEntry, 6> colours{{{"compute", "compute"},
                                                    {"wait", "waiting in communication"},
                                                    {"transfer", "transfer"},
                                                    {"unsplit", "waiting or transfer"},
                                                    {"copies", "copies"},
                                                    {"idle", "idle"}}};

std::string_view colour_of(SplitPart part) {
  switch (part) {
    case SplitPart::compute:
      return "compute";
    case SplitPart::exposed_wait:
      return "wait";
    case SplitPart::exposed_transfer:
      return "transfer";
    case SplitPart::exposed_unsplit:
      return "unsplit";
    case SplitPart::memory:
      return "copies";
    case SplitPart::idle_host:
    case SplitPart::idle_sync:
    case SplitPart::idle_data:
    case SplitPart::idle_kernel_gap:
    case SplitPart::idle_other:
      return "idle";
  }
  return "idle";
}

constexpr double change_left = 88;
constexpr double change_right = 24;
constexpr double top = 8;
constexpr double bottom = 44;
constexpr double row_height = 32;

void draw_run(Writer& page, const SplitMean& mean, std::string_view name, const html::TimeScale& time, double y) {
  std::int64_t before = 0;
  for (std::size_t i = 0; i < split_part_count; ++i) {
    const auto part = static_cast<SplitPart>(i);
    if (mean.of(part) <= 0) continue;
    const double begin = time.length(before);
    before += mean.of(part);
    html::write_bar(page, {change_left + begin, y + 4, time.length(before) - begin, row_height - 8}, colour_of(part),
                    format("{}: {} {}", name, words_of(part), duration_text(mean.of(part))));
  }
}

void draw_parts(Writer& page, const ComparisonView& view) {
  const SplitChange& all = view.comparison.split->all;
  const auto time =
      html::time_scale(std::max(all.a.window_ns, all.b.window_ns), html::chart_width - change_left - change_right);
  const double base = top + 2 * row_height;
  html::Chart chart{page,
                    {"parts-chart", "How each run spends a step",
                     "One bar for each run, divided into computation, communication that no computation hides, copies "
                     "and idle time. The table below has the numbers."},
                    base + bottom};
  for (std::int64_t ns = 0; ns <= time.longest_ns; ns += time.tick_ns) {
    const double x = change_left + time.length(ns);
    chart.line(x, top, x, base, ns == 0 ? "axis" : "grid");
    chart.text(x, base + 18, time.label(ns), "tick middle");
  }
  chart.text((change_left + html::chart_width - change_right) / 2, base + 36, format("{} per step and rank", time.unit),
             "tick middle");
  double y = top;
  for (const auto& [run, mean] : {std::pair{&view.comparison.a, &all.a}, std::pair{&view.comparison.b, &all.b}}) {
    chart.text(change_left - 10, y + row_height / 2 + 4, title_of(*run), "tick end");
    draw_run(page, *mean, title_of(*run), time, y);
    y += row_height;
  }
}

void write_split(Writer& page, const ComparisonView& view) {
  if (!view.comparison.split) {
    page.element("p",
                 format("It is not known what the steps spent their time on: {}.", view.comparison.split.error().why),
                 {{"class", "warning"}});
    return;
  }
  html::write_legend(page, colours);
  draw_parts(page, view);
  html::write_noted_tables(page, split_tables(view));
}

void write_findings(Writer& page, const ComparisonView& view) {
  if (const std::string why = findings_unknown(view.comparison.findings); !why.empty()) page.element("p", why);
  html::write_noted_tables(page, finding_tables(view));
  html::write_noted_tables(page, memory_tables(view));
}

struct PageSection {
  std::string_view id;
  std::string_view title;
  void (*write)(Writer& page, const ComparisonView& view);
};

// The order of the page.
constexpr std::array page_sections{
    PageSection{"verdict", "Verdict", write_verdict},
    PageSection{"keys", "What changed", write_keys},
    PageSection{"parts", "Where the time went", write_split},
    PageSection{"findings", "Findings and memory", write_findings},
    PageSection{"differences", "What differs", write_differences},
    PageSection{"runs", "About the runs", write_runs},
};

}  // namespace

std::string render_html(const ComparisonView& view) {
  std::vector<html::DocumentSection> all;
  for (const PageSection& section : page_sections) {
    Writer body;
    section.write(body, view);
    auto text = std::move(body).take();
    if (!text.empty()) all.push_back({std::string{section.id}, section.title, std::move(text)});
  }
  const Comparison& comparison = view.comparison;
  return html::document({view.gate ? "rankscope gate" : "rankscope compare",
                         format("{} against {}", comparison.b.name.path, comparison.a.name.path)},
                        all);
}

}  // namespace rankscope::analyzer
