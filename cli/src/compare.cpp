// rankscope compare A B
#include <memory>

#include "rankscope/analyzer/compare/render_comparison.h"
#include "say.h"
#include "two_runs.h"
#include "verb.h"

namespace rankscope::cli {
namespace {

Result<int> compare_runs(const TwoRuns& runs) {
  RS_TRY(const analyzer::Comparison comparison, compare(runs));
  RS_TRY_VOID(show(runs, comparison, std::nullopt));
  if (comparison.steps.verdict != analyzer::StepVerdict::cannot_tell) return 0;
  say_again(runs.outputs, analyzer::verdict_line({comparison, std::nullopt}));
  return exit_status(ErrorKind::not_computable);
}

}  // namespace

Action declare_compare(CLI::App& app, const Words&) {
  const auto runs = std::make_shared<TwoRuns>();
  runs->label_a = "A";
  runs->label_b = "B";
  app.add_option("A", runs->a,
                 "the baseline, with which B is compared: a recording, a trace file or a folder of traces")
      ->required();
  app.add_option("B", runs->b, "the run to examine")->required();
  add_comparison(app, *runs);
  app.footer(
      "Exit status: 0 compared, 2 wrong options, 3 the input cannot be read, 4 cannot tell (the reason is printed), 5 "
      "cannot write.\ndocs/compare.md explains the output and every number. Options apply to both runs.");
  return [runs] {
    const auto status = compare_runs(*runs);
    return status ? *status : say(status.error());
  };
}

}  // namespace rankscope::cli
