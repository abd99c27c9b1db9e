#include "selection.h"

#include <algorithm>

#include "rankscope/core/command_line.h"
#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"
#include "rankscope/core/rank_choice.h"

namespace rankscope::cli {
namespace {

/// "A:B", "A:" to the last, ":B" from the first, or "A" for one step.
Result<std::pair<std::int64_t, std::int64_t>> step_range(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view end = colon == std::string_view::npos ? text : text.substr(colon + 1);
  const auto number = [](std::string_view word, std::int64_t if_empty) {
    return word.empty() ? std::optional{if_empty} : number_from<std::int64_t>(word, {.least = 0});
  };
  const auto first = number(text.substr(0, colon), 0);
  const auto last = number(end, analyzer::to_the_end);
  if (text == ":" || !first || !last)
    return fail(ErrorKind::usage,
                format("--steps must be A:B, A: or :B with whole numbers, as in 5:15 (is \"{}\")", text));
  if (*last < *first)
    return fail(ErrorKind::usage, format("--steps: the last step, {}, is before the first, {}", *last, *first));
  return std::pair{*first, *last};
}

std::string is_given(const std::string& value) {
  return value.empty() ? "the value is empty (is a shell variable unset?)" : std::string{};
}

}  // namespace

void add_limits(CLI::App& app, Selection& selection) {
  app.add_option("--steps", selection.steps, "use only steps A to B, both included (A:B, A: or :B)")->check(is_given);
  app.add_option("--ranks", selection.ranks, "use only these ranks, e.g. 0,2,4-7")->check(is_given);
}

void add_steps(CLI::App& app, Selection& selection) {
  app.add_option("--steps", selection.steps, "use only steps A to B, both included (A:B, A: or :B)")->check(is_given);
  app.add_flag("--include-warmup", selection.include_warm_up, "also count the slow steps at the start (warm-up)");
}

void add_selection(CLI::App& app, Selection& selection) {
  add_limits(app, selection);
  app.add_flag("--include-warmup", selection.include_warm_up, "also count the slow steps at the start (warm-up)");
  app.add_option("--top", selection.top, "maximum number of rows per table in the text")
      ->capture_default_str()
      ->check(within<int>({.least = 1, .most = 1000000}));
}

Result<analyzer::ReportOptions> options_from(const Selection& selection) {
  analyzer::ReportOptions options;
  if (!selection.steps.empty()) {
    RS_TRY(options.steps, step_range(selection.steps));
  }
  RS_TRY(options.ranks, ranks_from(selection.ranks, "--ranks"));
  options.include_warm_up = selection.include_warm_up;
  options.top = selection.top;
  return options;
}

Result<void> check_steps(const analyzer::Report& report) {
  if (!report.asked_for.steps || report.steps) return {};
  const std::string& why = report.steps.error().why;
  return fail(ErrorKind::usage,
              report.steps_recorded ? "--steps: " + why : "--steps: this recording has no steps: " + why);
}

Result<analyzer::Selection> limits_from(const Selection& selection) {
  RS_TRY(const analyzer::ReportOptions options, options_from(selection));
  return analyzer::Selection{.steps = options.steps, .ranks = options.ranks};
}

}  // namespace rankscope::cli
