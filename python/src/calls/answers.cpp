// Reports, predictions and comparisons as texts.
#include <functional>
#include <mutex>
#include <optional>

#include "calls/border.h"
#include "calls/request.h"
#include "rankscope/analyzer/compare/render_comparison.h"
#include "rankscope/analyzer/render.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/analyzer/select.h"
#include "rankscope/analyzer/what_if/what_if.h"
#include "rankscope/core/format.h"

namespace rankscope::python {
namespace {

tl::unexpected<Error> unknown_form(std::string_view form, std::string_view all) {
  return fail(ErrorKind::usage, format("unknown value '{}'; choose from: {}", form, all));
}

Result<analyzer::ReportOptions> report_options(const Request& request) {
  RS_TRY(analyzer::ReportOptions options, selection_from(request));
  RS_TRY(options.instances, request.flag("instances"));
  RS_TRY(options.only, request.texts("only"));
  RS_TRY(options.run_name, request.text("name", ""));
  RS_TRY(options.peak_tflops, request.number("peak_tflops", 0.001, 1e9));
  RS_TRY(const bool full, request.flag("full"));
  RS_TRY(const auto hta, request.text("hta", ""));
  if (!hta.empty() && hta != "dropped" && hta != "kept") return unknown_form(hta, "dropped, kept");
  if (!hta.empty()) options.hta = hta == "kept" ? analyzer::HtaLastStep::kept : analyzer::HtaLastStep::dropped;
  options.text = full || options.hta ? analyzer::TextLength::full : analyzer::TextLength::one_screen;
  for (const std::string& id : options.only) {
    std::string all;
    bool known = false;
    for (const analyzer::SectionInfo& info : analyzer::sections()) {
      known = known || info.id == id;
      all += format("{}{}", all.empty() ? "" : ", ", info.id);
    }
    if (!known) return fail(ErrorKind::usage, format("unknown section '{}'; choose from: {}", id, all));
  }
  return options;
}

Result<void> check_steps(const analyzer::Report& report) {
  if (!report.asked_for.steps || report.steps) return {};
  const std::string& why = report.steps.error().why;
  return fail(ErrorKind::usage, report.steps_recorded ? "steps: " + why : "steps: this recording has no steps: " + why);
}

bool is_whole(const analyzer::ReportOptions& options) {
  return !options.steps && options.ranks.empty() && !options.include_warm_up && !options.hta && !options.peak_tflops;
}

/// {"sentences": [...], "doubts": [...], "computed": true}
std::string verdict_json(const analyzer::Report& report, const analyzer::ReportOptions& options) {
  nlohmann::ordered_json verdict;
  verdict["sentences"] = analyzer::verdict_sentences(report);
  verdict["doubts"] = analyzer::doubts_about(report);
  verdict["computed"] = analyzer::anything_computed(report, options);
  return verdict.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Result<std::string> report(analyzer::RunTables& tables, const char* request_text) {
  RS_TRY(const Request request, Request::parse(request_text, {"form", "steps", "ranks", "include_warm_up", "instances",
                                                              "full", "only", "hta", "peak_tflops", "top", "name"}));
  RS_TRY(const auto form, request.text("form", "json"));
  RS_TRY(const auto options, report_options(request));
  const Run& run = tables.run();
  RS_TRY_VOID(analyzer::check_ranks(run, options.ranks, "ranks"));
  std::optional<analyzer::Report> of_a_part;
  if (!is_whole(options)) of_a_part = analyzer::analyze(run, options);
  const analyzer::Report& result = of_a_part ? *of_a_part : tables.report();
  RS_TRY_VOID(check_steps(result));
  if (form == "json") return analyzer::render_json(result, run, options);
  if (form == "text") return analyzer::render_text(result, run, options, analyzer::Colour::no);
  if (form == "html") return analyzer::render_html(result, run, options);
  if (form == "verdict") return verdict_json(result, options);
  return unknown_form(form, "json, text, html, verdict");
}

/// {"answer": ..., "text": "..."}
std::string both_of(const std::string& answer, const std::string& text) {
  return format(R"({{"answer":{},"text":{}}})", answer,
                nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

Result<std::string> what_if(const Run& run, const char* request_text) {
  RS_TRY(const Request request, Request::parse(request_text, {"form", "fixes", "steps", "include_warm_up"}));
  RS_TRY(const auto form, request.text("form", "json"));
  RS_TRY(const auto fixes, request.texts("fixes"));
  RS_TRY(const auto options, selection_from(request));
  if (fixes.empty()) return fail(ErrorKind::usage, "give a change, such as rank:2 (docs/whatif.md lists all changes)");
  RS_TRY(const auto answer, analyzer::what_if(run, options, fixes));
  if (form == "json") return analyzer::render_what_if_json(answer);
  if (form == "text") return analyzer::render_what_if_text(answer, analyzer::Colour::no);
  if (form == "both")
    return both_of(analyzer::render_what_if_json(answer), analyzer::render_what_if_text(answer, analyzer::Colour::no));
  return unknown_form(form, "json, text, both");
}

Result<std::string> compare(const Run& a, const Run& b, const char* request_text) {
  RS_TRY(const Request request,
         Request::parse(request_text, {"form", "label_a", "label_b", "steps", "ranks", "include_warm_up",
                                       "accept_losses", "allow_different", "top"}));
  RS_TRY(const auto form, request.text("form", "json"));
  RS_TRY(const auto options, selection_from(request));
  RS_TRY(const bool accept_losses, request.flag("accept_losses"));
  RS_TRY(const bool allow_different, request.flag("allow_different"));
  RS_TRY(const auto label_a, request.text("label_a", "A"));
  RS_TRY(const auto label_b, request.text("label_b", "B"));
  for (const auto& [run, label] : {std::pair{&a, &label_a}, std::pair{&b, &label_b}})
    RS_TRY_VOID(analyzer::check_ranks(*run, options.ranks, "ranks").map_error(while_doing(*label)));
  const auto digest_a = analyzer::digest(a, options, {"A", label_a});
  const auto digest_b = analyzer::digest(b, options, {"B", label_b});
  RS_TRY_VOID(check_steps(digest_a.report).map_error(while_doing(label_a)));
  RS_TRY_VOID(check_steps(digest_b.report).map_error(while_doing(label_b)));
  const auto comparison =
      analyzer::compare(digest_a, digest_b, accept_losses ? analyzer::Losses::accepted : analyzer::Losses::refused,
                        allow_different ? analyzer::Likes::may_differ : analyzer::Likes::must_agree);
  const analyzer::ComparisonView view{comparison, std::nullopt, options.top};
  if (form == "json") return analyzer::render_json(view);
  if (form == "text") return analyzer::render_text(view, analyzer::Colour::no);
  if (form == "both") return both_of(analyzer::render_json(view), analyzer::render_text(view, analyzer::Colour::no));
  if (form == "html") return analyzer::render_html(view);
  return unknown_form(form, "json, text, both, html");
}

std::int32_t answer(char** text, char** message, const std::function<Result<std::string>()>& work) noexcept {
  return guarded(message, [&]() -> Result<void> {
    RS_TRY(const std::string found, work());
    *text = copy_of(found);
    if (*text == nullptr) throw std::bad_alloc{};
    return {};
  });
}

}  // namespace
}  // namespace rankscope::python

std::int32_t rankscope_report(rankscope_run* run, const char* request, char** text, char** message) {
  return rankscope::python::answer(text, message, [&] {
    const std::scoped_lock lock{run->in_use};
    return rankscope::python::report(run->tables, request);
  });
}

std::int32_t rankscope_what_if(rankscope_run* run, const char* request, char** text, char** message) {
  return rankscope::python::answer(text, message,
                                   [&] { return rankscope::python::what_if(run->tables.run(), request); });
}

std::int32_t rankscope_compare(rankscope_run* a, rankscope_run* b, const char* request, char** text, char** message) {
  return rankscope::python::answer(
      text, message, [&] { return rankscope::python::compare(a->tables.run(), b->tables.run(), request); });
}
