// How options are checked, and how --help shows them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"

namespace rankscope::trainer {

/// Bounds of an option, in the words of core/numbers.h; --help shows them.
template <class Number>
[[nodiscard]] CLI::Validator within(Number least, Number most) {
  return {[=](const std::string& text) {
            const auto number = number_of("", Bounds<Number>{least, most}, text);
            return number ? std::string{} : number.error().message.substr(1);  // CLI11 puts the option before it
          },
          format("{} to {}", least, most)};
}

/// In words instead of CLI11's marks.
class HelpText : public CLI::Formatter {
 public:
  HelpText() { label("Excludes", "not with"); }
  /// Without the value of a flag: `--no-broadcast-buffers{false}`.
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    std::string name = CLI::Formatter::make_option_name(option, is_positional);
    if (const auto open = name.find('{'); open != std::string::npos) name.erase(open);
    return name;
  }
};

}  // namespace rankscope::trainer
