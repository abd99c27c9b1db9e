// rankscope: parses the command line and runs one verb.
#include <csignal>
#include <string>

#include "say.h"
#include "verb.h"

int main(int argc, char** argv) {
  using namespace rankscope::cli;
  std::signal(SIGPIPE, SIG_IGN);  // `rankscope dump RUN | head` ends with a write error, not with a signal
  CLI::App app{"rankscope: which rank, operation, link or schedule makes a training step slow, and why", "rankscope"};
  app.set_version_flag("--version", "rankscope " RANKSCOPE_VERSION);
  app.require_subcommand(1);
  app.footer("RUN is a .rankscope folder. Results go to stdout, progress and errors to stderr.\n"
             "Exit status: 0 done, 2 wrong options, 3 nothing readable, 4 cannot tell, 5 cannot write.");
  Action action;
  for (const Verb& verb : verbs()) {
    CLI::App* sub = app.add_subcommand(std::string{verb.name}, std::string{verb.summary});
    sub->callback([&action, run = verb.declare(*sub)] { action = run; });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    return app.exit(asked);  // --help, --version
  } catch (const CLI::ParseError& error) {
    return say_usage_error(error.what(), argc > 1 ? argv[1] : "");
  }
  return action();
}
