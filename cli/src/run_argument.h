// What verbs that read are given: a recording, or traces of other profilers.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "rankscope/analyzer/open.h"
#include "rankscope/core/model/run_parts.h"
#include "rankscope/core/result.h"

namespace rankscope::cli {

/// --rank-map and --keep-texts as given.
struct ReadingOptions {
  std::string rank_map;
  bool keep_texts = false;
};

/// RUN and how it is read.
struct RunArgument {
  std::vector<std::string> paths;
  ReadingOptions reading;
};

/// Declares RUN, --rank-map and --keep-texts; returns RUN.
CLI::Option* add_run(CLI::App& app, RunArgument& argument);
/// The same without RUN.
void add_reading(CLI::App& app, ReadingOptions& reading);
/// `usage` errors for a map that is none, and for an empty path.
[[nodiscard]] Result<analyzer::ImportOptions> import_options(const RunArgument& argument);
/// The run; errors as those of import_options() and analyzer::open_run().
[[nodiscard]] Result<std::shared_ptr<const Run>> open(const RunArgument& argument);
/// How a report calls it: the last part of the path, and how many more there are.
[[nodiscard]] std::string name_of(const RunArgument& argument);
/// `usage` error if writing to `out` would replace what is read.
[[nodiscard]] Result<void> check_not_read(const std::vector<std::string>& runs, const std::string& out);
/// The same, also for any other recording or trace that no export of ours wrote.
[[nodiscard]] Result<void> check_output(const std::vector<std::string>& runs, const std::string& out);

}  // namespace rankscope::cli
