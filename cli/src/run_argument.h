// What verbs that read are given: a recording, or traces of other profilers.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "rankscope/core/model/run_parts.h"
#include "rankscope/core/result.h"

namespace rankscope::cli {

/// RUN and --rank-map as given.
struct RunArgument {
  std::vector<std::string> paths;
  std::string rank_map;
};

/// Declares RUN and --rank-map; returns RUN.
CLI::Option* add_run(CLI::App& app, RunArgument& argument);
void add_rank_map(CLI::App& app, std::string& rank_map);
/// `usage` errors for a map that is none.
[[nodiscard]] Result<std::shared_ptr<const Run>> open(const RunArgument& argument);
/// How a report calls it: the last part of the path, and how many more there are.
[[nodiscard]] std::string name_of(const RunArgument& argument);
/// `usage` error if writing to `out` would replace what is read.
[[nodiscard]] Result<void> check_not_read(const std::vector<std::string>& runs, const std::string& out);
/// The same, also for any other recording or trace that no export of ours wrote.
[[nodiscard]] Result<void> check_output(const std::vector<std::string>& runs, const std::string& out);

}  // namespace rankscope::cli
