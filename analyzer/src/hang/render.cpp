#include <algorithm>
#include <nlohmann/json.hpp>

#include "hang/clauses.h"
#include "rankscope/analyzer/hang/hang.h"
#include "rankscope/core/format.h"
#include "render/html/document.h"
#include "render/html/elements.h"
#include "render/noted_table.h"
#include "render/page.h"
#include "render/words.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t most_roots = 6;  // in the text
constexpr std::size_t most_waits = 8;
constexpr std::size_t most_losses = 6;
constexpr std::size_t most_lines_of_stack = 6;

using HangJson = nlohmann::ordered_json;

std::string_view certainty_words(HangCertainty certainty) {
  switch (certainty) {
    case HangCertainty::fact:
      return "certain";
    case HangCertainty::likely:
      return "likely";
    case HangCertainty::guess:
      return "a guess";
  }
  return {};
}

bool only_guesses(const HangReport& report) {
  return std::ranges::all_of(report.roots, [](const HangRoot& root) { return root.certainty == HangCertainty::guess; });
}

std::string verdict_sentence(const HangReport& report) {
  switch (report.verdict) {
    case HangVerdict::hang:
      if (only_guesses(report)) return report.job_has_ended ? "The job may have hung." : "The job may hang.";
      return report.job_has_ended ? "The job hung." : "The job hangs.";
    case HangVerdict::crash:
      return "The job crashed.";
    case HangVerdict::failed:
      return "The job failed.";
    case HangVerdict::slow:
      return "The job is slow, but no rank hangs.";
    case HangVerdict::running:
      return report.has_ended ? "No rank hung: the open operations had only just begun when the recording ended."
                              : "The open operations had only just begun: the job seems to be running.";
    case HangVerdict::finished:
      return "No rank waits for another: no operation is open.";
    case HangVerdict::cannot_tell:
      return format("Cannot tell which rank stopped first: {}.", report.why_not_told);
  }
  return {};
}

Tone hang_tone(HangVerdict verdict) {
  switch (verdict) {
    case HangVerdict::hang:
    case HangVerdict::crash:
    case HangVerdict::failed:
      return Tone::bad;
    case HangVerdict::slow:
    case HangVerdict::running:
    case HangVerdict::cannot_tell:
      return Tone::warning;
    case HangVerdict::finished:
      return Tone::good;
  }
  return Tone::plain;
}

std::string inputs_sentence(const HangReport& report) {
  if (report.world_size <= 0) return format("{} read.", counted(report.inputs, "input"));
  return format("{} read; the job has {}.", counted(report.inputs, "input"), counted(report.world_size, "rank"));
}

NotedTable waits_table(const HangReport& report, std::size_t most) {
  NotedTable noted{"Waiting", "the consequences",
                   Table{{{"ranks", Align::left}, {"wait in", Align::left, 56}, {"for", Align::left}}, {}}};
  for (const HangWait& wait : report.waiting) {
    if (noted.table.rows.size() == most) break;
    noted.table.rows.push_back({{rank_ranges(wait.ranks)},
                                {hang::operation_words(wait.operation)},
                                {wait.waits_for.empty() ? std::string{empty_cell} : rank_ranges(wait.waits_for)}});
  }
  if (report.waiting.size() > most)
    noted.notes.push_back(
        format("The JSON (--json FILE) lists {}.", counted(report.waiting.size() - most, "more operation")));
  return noted;
}

NotedTable losses_table(const HangReport& report, std::size_t most) {
  NotedTable noted{"Input", "input that could not be used",
                   Table{{{"counter", Align::left}, {"file", Align::left}, {"which", Align::left, 60}}, {}}};
  for (const HangLoss& loss : report.losses) {
    if (noted.table.rows.size() == most) break;
    noted.table.rows.push_back({{loss.counter}, {loss.where}, {loss.why}});
  }
  if (report.losses.size() > most)
    noted.notes.push_back(
        format("The JSON (--json FILE) lists {}.", counted(report.losses.size() - most, "more file")));
  return noted;
}

HangJson json_of(const std::vector<RankId>& ranks) {
  HangJson list = HangJson::array();
  for (const RankId rank : ranks) list.push_back(rank.value);
  return list;
}

