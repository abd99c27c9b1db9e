#include <algorithm>

#include "rankscope/analyzer/render.h"
#include "rankscope/core/format.h"
#include "render/copies.h"
#include "render/idle.h"
#include "render/kernels.h"
#include "render/missing.h"
#include "render/operators.h"
#include "render/page.h"
#include "render/tables.h"
#include "render/verdict.h"
#include "render/words.h"
#include "source_advice.h"

namespace rankscope::analyzer {
namespace {

std::int64_t size_of(const auto& list) { return static_cast<std::int64_t>(list.size()); }

void add_verdict(Page& page, const Report& report) {
  const auto verdict = verdict_of(report);
  page.heading("VERDICT");
  page.paragraph(verdict.headline, verdict.tone);
  for (const auto& sentence : verdict.more) page.paragraph(sentence);
}

std::string ranks_text(const Report& report) {
  const auto present = size_of(report.ranks);
  if (report.world_size > present) return format("{} of {} ranks", present, report.world_size);
  return counted(present, "rank");
}

std::string steps_text(const StepsSection& steps) {
  auto text = format(" · {}", counted(size_of(steps.steps), "step"));
  if (steps.median_ns > 0) {
    text += format(" of {} (90 % within {}, jitter {})", duration_text(steps.median_ns), duration_text(steps.p90_ns),
                   percent_text(steps.jitter));
  }
  return text;
}

std::string clock_text(const ClockInfo& clock) {
  if (clock.method == "none") return "Clocks: none in common; times of different ranks are not compared.";
  auto method = clock.method;
  std::ranges::replace(method, '_', ' ');
  return format("Clocks: {}, ± {}; differences between ranks below twice that are not claimed.", printable(method),
                duration_text(clock.error.count()));
}

/// What is left out of the sections below; empty if nothing is.
std::string asked_for_text(const AskedFor& part) {
  if (!part.steps && part.ranks.empty()) return {};
  std::string shown;
  if (part.steps && part.steps->first == part.steps->second) shown = format("step {}", part.steps->first);
  if (part.steps && part.steps->first != part.steps->second)
    shown = format("steps {} to {}", part.steps->first, part.steps->second);
  if (!part.ranks.empty()) {
    shown += format("{}rank{} ", shown.empty() ? "" : " of ", part.ranks.size() == 1 ? "" : "s");
    for (const RankId rank : part.ranks) shown += format("{}{}", rank == part.ranks.front() ? "" : ", ", rank.value);
  }
  return format("Shown: only {}. Ranks are compared with all others; data quality is that of the whole run.", shown);
}

void add_head(Page& page, const Report& report) {
  page.heading("RUN");
  page.paragraph(format("{}{} · {} recorded by {}", ranks_text(report), report.steps ? steps_text(*report.steps) : "",
                        duration_text(report.duration_ns), printable(report.source)));
  if (const auto part = asked_for_text(report.asked_for); !part.empty()) page.paragraph(part, Tone::warning);
  if (report.steps) page.paragraph(steps_source(*report.steps), Tone::faint);
  page.paragraph(clock_text(report.clock), Tone::faint);
  std::string facts;
  for (const auto& [name, value] : report.facts) {
    facts += format("{}{} {}", facts.empty() ? "" : " · ", printable(name), printable(value));
  }
  if (!facts.empty()) page.paragraph(facts);
}

void add_stragglers(Page& page, const Report& report) {
  if (!report.stragglers) return;
  const auto& section = *report.stragglers;
  page.heading("SLOW RANKS");
  if (section.rows.empty()) {
    if (section.cannot_tell.empty()) page.paragraph("None.");
  } else {
    page.table(straggler_table(section));
    for (const auto& row : section.rows) {
      if (row.evidence.empty()) continue;
      page.item({format("rank {}", row.rank.value), Tone::faint}, printable(row.evidence), 8);
    }
  }
  if (!section.cannot_tell.empty()) page.paragraph(sentence(section.cannot_tell), Tone::warning);
  auto basis = printable(section.compared);
  if (section.smallest_detectable && section.cannot_tell.empty()) {
    basis += format(" A rank slower by {} or more would be found.", percent_text(*section.smallest_detectable - 1));
  }
  page.paragraph(basis, Tone::faint);
}

Tone tone_of(FindingSeverity severity) {
  switch (severity) {
    case FindingSeverity::critical:
    case FindingSeverity::major:
      return Tone::bad;
    case FindingSeverity::minor:
      return Tone::warning;
    case FindingSeverity::info:
      return Tone::faint;
  }
  return Tone::plain;
}

void add_findings(Page& page, const Report& report, const ReportOptions& options) {
  if (!report.findings) return;
  page.heading("FINDINGS");
  if (report.findings->empty())
    page.paragraph(cannot_tell(report).empty() ? "None." : "None among what can be told; see the verdict.");
  constexpr std::size_t label_width = 8;
  std::size_t shown = 0;
  for (const auto& finding : *report.findings) {
    if (shown == options.top) {
      page.paragraph(format("{} more; --top {} shows all.", report.findings->size() - shown, report.findings->size()));
      break;
    }
    if (shown++ > 0) page.blank();
    auto title = printable(finding.title);
    if (finding.gain_ns_per_step > 0)
      title += format(" · gain up to {} per step", duration_text(finding.gain_ns_per_step));
    page.item({std::string{name_of(finding.severity)}, tone_of(finding.severity)}, title, label_width);
    if (!finding.evidence.empty()) page.item({"", Tone::plain}, printable(finding.evidence), label_width);
    if (!finding.advice.empty()) page.item({"  advice", Tone::faint}, printable(finding.advice), label_width);
  }
}

std::string places_text(const QualityRow& row) {
  constexpr std::size_t most = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(row.where.size(), most); ++i)
    text += (i == 0 ? " In: " : "; ") + printable(row.where[i]);
  if (row.where.size() > most) text += format("; and {} more", row.where.size() - most);
  return text.empty() ? text : text + ".";
}

void add_quality(Page& page, const Report& report) {
  page.heading("DATA QUALITY");
  bool any = false;
  for (const auto& row : report.data_quality) {
    if (row.value == 0) continue;
    any = true;
    const auto& info = info_of(row.counter);
    const auto tone = info.severity == Severity::data_loss ? Tone::bad
                      : info.severity == Severity::error   ? Tone::warning
                                                           : Tone::faint;
    auto name = std::string{info.name};
    std::ranges::replace(name, '_', ' ');
    const auto kind = info.severity == Severity::data_loss ? "data loss" : name_of(info.severity);
    page.item({std::string{kind}, tone},
              format("{}: {}. {}{}", name, row.value, advice_for(row.counter, report.source), places_text(row)), 9);
  }
  if (!any) page.paragraph("Nothing was lost or altered.");
}

void add_missing(Page& page, const Report& report) {
  page.heading("NOT AVAILABLE");
  for (const auto& section : missing_sections(report)) {
    const bool closed = section.why.ends_with('.');
    page.item({section.name, Tone::warning}, section.why + (closed ? "" : "."), 17);
    if (!section.remedy.empty()) page.item({"", Tone::plain}, section.remedy, 17);
  }
  page.item({"later versions", Tone::faint}, "efficiency, critical path, pipeline, what-if.", 17);
}

}  // namespace

std::string render_text(const Report& report, const Run&, const ReportOptions& options, Colour colour) {
  Page page{colour};
  add_verdict(page, report);
  add_head(page, report);
  add_stragglers(page, report);
  add_findings(page, report, options);
  add_rank_facts(page, report, options);
  add_rank_tables(page, report, options);
  add_idle_reasons(page, report, options);
  add_kernels(page, report, options);
  add_operators(page, report, options);
  add_copies(page, report, options);
  add_collectives(page, report, options);
  add_quality(page, report);
  add_missing(page, report);
  return std::move(page).take();
}

}  // namespace rankscope::analyzer
