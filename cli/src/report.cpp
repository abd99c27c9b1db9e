// rankscope report RUN
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "rankscope/analyzer/output_file.h"
#include "rankscope/analyzer/render.h"
#include "rankscope/core/format.h"
#include "run_argument.h"
#include "say.h"
#include "selection.h"
#include "verb.h"

namespace rankscope::cli {
namespace {

struct ReportArguments {
  RunArgument run;
  std::string json;
  std::string html;
  std::string colour = "auto";
  bool instances = false;
  bool hta = false;
  bool hta_last_step = false;
  Selection selection;
};

analyzer::Colour colour_of(const std::string& wish) {
  const bool plain = std::getenv("NO_COLOR") != nullptr || !stdout_is_terminal();
  const bool coloured = wish == "always" || (wish == "auto" && !plain);
  return coloured ? analyzer::Colour::yes : analyzer::Colour::no;
}

Result<void> check_ranks(const Run& run, const analyzer::ReportOptions& options) {
  for (const RankId rank : options.ranks)
    if (std::ranges::find(run.ranks(), rank) == run.ranks().end())
      return fail(ErrorKind::usage, format("--ranks: there is no rank {} in this recording; its ranks are {} to {}",
                                           rank.value, run.ranks().empty() ? 0 : run.ranks().front().value,
                                           run.ranks().empty() ? 0 : run.ranks().back().value));
  return {};
}

Result<void> check_steps(const analyzer::Report& report) {
  if (!report.asked_for.steps || report.steps) return {};
  const std::string& why = report.steps.error().why;
  return fail(ErrorKind::usage,
              report.steps_recorded ? "--steps: " + why : "--steps: there are no steps to choose from: " + why);
}

/// Also of files that are not there yet, by other paths and through links.
bool same_file(const std::filesystem::path& one, const std::filesystem::path& other) {
  if (one == other) return true;
  if (analyzer::is_stdout(one) || analyzer::is_stdout(other)) return false;
  // One that cannot be looked up cannot be written either, which is said then.
  std::error_code failed;
  const auto first = std::filesystem::weakly_canonical(std::filesystem::absolute(one, failed), failed);
  if (failed) return false;
  return first == std::filesystem::weakly_canonical(std::filesystem::absolute(other, failed), failed) && !failed;
}

/// Every file that is asked for is another one, and none is what is read.
Result<void> check_outputs(const ReportArguments& arguments) {
  for (const std::string& file : {arguments.json, arguments.html})
    if (!file.empty()) RS_TRY_VOID(check_output(arguments.run.paths, file));
  if (arguments.json.empty() || arguments.html.empty() || !same_file(arguments.json, arguments.html)) return {};
  return fail(ErrorKind::usage,
              format("--json and --html: both write to {}; give each a file of its own", arguments.json));
}

/// The files; the text only where stdout is not one of them.
Result<void> write_report(const ReportArguments& arguments, const analyzer::Report& report, const Run& run,
                          const analyzer::ReportOptions& options) {
  if (!arguments.json.empty())
    RS_TRY_VOID(analyzer::write_file(arguments.json, analyzer::render_json(report, run, options)));
  if (!arguments.html.empty())
    RS_TRY_VOID(analyzer::write_file(arguments.html, analyzer::render_html(report, run, options)));
  if (analyzer::is_stdout(arguments.json) || analyzer::is_stdout(arguments.html)) return {};
  return print(analyzer::render_text(report, run, options, colour_of(arguments.colour)));
}

Result<int> report(const ReportArguments& arguments) {
  RS_TRY(analyzer::ReportOptions options, options_from(arguments.selection));
  options.instances = arguments.instances;
  if (arguments.hta)
    options.hta = arguments.hta_last_step ? analyzer::HtaLastStep::kept : analyzer::HtaLastStep::dropped;
  RS_TRY_VOID(check_outputs(arguments));
  RS_TRY(const auto run, open(arguments.run));
  RS_TRY_VOID(check_ranks(*run, options));
  const analyzer::Report result = analyzer::analyze(*run, options);
  RS_TRY_VOID(check_steps(result));
  RS_TRY_VOID(write_report(arguments, result, *run, options));
  if (analyzer::anything_computed(result)) return 0;
  say(arguments.run.paths.front() +
      ": nothing could be computed from this recording; the report says why and what to do");
  return exit_status(ErrorKind::not_computable);
}

}  // namespace

Action declare_report(CLI::App& app, const Words&) {
  const auto arguments = std::make_shared<ReportArguments>();
  add_run(app, arguments->run);
  app.add_option("--json", arguments->json, "write the report as JSON to this file; - for stdout instead of the text");
  app.add_option("--html", arguments->html, "write the report as one HTML page to this file; - for stdout");
  app.add_flag("--instances", arguments->instances, "list every matched collective in the JSON");
  auto* const hta = app.add_flag("--hta-compat", arguments->hta, "HTA's own numbers beside ours (Kineto traces)");
  app.add_flag("--hta-include-last", arguments->hta_last_step,
               "with --hta-compat: as HTA does when it keeps the last step")
      ->needs(hta);
  app.add_option("--colour,--color", arguments->colour, "auto, always or never")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "always", "never"}));
  add_selection(app, arguments->selection);
  return [arguments] {
    const auto status = report(*arguments);
    return status ? *status : say(status.error());
  };
}

}  // namespace rankscope::cli
