// What compare and gate share: two recordings, and how they are shown.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "outputs.h"
#include "rankscope/analyzer/compare/compare.h"
#include "run_argument.h"
#include "selection.h"

namespace rankscope::cli {

/// A is the older one, or the baseline.
struct TwoRuns {
  std::string a;
  std::string b;
  std::string label_a;  ///< as sentences call it: "A", "the baseline"
  std::string label_b;
  ReadingOptions reading;
  Outputs outputs;
  Selection selection;
  bool accept_losses = false;
  bool allow_different = false;
};

/// Declares everything but the two runs.
void add_comparison(CLI::App& app, TwoRuns& runs);

/// Reads one run after the other, so that only one is in memory. `usage` errors for options that do not fit one of
/// them, and for outputs that would replace one.
[[nodiscard]] Result<analyzer::Comparison> compare(const TwoRuns& runs);

/// The files and the text.
[[nodiscard]] Result<void> show(const TwoRuns& runs, const analyzer::Comparison& comparison,
                                const std::optional<analyzer::Gate>& gate);

[[nodiscard]] analyzer::Likes likes_of(const TwoRuns& runs);

}  // namespace rankscope::cli
