// How --help shows options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace rankscope::cli {

/// In words instead of CLI11's marks.
class HelpText : public CLI::Formatter {
 public:
  HelpText() {
    label("Needs", "needs");
    label("Excludes", "not with");
  }
  /// Without the value that a flag has where none is given: `--pm-sampling{200}`.
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    std::string name = CLI::Formatter::make_option_name(option, is_positional);
    for (auto open = name.find('{'); open != std::string::npos; open = name.find('{'))
      name.erase(open, name.find('}', open) - open + 1);
    return name;
  }
};

}  // namespace rankscope::cli
