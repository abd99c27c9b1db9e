// rankscope: parses the command line and runs one verb.
#include <malloc.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <sstream>
#include <string>

#include "rankscope/core/command_line.h"
#include "say.h"
#include "verb.h"

int main(int argc, char** argv) {
  using namespace rankscope::cli;
  // Tables of a run grow to many megabytes and go again: memory once given back to the system costs a fault per page.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  CLI::App app{"rankscope: which rank, operation, link or schedule makes a training step slow, and why", "rankscope"};
  app.set_version_flag("--version", "rankscope " RANKSCOPE_VERSION);
  app.require_subcommand(1);
  app.formatter(std::make_shared<rankscope::HelpText>());
  app.footer(
      "RUN is a .rankscope folder or pack, Kineto JSON, or a .sqlite export of Nsight Systems. Results go to stdout, "
      "progress and errors to stderr.\nExit status: 0 done, 1 slower (gate), 2 wrong options, 3 the input cannot be "
      "read, 4 cannot tell, 5 cannot write.\nThe wheel of the Python package adds: rankscope mcp, and rankscope export "
      "RUN --to parquet FOLDER.");
  char** const dashes =
      std::find_if(argv, argv + argc, [](const char* word) { return std::string_view{word} == "--"; });
  const Words behind_dashes(dashes == argv + argc ? dashes : dashes + 1, argv + argc);
  const Verb* chosen = nullptr;
  Action action;
  for (const Verb& verb : verbs()) {
    CLI::App* sub = app.add_subcommand(std::string{verb.name}, std::string{verb.summary});
    sub->footer("");  // that of the program would be inherited
    sub->callback([&, run = verb.declare(*sub, behind_dashes)] {
      action = run;
      chosen = &verb;
    });
  }
  const auto is_verb = [](std::string_view word) {
    return std::ranges::find(verbs(), word, &Verb::name) != verbs().end();
  };
  if (argc > 1 && std::string_view{argv[1]} == "mcp")
    return say_usage_error("the verb mcp is part of the Python package; install the wheel (docs/install.md)", "");
  if (argc > 1 && argv[1][0] != '-' && !is_verb(argv[1]))
    return say_usage_error("unknown verb '" + std::string{argv[1]} + "'", "");
  try {
    app.parse(static_cast<int>(dashes - argv), argv);
  } catch (const CLI::Success& asked) {
    std::ostringstream text;  // --help, --version
    const int status = app.exit(asked, text, text);
    const auto printed = print(text.str());
    return printed ? status : say(printed.error());
  } catch (const CLI::ParseError& error) {
    std::string message = error.what();
    if (chosen == nullptr && argc == 1) message = "a verb is required, such as record or report";
    if (const auto colon = message.find(": must be "); colon != std::string::npos) message.erase(colon, 1);
    return say_usage_error(message, argc > 1 ? argv[1] : "");
  }
  if (!behind_dashes.empty() && !chosen->takes_words)
    return say_usage_error("this verb takes no arguments after --", chosen->name);
  // `rankscope dump RUN | head` ends quietly. A recorded command keeps the usual signal, which it would inherit.
  if (!chosen->takes_words) std::signal(SIGPIPE, SIG_IGN);
  return action();
}
