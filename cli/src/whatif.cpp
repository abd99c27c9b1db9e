// rankscope whatif RUN --fix ...
#include <memory>

#include "outputs.h"
#include "rankscope/analyzer/what_if/what_if.h"
#include "run_argument.h"
#include "say.h"
#include "selection.h"
#include "verb.h"

namespace rankscope::cli {
namespace {

struct WhatIfArguments {
  RunArgument run;
  Outputs outputs;
  Selection selection;
  std::vector<std::string> fixes;
};

/// Programs that asked for JSON learn the reason, too.
Result<int> refuse(const WhatIfArguments& arguments, const std::string& why) {
  RS_TRY_VOID(write_outputs(arguments.outputs, {.json = [&] { return analyzer::render_no_what_if_json(why); },
                                                .html = {},
                                                .text = [](analyzer::Colour) { return std::string{}; }}));
  const std::string what = why.starts_with("cannot tell") ? "" : "no change can be predicted: ";
  return fail(ErrorKind::not_computable, arguments.run.paths.front() + ": " + what + why);
}

Result<int> ask(const WhatIfArguments& arguments) {
  RS_TRY(const analyzer::ReportOptions options, options_from(arguments.selection));
  RS_TRY_VOID(check_outputs(arguments.run.paths, arguments.outputs));
  RS_TRY(const auto run, open(arguments.run));
  const auto answer = what_if(*run, options, arguments.fixes);
  if (!answer && answer.error().kind == ErrorKind::not_computable) return refuse(arguments, answer.error().message);
  if (!answer) return tl::make_unexpected(answer.error());
  RS_TRY_VOID(
      write_outputs(arguments.outputs,
                    {.json = [&] { return analyzer::render_what_if_json(*answer); },
                     .html = {},
                     .text = [&](analyzer::Colour colour) { return analyzer::render_what_if_text(*answer, colour); }}));
  return 0;
}

}  // namespace

Action declare_whatif(CLI::App& app, const Words&) {
  const auto arguments = std::make_shared<WhatIfArguments>();
  add_run(app, arguments->run);
  app.add_option("--fix", arguments->fixes,
                 "a change to apply, such as rank:2 (required; repeat the option to combine changes)")
      ->allow_extra_args(false);  // what follows is RUN
  add_json_output(app, arguments->outputs, "the prediction");
  add_steps(app, arguments->selection);
  app.footer("Changes (quote patterns in the shell):\n" + analyzer::fixes_help() +
             "F is a factor by which durations are multiplied, e.g. 0.5. Without F, the selected work takes "
             "its usual time, a mean or median over peers and steps (docs/whatif.md).\n");
  return [arguments] {
    if (arguments->fixes.empty())
      return say_usage_error("whatif needs a change: rankscope whatif RUN --fix rank:2", "whatif");
    const auto status = ask(*arguments);
    return status ? *status : say(status.error());
  };
}

}  // namespace rankscope::cli
