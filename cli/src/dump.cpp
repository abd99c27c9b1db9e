// rankscope dump RUN
#include <memory>
#include <sstream>

#include "rankscope/analyzer/open.h"
#include "rankscope/core/model/text.h"
#include "say.h"
#include "verb.h"

namespace rankscope::cli {

Action declare_dump(CLI::App& app, const Words&) {
  const auto path = std::make_shared<std::string>();
  app.add_option("RUN", *path, "a .rankscope folder, or the text that dump prints (.txt)")->required();
  return [path] {
    const auto run = analyzer::open_run(*path);
    if (!run) return say(run.error());
    std::ostringstream text;
    write_text(**run, text);
    const auto printed = print(text.view());
    return printed ? 0 : say(printed.error());
  };
}

}  // namespace rankscope::cli
