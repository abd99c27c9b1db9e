// rankscope record [options] -- COMMAND…
#include <memory>

#include "record_options.h"
#include "say.h"
#include "verb.h"

namespace rankscope::cli {

Action declare_record(CLI::App& app, const Words& behind_dashes) {
  const auto options = std::make_shared<collectors::RecordOptions>();
  add_record_options(app, *options);
  app.prefix_command();  // everything from the command's name on belongs to the command
  app.footer(
      "rankscope record --out run.rankscope -- torchrun --nproc-per-node 4 train.py\n"
      "Returns the command's own exit status, 128+n if a signal n ended it.");
  return [options, &app, &behind_dashes] {
    options->command = app.remaining();
    options->command.insert(options->command.end(), behind_dashes.begin(), behind_dashes.end());
    if (options->command.empty())
      return say_usage_error("record needs a command: rankscope record -- COMMAND", "record");
    return record(*options);
  };
}

}  // namespace rankscope::cli
