// rankscope dump RUN
#include <memory>
#include <sstream>

#include "rankscope/analyzer/summary.h"
#include "rankscope/core/model/text.h"
#include "run_argument.h"
#include "say.h"
#include "verb.h"

namespace rankscope::cli {
namespace {

struct DumpArguments {
  RunArgument run;
  bool summary = false;
};

}  // namespace

Action declare_dump(CLI::App& app, const Words&) {
  const auto arguments = std::make_shared<DumpArguments>();
  add_run(app, arguments->run);
  app.add_flag(
      "--summary", arguments->summary,
      "print only a summary: the time range and the number of events of each kind, in the run and in each process");
  return [arguments] {
    const auto run = open(arguments->run);
    if (!run) return say(run.error());
    std::ostringstream text;
    if (arguments->summary)
      text << analyzer::summarize(**run);
    else
      write_text(**run, text);
    const auto printed = print(text.view());
    return printed ? 0 : say(printed.error());
  };
}

}  // namespace rankscope::cli
