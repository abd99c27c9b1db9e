// Runs a program as a user does and catches what it says.
#pragma once

#include <string>
#include <vector>

namespace rankscope::testing {

struct ProgramResult {
  int status = -1;  ///< exit status, or 128 + signal
  std::string out;
  std::string err;
};

/// The words are passed as they are, without a shell. `environment` entries NAME=VALUE are added to ours.
[[nodiscard]] ProgramResult run_program(const std::vector<std::string>& words,
                                        const std::vector<std::string>& environment = {});

}  // namespace rankscope::testing
