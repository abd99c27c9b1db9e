// rankscope report RUN
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "gathered_dumps.h"
#include "outputs.h"
#include "rankscope/analyzer/render.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/command_line.h"
#include "rankscope/core/format.h"
#include "run_argument.h"
#include "say.h"
#include "selection.h"
#include "verb.h"

namespace rankscope::cli {
namespace {

struct ReportArguments {
  RunArgument run;
  Outputs outputs;
  std::vector<std::string> only;
  bool full = false;
  bool instances = false;
  bool hta = false;
  bool hta_last_step = false;
  std::optional<double> peak_tflops;
  Selection selection;
};

bool is_section(std::string_view text) {
  return std::ranges::find(analyzer::sections(), text, &analyzer::SectionInfo::id) != analyzer::sections().end();
}

/// Why a text is no section; empty: it is one.
std::string is_no_section(const std::string& text) {
  if (is_section(text)) return {};
  std::string all;
  for (const analyzer::SectionInfo& info : analyzer::sections())
    all += format("{}{}", all.empty() ? "" : ", ", info.id);
  return format("unknown section '{}'; choose from: {}", text, all);
}

/// What `--only trend findings RUN` asks for, and sections that need another option.
Result<void> check_only(const ReportArguments& arguments) {
  if (std::ranges::find(arguments.only, "hta") != arguments.only.end() && !arguments.hta)
    return fail(ErrorKind::usage, "--only hta needs --hta-compat");
  for (const std::string& path : arguments.run.paths)
    if (!arguments.only.empty() && is_section(path) && !std::filesystem::exists(path))
      return fail(ErrorKind::usage, format("{}: no such file; separate sections with commas: --only {},{}", path,
                                           arguments.only.back(), path));
  return {};
}

Result<int> report(const ReportArguments& arguments) {
  RS_TRY_VOID(check_only(arguments));
  RS_TRY(analyzer::ReportOptions options, options_from(arguments.selection));
  options.instances = arguments.instances;
  options.only = arguments.only;
  options.text = arguments.full ? analyzer::TextLength::full : analyzer::TextLength::one_screen;
  options.run_name = name_of(arguments.run);
  if (arguments.hta) {
    options.hta = arguments.hta_last_step ? analyzer::HtaLastStep::kept : analyzer::HtaLastStep::dropped;
    options.text = analyzer::TextLength::full;
  }
  options.peak_tflops = arguments.peak_tflops;
  RS_TRY_VOID(check_outputs(arguments.run.paths, arguments.outputs));
  RS_TRY(const auto run, open(arguments.run));
  RS_TRY_VOID(analyzer::check_ranks(*run, options.ranks, "--ranks"));
  const analyzer::Report result = analyzer::analyze(*run, options);
  RS_TRY_VOID(check_steps(result));
  RS_TRY_VOID(write_outputs(
      arguments.outputs,
      {.json = [&] { return analyzer::render_json(result, *run, options); },
       .html = [&] { return analyzer::render_html(result, *run, options); },
       .text = [&](analyzer::Colour colour) { return analyzer::render_text(result, *run, options, colour); }}));
  const std::string& path = arguments.run.paths.front();
  if (gathered_dumps(arguments.run.paths))
    say(format("{0}: contains dumps of the Flight Recorder, which the report does not use; `rankscope hang {0}` does",
               path));
  if (analyzer::anything_computed(result, options)) return 0;
  say(arguments.only.empty()
          ? format("{}: nothing could be computed from this recording; the report says why and what to do", path)
          : format("{}: no section that --only selects could be computed; the report says why", path));
  return exit_status(ErrorKind::not_computable);
}

}  // namespace

Action declare_report(CLI::App& app, const Words&) {
  const auto arguments = std::make_shared<ReportArguments>();
  add_run(app, arguments->run);
  add_outputs(app, arguments->outputs, "the report");
  std::string footer = "Sections:\n";
  for (const analyzer::SectionInfo& info : analyzer::sections())
    footer += format("  {:<14}{}\n", info.id, info.question);
  app.add_option("--only", arguments->only,
                 "show only these sections, separated by commas (no spaces), e.g. kernels,copies")
      ->delimiter(',')
      ->allow_extra_args(false)  // what follows is RUN
      ->option_text("SECTION[,SECTION...]")
      ->check(is_no_section);
  app.footer(footer);
  app.add_flag("--full", arguments->full, "print all sections in the text, not only those that fit on one screen");
  app.add_flag("--instances", arguments->instances, "list every matched collective in the JSON");
  auto* const hta = app.add_flag("--hta-compat", arguments->hta,
                                 "add the numbers that Holistic Trace Analysis computes (for Kineto "
                                 "traces)");
  app.add_flag("--hta-include-last", arguments->hta_last_step,
               "with --hta-compat: include the last step, which HTA leaves out by default")
      ->needs(hta);
  app.add_option("--peak-tflops", arguments->peak_tflops,
                 "peak speed of one device in TFLOP/s (default: looked up by the device's name)")
      ->check(within<double>({.least = 0.001, .most = 1e9}));
  add_selection(app, arguments->selection);
  // Tables that are asked for are not on the one screen.
  app.get_option("--top")
      ->description("maximum number of rows per table in the text; implies --full")
      ->each([arguments](const std::string&) { arguments->full = true; });
  return [arguments] {
    const auto status = report(*arguments);
    return status ? *status : say(status.error());
  };
}

}  // namespace rankscope::cli
