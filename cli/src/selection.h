// Options that several reading verbs share: which steps and which ranks.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "rankscope/analyzer/report.h"
#include "rankscope/analyzer/select.h"
#include "rankscope/core/result.h"

namespace rankscope::cli {

/// The texts of --steps, --ranks, --include-warmup, --top as given.
struct Selection {
  std::string steps;
  std::string ranks;
  bool include_warm_up = false;
  std::size_t top = 10;
};

void add_selection(CLI::App& app, Selection& selection);
/// Only --steps and --include-warmup.
void add_steps(CLI::App& app, Selection& selection);
/// Only --steps and --ranks.
void add_limits(CLI::App& app, Selection& selection);
/// `usage` errors for texts that are no selection.
[[nodiscard]] Result<analyzer::ReportOptions> options_from(const Selection& selection);
/// `usage` errors for steps that the run does not have.
[[nodiscard]] Result<void> check_steps(const analyzer::Report& report);
[[nodiscard]] Result<analyzer::Selection> limits_from(const Selection& selection);

}  // namespace rankscope::cli
