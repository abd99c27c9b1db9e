// rankscope report RUN
#include <algorithm>
#include <cstdlib>
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
  if (!report.asked_for.steps || !report.steps_recorded || report.steps) return {};
  return fail(ErrorKind::usage, "--steps: " + report.steps.error().why);
}

Result<int> report(const ReportArguments& arguments) {
  RS_TRY(analyzer::ReportOptions options, options_from(arguments.selection));
  options.instances = arguments.instances;
  if (arguments.hta)
    options.hta = arguments.hta_last_step ? analyzer::HtaLastStep::kept : analyzer::HtaLastStep::dropped;
  if (!arguments.json.empty()) RS_TRY_VOID(check_output(arguments.run.paths, arguments.json));
  RS_TRY(const auto run, open(arguments.run));
  RS_TRY_VOID(check_ranks(*run, options));
  const analyzer::Report result = analyzer::analyze(*run, options);
  RS_TRY_VOID(check_steps(result));
  if (!arguments.json.empty()) {
    const std::string json = analyzer::render_json(result, *run, options);
    RS_TRY_VOID(analyzer::write_file(arguments.json, json));
  }
  if (!analyzer::is_stdout(arguments.json)) {
    RS_TRY_VOID(print(analyzer::render_text(result, *run, options, colour_of(arguments.colour))));
  }
  if (analyzer::anything_computed(result)) return 0;
  say(arguments.run.paths.front() +
      ": nothing could be computed from this recording; the report says why and what to do");
  return exit_status(ErrorKind::not_computable);
}

}  // namespace

Action declare_report(CLI::App& app, const Words&) {
  const auto arguments = std::make_shared<ReportArguments>();
  add_run(app, arguments->run, RunPaths::several);
  app.add_option("--json", arguments->json, "write the report as JSON to this file; - for stdout instead of the text");
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
