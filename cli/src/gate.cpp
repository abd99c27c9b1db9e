// rankscope gate RUN --baseline B --max-regression 3%
#include <memory>

#include "rankscope/analyzer/compare/render_comparison.h"
#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"
#include "say.h"
#include "two_runs.h"
#include "verb.h"

namespace rankscope::cli {
namespace {

struct GateArguments {
  TwoRuns runs;
  std::string limit;
};

constexpr int failed = 1;
constexpr double most_percent = 1000;

/// "3%" is 0.03.
Result<double> share_from(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return fail(ErrorKind::usage, format("--max-regression: '{}' {}", text, why));
  };
  std::string_view unit = text;
  const auto percent = take_number<double>(unit);
  if (percent && unit.empty())
    return wrong(format("has no unit; write {}% for a percentage of the baseline's step time", text));
  if (!percent || (unit != "%" && unit != " %")) return wrong("is not a percentage; write a value such as 3%");
  if (*percent < 0 || *percent > most_percent)
    return wrong(format("is out of range; write a value from 0% to {:g}%", most_percent));
  return *percent / 100;
}

int status_of(analyzer::GateVerdict verdict) {
  switch (verdict) {
    case analyzer::GateVerdict::pass:
      return 0;
    case analyzer::GateVerdict::fail:
      return failed;
    case analyzer::GateVerdict::cannot_tell:
      return exit_status(ErrorKind::not_computable);
  }
  return exit_status(ErrorKind::not_computable);
}

Result<int> judge_run(const GateArguments& arguments) {
  RS_TRY(const double limit, share_from(arguments.limit));
  RS_TRY(const analyzer::Comparison comparison, compare(arguments.runs));
  const analyzer::Gate gate = analyzer::judge(comparison, limit, likes_of(arguments.runs));
  RS_TRY_VOID(show(arguments.runs, comparison, gate));
  if (gate.verdict != analyzer::GateVerdict::pass)
    say_again(arguments.runs.outputs, analyzer::verdict_line({comparison, gate}));
  return status_of(gate.verdict);
}

}  // namespace

Action declare_gate(CLI::App& app, const Words&) {
  const auto arguments = std::make_shared<GateArguments>();
  TwoRuns& runs = arguments->runs;
  runs.label_a = "the baseline";
  runs.label_b = "the run";
  app.add_option("RUN", runs.b, "the run to judge: a recording, a trace file or a folder of traces")->required();
  app.add_option("--baseline", runs.a, "the run to compare RUN with")->required();
  app.add_option(
         "--max-regression", arguments->limit,
         "how much longer steps of RUN may be than those of the baseline, in the median and on average, e.g. 3%")
      ->required();
  add_comparison(app, runs);
  app.footer(
      "Exit status: 0 pass, 1 steps became longer by more than the limit, 2 wrong options, 3 the input cannot be "
      "read, 4 cannot tell (the reason is printed), 5 cannot write.\ndocs/compare.md explains the rule. Options apply "
      "to both runs.");
  return [arguments] {
    const auto status = judge_run(*arguments);
    return status ? *status : say(status.error());
  };
}

}  // namespace rankscope::cli
