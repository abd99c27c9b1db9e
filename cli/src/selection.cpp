#include "selection.h"

#include <algorithm>
#include <charconv>

#include "rankscope/core/format.h"
#include "rankscope/core/rank_choice.h"

namespace rankscope::cli {
namespace {

Result<std::int64_t> number(std::string_view text, std::string_view option) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0)
    return fail(ErrorKind::usage, format("{}: '{}' is no number from 0 up; write A:B, A: or :B", option, text));
  return value;
}

/// "A:B", "A:" to the last, ":B" from the first, or "A" for one step.
Result<std::pair<std::int64_t, std::int64_t>> step_range(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (text == ":") return fail(ErrorKind::usage, "--steps: ':' names no step; write A:B, A: or :B");
  RS_TRY(const std::int64_t first, colon == 0 ? Result<std::int64_t>{0} : number(text.substr(0, colon), "--steps"));
  if (colon == std::string_view::npos) return std::pair{first, first};
  const std::string_view end = text.substr(colon + 1);
  RS_TRY(const std::int64_t last, end.empty() ? Result<std::int64_t>{analyzer::to_the_end} : number(end, "--steps"));
  if (last < first) return fail(ErrorKind::usage, format("--steps: {} is before {}", last, first));
  return std::pair{first, last};
}

std::string is_given(const std::string& value) {
  return value.empty() ? "its value is empty (is a shell variable unset?)" : std::string{};
}

}  // namespace

void add_limits(CLI::App& app, Selection& selection) {
  app.add_option("--steps", selection.steps, "only steps A to B, both included (A:B, A: or :B)")->check(is_given);
  app.add_option("--ranks", selection.ranks, "only these ranks, e.g. 0,2,4-7")->check(is_given);
}

void add_steps(CLI::App& app, Selection& selection) {
  app.add_option("--steps", selection.steps, "only steps A to B, both included (A:B, A: or :B)")->check(is_given);
  app.add_flag("--include-warmup", selection.include_warm_up, "count leading slow steps, too");
}

void add_selection(CLI::App& app, Selection& selection) {
  add_limits(app, selection);
  app.add_flag("--include-warmup", selection.include_warm_up, "count leading slow steps, too");
  app.add_option("--top", selection.top, "length of the lists in the text")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
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

Result<void> check_ranks(const Run& run, const analyzer::ReportOptions& options) {
  for (const RankId rank : options.ranks) {
    if (std::ranges::find(run.ranks(), rank) != run.ranks().end()) continue;
    const auto ranks = run.ranks();
    if (ranks.empty()) return fail(ErrorKind::usage, "--ranks: no process in this recording has a rank");
    const std::string there = ranks.size() == 1
                                  ? format("its only rank is {}", ranks.front().value)
                                  : format("its ranks are {} to {}", ranks.front().value, ranks.back().value);
    return fail(ErrorKind::usage, format("--ranks: there is no rank {} in this recording; {}", rank.value, there));
  }
  return {};
}

Result<void> check_steps(const analyzer::Report& report) {
  if (!report.asked_for.steps || report.steps) return {};
  const std::string& why = report.steps.error().why;
  return fail(ErrorKind::usage,
              report.steps_recorded ? "--steps: " + why : "--steps: there are no steps to choose from: " + why);
}

Result<analyzer::Selection> limits_from(const Selection& selection) {
  RS_TRY(const analyzer::ReportOptions options, options_from(selection));
  return analyzer::Selection{.steps = options.steps, .ranks = options.ranks};
}

}  // namespace rankscope::cli
