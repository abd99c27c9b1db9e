// rankscope hang FILES|FOLDER|RUN
#include "rankscope/analyzer/hang/hang.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>

#include "live_hang.h"
#include "outputs.h"
#include "rankscope/core/model/run.h"
#include "run_argument.h"
#include "say.h"
#include "verb.h"

namespace rankscope::cli {
namespace {

struct HangArguments {
  RunArgument input;
  Outputs outputs;
};

bool is_certain(const analyzer::HangReport& report) {
  return std::ranges::any_of(
      report.roots, [](const analyzer::HangRoot& root) { return root.certainty != analyzer::HangCertainty::guess; });
}

/// Dumps are judged as such; all else is opened as a run.
Result<analyzer::HangReport> judge(const RunArgument& input) {
  RS_TRY(const analyzer::ImportOptions options, import_options(input));
  const std::vector<std::filesystem::path> paths{input.paths.begin(), input.paths.end()};
  if (std::ranges::any_of(paths, analyzer::holds_dumps))
    return analyzer::judge_dumps(paths, progress_of("reading " + input.paths.front()));
  RS_TRY(const auto run, open(input));
  analyzer::HangReport report = analyzer::judge_run(*run, now_unix_ns());
  // `record --pytorch` gathers dumps; they help where the events do not show who stopped.
  const std::filesystem::path dumps = paths.front() / "flight_recorder";
  if (paths.size() > 1 || is_certain(report) || !analyzer::holds_dumps(dumps)) return report;
  return analyzer::judge_dumps(std::span{&dumps, 1}, progress_of("reading " + dumps.string()));
}

Result<int> find_hang(const HangArguments& arguments) {
  RS_TRY_VOID(check_outputs(arguments.input.paths, arguments.outputs));
  RS_TRY(const analyzer::HangReport report, judge(arguments.input));
  RS_TRY_VOID(
      write_outputs(arguments.outputs,
                    {.json = [&] { return analyzer::render_hang_json(report); },
                     .html = [&] { return analyzer::render_hang_html(report); },
                     .text = [&](analyzer::Colour colour) { return analyzer::render_hang_text(report, colour); }}));
  if (report.verdict != analyzer::HangVerdict::cannot_tell) return 0;
  say(arguments.input.paths.front() + ": cannot tell which rank stopped first: " + report.why_not_told);
  return exit_status(ErrorKind::not_computable);
}

}  // namespace

Action declare_hang(CLI::App& app, const Words&) {
  const auto arguments = std::make_shared<HangArguments>();
  add_reading(app, arguments->input.reading);
  app.add_option("INPUT", arguments->input.paths,
                 "dumps of PyTorch's Flight Recorder (pickle or JSON), answers of NCCL RAS in JSON, a folder of these, "
                 "or a recording")
      ->required();
  add_outputs(app, arguments->outputs, "the verdict");
  app.footer(
      "rankscope hang /tmp/nccl_trace_rank_*\n"
      "Exit status: 0 whatever the verdict, 3 nothing can be read, 4 cannot tell.");
  return [arguments] {
    const auto status = find_hang(*arguments);
    return status ? *status : say(status.error());
  };
}

}  // namespace rankscope::cli
