// Options of the programs: how they are checked, and how --help shows them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"

namespace rankscope {

/// As a check of an option that is a number, in the words of core/numbers.h and before it is converted; --help shows
/// the bounds, if both are given.
template <class Number>
[[nodiscard]] CLI::Validator within(Bounds<Number> bounds) {
  const Bounds<Number> all;
  const bool bounded = bounds.least != all.least && bounds.most != all.most;
  return {[bounds](const std::string& text) {
            const auto number = number_of("", bounds, text);
            return number ? std::string{} : number.error().message.substr(1);  // CLI11 puts the option before it
          },
          bounded ? format("{} to {}", bounds.least, bounds.most) : std::string{}};
}

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

}  // namespace rankscope
