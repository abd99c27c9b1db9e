// rankscope hang FILES|FOLDER|RUN
#include "rankscope/analyzer/hang/hang.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gathered_dumps.h"
#include "live_hang.h"
#include "outputs.h"
#include "rankscope/core/format.h"
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

/// Roots are sorted: the most certain first. A job whose ranks all did well did not hang, whatever an older dump shows.
bool shows_more(const analyzer::HangReport& dumps, const analyzer::HangReport& run) {
  if (run.verdict == analyzer::HangVerdict::finished) return false;
  if (dumps.roots.empty() || run.roots.empty())
    return run.roots.empty() && dumps.verdict != analyzer::HangVerdict::cannot_tell;
  return dumps.roots.front().certainty < run.roots.front().certainty;
}

/// What shows more decides; what the other says is noted beside it.
analyzer::HangReport joined(analyzer::HangReport run, analyzer::HangReport dumps, const std::string& name_of_dumps) {
  const bool dumps_decide = shows_more(dumps, run);
  analyzer::HangReport& chosen = dumps_decide ? dumps : run;
  const analyzer::HangReport& other = dumps_decide ? run : dumps;
  chosen.losses.insert(chosen.losses.end(), other.losses.begin(), other.losses.end());
  chosen.losses.push_back({dumps_decide ? "recording_not_used" : "dumps_not_used",
                           dumps_decide ? "the recording" : name_of_dumps,
                           format("shows less: {}", analyzer::hang_headline(other))});
  return std::move(chosen);
}

/// The paths that are a recording or traces, and those that are dumps.
struct SplitPaths {
  std::vector<std::string> run{};
  std::vector<std::filesystem::path> dumps{};
};

SplitPaths split(const std::vector<std::string>& paths) {
  SplitPaths found;
  for (const std::string& path : paths)
    analyzer::holds_dumps(path) ? found.dumps.emplace_back(path), void() : found.run.push_back(path);
  // A file beside dumps that is no recording is one of them that cannot be read: it is counted as such.
  if (!found.dumps.empty())
    std::erase_if(found.run, [&found](const std::string& path) {
      std::error_code error;
      const bool folder = std::filesystem::is_directory(path, error);
      if (!folder) found.dumps.emplace_back(path);
      return !folder;
    });
  return found;
}

/// Dumps are judged as such; all else is opened as a run.
Result<analyzer::HangReport> judge(const RunArgument& input) {
  RS_TRY(const analyzer::ImportOptions options, import_options(input));
  SplitPaths paths = split(input.paths);
  if (paths.run.empty()) return analyzer::judge_dumps(paths.dumps, progress_of("reading " + input.paths.front()));
  const RunArgument recording{paths.run, input.reading};
  RS_TRY(const auto run, open(recording));
  analyzer::HangReport report = analyzer::judge_run(*run, now_unix_ns());
  // `record --pytorch` gathers dumps; they help where the events do not show who stopped.
  if (paths.dumps.empty())
    if (auto gathered = gathered_dumps(paths.run)) paths.dumps.push_back(std::move(*gathered));
  if (paths.dumps.empty()) return report;
  const std::string name = paths.dumps.front().filename().string();
  auto dumps = analyzer::judge_dumps(paths.dumps, progress_of("reading " + paths.dumps.front().string()));
  if (dumps) return joined(std::move(report), std::move(*dumps), name);
  report.losses.push_back({"dumps_unreadable", name, dumps.error().message});
  return report;
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
  say(arguments.input.paths.front() + ": it cannot be determined which rank stopped first: " + report.why_not_told);
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
      "Exit status: 0 for every verdict except cannot tell, 3 nothing can be read, 4 cannot tell.");
  return [arguments] {
    const auto status = find_hang(*arguments);
    return status ? *status : say(status.error());
  };
}

}  // namespace rankscope::cli
