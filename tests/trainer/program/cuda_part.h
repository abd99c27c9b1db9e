// What PyTorch's GPU libraries need and this machine lacks: scripts/setup installs them only --with-pytorch.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "support/run_program.h"

namespace rankscope::testing {

/// Names of the libraries that the loader does not find for the trainer's CUDA part; empty: it can be loaded.
inline std::vector<std::string> missing_for(const std::string& cuda_part) {
  std::istringstream lines{run_program({"ldd", cuda_part}).out};
  std::vector<std::string> missing;
  for (std::string line, name; std::getline(lines, line);)
    if (line.find("=> not found") != std::string::npos && std::istringstream{line} >> name) missing.push_back(name);
  return missing;
}

}  // namespace rankscope::testing
