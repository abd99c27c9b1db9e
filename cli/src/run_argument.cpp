#include "run_argument.h"

#include <algorithm>
#include <filesystem>

#include "rankscope/analyzer/open.h"
#include "rankscope/analyzer/output_file.h"
#include "rankscope/core/format.h"
#include "say.h"

namespace rankscope::cli {

void add_reading(CLI::App& app, ReadingOptions& reading) {
  app.add_option("--rank-map", reading.rank_map, "ranks of trace files that do not state their rank: FILE=RANK,...");
  app.add_flag("--keep-texts", reading.keep_texts,
               "show strings as recorded: do not hide passwords, tokens and other secrets");
}

CLI::Option* add_run(CLI::App& app, RunArgument& argument) {
  add_reading(app, argument.reading);
  return app
      .add_option("RUN", argument.paths,
                  "a .rankscope folder or pack, Kineto JSON, a .sqlite export of Nsight Systems, or a folder of these")
      ->required();
}

Result<analyzer::ImportOptions> import_options(const RunArgument& argument) {
  analyzer::ImportOptions options;
  RS_TRY(options.rank_map, analyzer::rank_map_from(argument.reading.rank_map));
  options.texts = argument.reading.keep_texts ? Texts::as_recorded : Texts::without_secrets;
  if (std::ranges::find(argument.paths, "") != argument.paths.end())
    return fail(ErrorKind::usage, "RUN is empty; give a recording, e.g. run.rankscope (is a shell variable unset?)");
  return options;
}

Result<std::shared_ptr<const Run>> open(const RunArgument& argument) {
  RS_TRY(analyzer::ImportOptions options, import_options(argument));
  options.progress = progress_of("reading " + argument.paths.front());
  const std::vector<std::filesystem::path> paths{argument.paths.begin(), argument.paths.end()};
  return analyzer::open_run(paths, options);
}

std::string name_of(const RunArgument& argument) {
  namespace fs = std::filesystem;
  std::error_code failed;
  const fs::path first = fs::absolute(argument.paths.front(), failed).lexically_normal();
  const std::string name = first.has_filename() ? first.filename() : first.parent_path().filename();
  const std::size_t more = argument.paths.size() - 1;
  return more == 0 ? name : format("{} and {} more", name, more);
}

Result<void> check_not_read(const std::vector<std::string>& runs, const std::string& out) {
  namespace fs = std::filesystem;
  if (analyzer::is_stdout(out)) return {};
  std::error_code failed;
  const fs::path target = fs::weakly_canonical(out, failed);
  if (failed || !fs::exists(target, failed)) return {};
  for (const std::string& run : runs) {
    const fs::path source = fs::weakly_canonical(run, failed);
    const auto [end, ignored] = std::ranges::mismatch(source, target);
    if (!failed && end == source.end())  // it is the source, or lies in it
      return fail(ErrorKind::usage, format("{} is the input or part of it; choose another name for the output", out));
  }
  return {};
}

Result<void> check_output(const std::vector<std::string>& runs, const std::string& out) {
  RS_TRY_VOID(check_not_read(runs, out));
  if (analyzer::is_stdout(out) || !analyzer::holds_original(out)) return {};
  return fail(ErrorKind::usage, format("{} is a recording or a trace and would be overwritten; choose another name for "
                                       "the output, or remove it first",
                                       out));
}

}  // namespace rankscope::cli
