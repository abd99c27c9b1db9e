// rankscope export RUN [--to FORMAT] OUT
#include <filesystem>
#include <memory>

#include "interrupt.h"
#include "rankscope/analyzer/critical_path/path_track.h"
#include "rankscope/analyzer/export.h"
#include "rankscope/analyzer/output_file.h"
#include "rankscope/analyzer/select.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "run_argument.h"
#include "say.h"
#include "selection.h"
#include "verb.h"

namespace rankscope::cli {
namespace {

struct ExportArguments {
  RunArgument run;
  std::string to = std::string{analyzer::exports().front().id};
  std::string out;
  bool critical_path = false;
  Selection limits;
};

std::string shown(const std::string& out) { return analyzer::is_stdout(out) ? "stdout" : out; }

/// The last of the words that are no options is OUT. A rule of its own, since one list of paths takes them all.
Result<void> split_words(ExportArguments& arguments) {
  std::vector<std::string>& words = arguments.run.paths;
  if (words.size() < 2)
    return fail(ErrorKind::usage,
                format("give the run to export and the file to write: rankscope export {} OUT", words.front()));
  if (words.back().empty())
    return fail(ErrorKind::usage, "OUT is empty; give the file or folder to write (is a shell variable unset?)");
  arguments.out = words.back();
  words.pop_back();
  return {};
}

/// Formats of which every file belongs to a rank have no place for a track of the whole job.
Result<void> check_critical_path(const ExportArguments& arguments) {
  if (!arguments.critical_path) return {};
  if (!arguments.limits.ranks.empty())
    return fail(ErrorKind::usage, "--critical-path covers all ranks and cannot be combined with --ranks");
  if (arguments.to == "perfetto" || arguments.to == "chrome") return {};
  return fail(ErrorKind::usage, format("--critical-path needs --to perfetto or --to chrome (is {})", arguments.to));
}

Result<std::shared_ptr<const Run>> add_critical_path(const ExportArguments& arguments, std::shared_ptr<const Run> run) {
  if (!arguments.critical_path) return run;
  return analyzer::with_critical_path(*run).map_error([](Error error) {
    error.message = format("--critical-path: {}", error.message);
    return error;
  });
}

/// What was lost is missing in the file, too, and most formats have no place to say so.
void say_losses(const ExportArguments& arguments, const Run& run) {
  std::string list;
  for (const CounterInfo& info : counter_table())
    if (const auto count = run.quality().of(info.counter); count > 0 && info.severity == Severity::data_loss)
      list += format("{}{}: {}", list.empty() ? "" : ", ", info.name, count);
  if (list.empty()) return;
  const std::string& path = arguments.run.paths.front();
  say(format("{} lacks data ({}), so the export lacks it, too; rankscope report {} --full says what to do", path, list,
             path));
}

Result<void> export_run(ExportArguments& arguments) {
  RS_TRY_VOID(split_words(arguments));
  RS_TRY(const analyzer::Selection limits, limits_from(arguments.limits));
  RS_TRY_VOID(check_critical_path(arguments));
  RS_TRY_VOID(check_output(arguments.run.paths, arguments.out));
  RS_TRY(auto whole, open(arguments.run));
  say_losses(arguments, *whole);
  RS_TRY(auto selected, analyzer::select(std::move(whole), limits).map_error(while_doing(arguments.run.paths.front())));
  RS_TRY(const auto run, add_critical_path(arguments, std::move(selected)));
  catch_interrupts();
  for (const analyzer::ExportInfo& info : analyzer::exports())
    if (info.id == arguments.to) return info.write(*run, arguments.out, progress_of("writing " + shown(arguments.out)));
  return fail(ErrorKind::usage, format("--to: unknown format '{}'", arguments.to));
}

/// Empty for the id of a format.
std::string why_not_format(const std::string& word) {
  std::string all;
  for (const analyzer::ExportInfo& info : analyzer::exports()) {
    if (info.id == word) return {};
    all += format("{}{}", all.empty() ? "" : ", ", info.id);
  }
  if (word == "parquet")
    return "parquet is written only by the Python package; install the wheel (docs/install.md), which adds it to "
           "rankscope export";
  return format("must be one of {} (is \"{}\")", all, word);
}

}  // namespace

Action declare_export(CLI::App& app, const Words&) {
  const auto arguments = std::make_shared<ExportArguments>();
  std::string footer =
      "OUT is the file or folder to write, or - for stdout (not with tensorboard and sqlite); an existing OUT is "
      "replaced only when the export is complete.\n\nFormats:\n";
  for (const analyzer::ExportInfo& info : analyzer::exports()) {
    footer += format("  {:<12}{}\n", info.id, info.summary);
  }
  add_run(app, arguments->run)->option_text("... OUT");
  app.add_option("--to", arguments->to, "format to write")->capture_default_str()->check(why_not_format);
  app.add_flag("--critical-path", arguments->critical_path,
               "add a track with the critical path of the steps (only for perfetto and chrome); with this option, "
               "all times in the export are those of the aligned clocks");
  add_limits(app, arguments->limits);
  app.footer(footer);
  return [arguments] {
    const auto done = export_run(*arguments);
    if (!done) return say(done.error());
    if (analyzer::is_stdout(arguments->out)) return 0;
    say(analyzer::wrote_text(arguments->out));
    return 0;
  };
}

}  // namespace rankscope::cli