HangJson json_of(const HangRoot& root) {
  HangJson out{{"ranks", json_of(root.ranks)}, {"kind", name_of(root.kind)}};
  if (root.operation) {
    const HangOperation& operation = *root.operation;
    out["group"] = {{"name", operation.group.name},
                    {"description", operation.group.description},
                    {"ranks", json_of(operation.group.ranks)}};
    out["op"] = operation.op;
    out["seq"] = operation.sequence < 0 ? HangJson(nullptr) : HangJson(operation.sequence);
    if (!operation.shape.empty()) out["shape"] = operation.shape;
    if (!operation.dtype.empty()) out["dtype"] = operation.dtype;
  }
  if (root.signal) out["signal"] = *root.signal;
  if (root.exit_status) out["exit_status"] = *root.exit_status;
  if (root.step) out["step"] = *root.step;
  if (!root.range.empty()) out["range"] = root.range;
  if (!root.stack.empty()) out["stack"] = root.stack;
  out["evidence"] = root.evidence;
  out["advice"] = root.advice;
  out["certainty"] = name_of(root.certainty);
  return out;
}

}  // namespace

std::string hang_clause(const HangRoot& root) {
  const std::string ranks = ranks_text(root.ranks);
  const std::string operation = root.operation ? hang::operation_words(*root.operation) : "an operation";
  const std::size_t count = root.ranks.size();
  // Otherwise no majority shows which of these ranks are wrong: they also differ from each other.
  const bool differ_from_peers = count == 1 || root.certainty == HangCertainty::fact;
  switch (root.kind) {
    case HangKind::never_came:
      return format("{} never reached {}", ranks, operation);
    case HangKind::stuck_outside:
      return format("{} {} stuck outside of communication{} and never reached {}", ranks,
                    hang::verb(count, "is", "are"), root.range.empty() ? "" : format(", inside {},", root.range),
                    operation);
    case HangKind::order:
      return differ_from_peers ? format("{} called an operation other than {}", ranks, operation)
                               : format("{} did not all call {}", ranks, operation);
    case HangKind::size:
      return format("{} passed {} to {}", ranks, differ_from_peers ? "a different size" : "different sizes", operation);
    case HangKind::dtype:
      return format("{} passed {} to {}", ranks,
                    differ_from_peers ? "a different element type" : "different element types", operation);
    case HangKind::root:
      return format("{} named {} in {}", ranks, differ_from_peers ? "a different root" : "different roots", operation);
    case HangKind::dead:
      return format("{} {}{}{}{}", ranks,
                    root.signal        ? std::string{hang::verb(count, "was killed", "were killed")}
                    : root.exit_status ? format("exited with status {}", *root.exit_status)
                                       : "ended",
                    root.step ? format(" in step {}", *root.step) : "",
                    root.range.empty() ? "" : format(" inside {}", root.range),
                    root.operation ? format("; the others wait in {}", operation) : "");
    case HangKind::no_dump:
      return format("{} left nothing that can be read, and others wait for {} in {}", ranks,
                    hang::verb(count, "it", "them"), operation);
    case HangKind::device:
      return format("the {} of {} {} stuck before {}", hang::verb(count, "device", "devices"), ranks,
                    hang::verb(count, "is", "are"), operation);
    case HangKind::link:
      return format("{} called {}, which did not finish", ranks, operation);
    case HangKind::straggler:
      return format("{} {} late to reach {}", ranks, hang::verb(count, "was", "were"), operation);
    case HangKind::cycle:
      return count == 1 ? format("{} waits in {} for a rank that, in another operation, waits for it", ranks, operation)
                        : format("{} are deadlocked: ranks wait for each other in different operations", ranks);
    case HangKind::nan:
      return format("{} computed values that are not finite (NaN or infinity)", ranks);
    case HangKind::corrupt:
      return count == 1 ? format("the copy of the model on {} differs from the other copies", ranks)
                        : format("the copies of the model on {} differ", ranks);  // nothing shows which are right
  }
  return {};
}

