#include <algorithm>
#include <array>

#include "rankscope/analyzer/render.h"
#include "rankscope/core/format.h"
#include "bandwidth/tables.h"
#include "blame/tables.h"
#include "alignment/tables.h"
#include "copies/tables.h"
#include "critical_path/tables.h"
#include "data_loading/tables.h"
#include "devices/tables.h"
#include "efficiency/tables.h"
#include "flops/tables.h"
#include "fusable/tables.h"
#include "hta/tables.h"
#include "split/idle_tables.h"
#include "kernels/tables.h"
#include "launches/tables.h"
#include "memory/tables.h"
#include "missing.h"
#include "operators/tables.h"
#include "overlap/tables.h"
#include "render/page.h"
#include "pipeline/tables.h"
#include "predicted/tables.h"
#include "verdict/sentences.h"
#include "split/tables.h"
#include "trend/tables.h"
#include "verdict/verdict.h"
#include "what_if/tables.h"
#include "render/words.h"

namespace rankscope::analyzer {
namespace {

void add_verdict(Page& page, const Report& report, const ReportOptions&) {
  const auto verdict = verdict_of(report);
  page.heading("VERDICT");
  page.paragraph(verdict.headline, verdict.tone);
  for (const auto& sentence : verdict.more) page.paragraph(sentence);
}

void add_head(Page& page, const Report& report, const ReportOptions&) {
  page.heading("RUN");
  page.paragraph(format("{}{} · {} recorded by {}", ranks_text(report), report.steps ? steps_text(*report.steps) : "",
                        duration_text(report.duration_ns), printable(report.source)));
  if (const auto part = asked_for_text(report.asked_for); !part.empty()) page.paragraph(part, Tone::warning);
  if (report.steps) page.paragraph(steps_source(*report.steps), Tone::faint);
  for (const ClockLine& line : clock_lines(report)) page.paragraph(line.text, line.tone);
  std::string facts;
  for (const auto& [name, value] : report.facts) {
    facts += format("{}{} {}", facts.empty() ? "" : " · ", printable(name), printable(value));
  }
  if (!facts.empty()) page.paragraph(facts);
}

void add_stragglers(Page& page, const Report& report, const ReportOptions&) {
  if (!report.stragglers) return;
  const auto& section = *report.stragglers;
  page.heading("SLOW RANKS");
  if (section.rows.empty()) {
    if (const auto left_out = left_out_text(report.asked_for); !left_out.empty())
      page.paragraph("None of those shown. " + left_out, Tone::warning);
    else if (section.cannot_tell.empty())
      page.paragraph("None.");
  } else {
    page.table(straggler_table(section));
    for (const auto& row : section.rows) {
      if (row.evidence.empty()) continue;
      page.item({format("rank {}", row.rank.value), Tone::faint}, printable(row.evidence), 8);
    }
  }
  if (!section.cannot_tell.empty()) page.paragraph(sentence(section.cannot_tell), Tone::warning);
  page.paragraph(basis_of(section), Tone::faint);
}

void add_findings(Page& page, const Report& report, const ReportOptions& options) {
  if (!report.findings) return;
  page.heading("FINDINGS");
  if (report.findings->empty())
    page.paragraph(cannot_tell(report).empty() ? "None." : "None among what can be told; see the verdict.");
  constexpr std::size_t label_width = 8;
  std::size_t shown = 0;
  for (const auto& finding : *report.findings) {
    if (shown == options.top) break;
    if (shown++ > 0) page.blank();
    auto title = printable(finding.title);
    if (finding.gain_ns_per_step > 0)
      title += format(" · gain up to {} per step", duration_text(finding.gain_ns_per_step));
    page.item({std::string{name_of(finding.severity)}, tone_of(finding.severity)}, title, label_width);
    if (!finding.evidence.empty()) page.item({"", Tone::plain}, printable(finding.evidence), label_width);
    if (!finding.advice.empty()) page.item({"  advice", Tone::faint}, printable(finding.advice), label_width);
  }
  add_left_out(page, left_out(report.findings->size(), options.top));
}

void add_trend(Page& page, const Report& report, const ReportOptions& options) {
  if (!report.trend) return;
  page.heading("STEPS OVER TIME");
  const TrendLines said = trend_lines(report, options.top);
  for (const std::string& line : said.lines) page.paragraph(line);
  add_left_out(page, said.left_out);
}

void add_quality(Page& page, const Report& report, const ReportOptions&) {
  page.heading("DATA QUALITY");
  bool any = false;
  for (const auto& row : report.data_quality) {
    if (row.value == 0) continue;
    any = true;
    const auto words = words_of(row, report.source);
    page.item(words.kind, words.text, 9);
  }
  if (!any) page.paragraph("Nothing was lost or altered.");
}

void add_missing(Page& page, const Report& report, const ReportOptions&) {
  const auto missing = missing_sections(report);
  if (missing.empty()) return;
  page.heading("NOT AVAILABLE");
  for (const auto& section : missing) {
    const bool closed = section.why.ends_with('.');
    page.item({section.name, Tone::warning}, section.why + (closed ? "" : "."), 17);
    if (!section.remedy.empty()) page.item({"", Tone::plain}, section.remedy, 17);
  }
}

template <auto tables>
void add_tables(Page& page, const Report& report, const ReportOptions& options) {
  add_noted_tables(page, tables(report, options.top));
}

struct TextSection {
  std::string_view id;  ///< of the analysis; empty: only in the whole report
  void (*add)(Page& page, const Report& report, const ReportOptions& options);
};

// The order of the text.
constexpr std::array sections{
    TextSection{"", add_verdict},
    TextSection{"steps", add_head},
    TextSection{"stragglers", add_stragglers},
    TextSection{"findings", add_findings},
    TextSection{"what_if", add_tables<what_if_tables>},
    TextSection{"critical_path", add_tables<critical_path_tables>},
    TextSection{"trend", add_trend},
    TextSection{"ranks", add_rank_facts},
    TextSection{"ranks", add_rank_tables},
    TextSection{"ranks", add_tables<idle_tables>},
    TextSection{"ranks", add_tables<device_tables>},
    TextSection{"efficiency", add_efficiency},
    TextSection{"blame", add_blame},
    TextSection{"data_loading", add_tables<data_loading_tables>},
    TextSection{"overlap", add_tables<overlap_tables>},
    TextSection{"launches", add_tables<launch_tables>},
    TextSection{"kernels", add_tables<kernel_tables>},
    TextSection{"fusable", add_tables<fusable_tables>},
    TextSection{"operators", add_tables<operator_tables>},
    TextSection{"copies", add_tables<copy_tables>},
    TextSection{"memory", add_tables<memory_tables>},
    TextSection{"predicted", add_tables<predicted_tables>},
    TextSection{"flops", add_tables<flop_tables>},
    TextSection{"pipeline", add_pipeline},
    TextSection{"collectives", add_collectives},
    TextSection{"bandwidth", add_bandwidth},
    TextSection{"hta", add_hta},
    TextSection{"", add_quality},
    TextSection{"", add_missing},
};

/// What was asked for by name is never left out without a word.
void add_why_missing(Page& page, const Report& report, const ReportOptions& options) {
  for (const std::string& id : options.only)
    if (const std::string why = why_missing(report, id); !why.empty())
      page.paragraph(format("{}: not available: {}{}{}", id, sentence(why), remedy_for(report, id).empty() ? "" : " ",
                            remedy_for(report, id)),
                     Tone::warning, 0);
}

}  // namespace

std::string render_text(const Report& report, const Run&, const ReportOptions& options, Colour colour) {
  Page page{colour};
  for (const TextSection& section : sections)
    if (options.only.empty() || (!section.id.empty() && wants(options, section.id))) section.add(page, report, options);
  add_why_missing(page, report, options);
  return std::move(page).take();
}

}  // namespace rankscope::analyzer
