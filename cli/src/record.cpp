// rankscope record [options] -- COMMAND…
#include <memory>

#include "rankscope/collectors/spools.h"
#include "rankscope/core/command_line.h"
#include "record_options.h"
#include "say.h"
#include "verb.h"

namespace rankscope::cli {
namespace {

int recover(const collectors::RecordOptions& options, const std::string& spool) {
  if (!options.command.empty()) return say_usage_error("--recover takes no command", "record");
  if (spool.empty()) return say_usage_error("--recover needs the folder that a killed recorder left behind", "record");
  const auto summary = collectors::recover({.spool = spool, .out = options.out, .talk = options.talk});
  return summary ? 0 : say(summary.error());
}

/// The command is no option, so that the library does not know of it.
class UsageWithCommand : public HelpText {
 public:
  std::string make_usage(const CLI::App*, std::string name) const override {
    return "Usage: " + name + " [OPTIONS] -- COMMAND...\n";
  }
};

}  // namespace

Action declare_record(CLI::App& app, const Words& behind_dashes) {
  app.formatter(std::make_shared<UsageWithCommand>());
  const auto options = std::make_shared<collectors::RecordOptions>();
  add_record_options(app, *options);
  const auto spool = std::make_shared<std::string>();
  app.add_option("--recover", *spool,
                 "run no command; gather the segments in FOLDER, which a killed recorder left behind, into the "
                 "recording to which they belong, or into --out (rankscope doctor lists such folders)")
      ->type_name("FOLDER");
  app.prefix_command();  // everything from the command's name on belongs to the command
  app.footer(
      "rankscope record --out run.rankscope -- torchrun --nproc-per-node 4 train.py\n"
      "Exit status: that of the command, or 128+n if signal n ended it.");
  return [options, spool, &app, &behind_dashes] {
    options->command = app.remaining();
    // A command that begins with a dash stands after "--".
    if (!options->command.empty() && options->command.front().starts_with('-'))
      return say_usage_error("unknown option " + options->command.front(), "record");
    options->command.insert(options->command.end(), behind_dashes.begin(), behind_dashes.end());
    if (app.count("--recover") > 0) return recover(*options, *spool);
    if (options->command.empty())
      return say_usage_error("record needs a command: rankscope record -- COMMAND", "record");
    return record(*options);
  };
}

}  // namespace rankscope::cli