std::string hang_headline(const HangReport& report) {
  if (report.roots.empty() || report.verdict == HangVerdict::cannot_tell) return verdict_sentence(report);
  return sentence(hang_clause(report.roots.front()));
}

std::string render_hang_text(const HangReport& report, Colour colour) {
  Page page{colour};
  page.heading("VERDICT");
  page.paragraph(verdict_sentence(report), hang_tone(report.verdict));
  for (std::size_t i = 0; i < std::min(report.roots.size(), most_roots); ++i) {
    const HangRoot& root = report.roots[i];
    page.paragraph(sentence(format("{} ({})", hang_clause(root), certainty_words(root.certainty))),
                   root.certainty == HangCertainty::guess ? Tone::warning : Tone::bad);
    page.paragraph(sentence(root.evidence), Tone::plain, 4);
    const std::size_t lines = std::min(root.stack.size(), most_lines_of_stack);
    for (std::size_t k = root.stack.size() - lines; k < root.stack.size(); ++k)
      page.paragraph("at " + root.stack[k], Tone::faint, 6);
    page.paragraph(root.advice, Tone::faint, 4);
  }
  if (report.roots.size() > most_roots)
    page.paragraph(format("The JSON (--json FILE) lists {}.", counted(report.roots.size() - most_roots, "more cause")),
                   Tone::faint);
  page.paragraph(inputs_sentence(report), Tone::faint);
  std::vector<NotedTable> tables;
  if (!report.waiting.empty()) tables.push_back(waits_table(report, most_waits));
  if (!report.losses.empty()) tables.push_back(losses_table(report, most_losses));
  add_noted_tables(page, tables);
  return std::move(page).take();
}

std::string render_hang_json(const HangReport& report) {
  HangJson out{{"schema", "rankscope.hang/1"},
               {"world_size", report.world_size > 0 ? HangJson(report.world_size) : HangJson(nullptr)},
               {"dumps", report.inputs},
               {"verdict", name_of(report.verdict)}};
  if (!report.why_not_told.empty()) out["why_not_told"] = report.why_not_told;
  out["roots"] = HangJson::array();
  for (const HangRoot& root : report.roots) out["roots"].push_back(json_of(root));
  out["waiting"] = HangJson::array();
  for (const HangWait& wait : report.waiting)
    out["waiting"].push_back(
        HangJson{{"ranks", json_of(wait.ranks)},
                 {"group", wait.operation.group.name},
                 {"op", wait.operation.op},
                 {"seq", wait.operation.sequence < 0 ? HangJson(nullptr) : HangJson(wait.operation.sequence)},
                 {"for", json_of(wait.waits_for)}});
  out["data_quality"] = HangJson::array();
  for (const HangLoss& loss : report.losses)
    out["data_quality"].push_back(
        HangJson{{"counter", loss.counter}, {"value", 1}, {"where", loss.where}, {"why", loss.why}});
  return out.dump(2, ' ', false, HangJson::error_handler_t::replace) + "\n";
}

std::string render_hang_html(const HangReport& report) {
  html::Writer body;
  body.element("p", verdict_sentence(report), {{"class", std::string{html::class_of(hang_tone(report.verdict))}}});
  for (const HangRoot& root : report.roots) {
    body.element("h3", sentence(format("{} ({})", hang_clause(root), certainty_words(root.certainty))));
    body.element("p", sentence(root.evidence));
    for (const std::string& line : root.stack) body.element("code", line);
    body.element("p", root.advice);
  }
  body.element("p", inputs_sentence(report));
  std::vector<html::DocumentSection> sections{{"hang", "Verdict", std::move(body).take()}};
  std::vector<NotedTable> tables;
  if (!report.waiting.empty()) tables.push_back(waits_table(report, 1000));
  if (!report.losses.empty()) tables.push_back(losses_table(report, 1000));
  if (!tables.empty()) {
    html::Writer rest;
    html::write_noted_tables(rest, tables);
    sections.push_back({"waiting", "Waiting and input", std::move(rest).take()});
  }
  return html::document({"rankscope hang", report.world_size > 0 ? counted(report.world_size, "rank")
                                                                 : std::string{name_of(report.verdict)}},
                        sections);
}

}  // namespace rankscope::analyzer
