// Options that are numbers, checked in the words of core/numbers.h before they are converted.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"

namespace rankscope::cli {

/// As a check of an option; --help shows the bounds, if both are given.
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

}  // namespace rankscope::cli
