// Whether a program can start here: asked before it does, since the loader's own words help nobody.
#pragma once

#include <string>

#include "rankscope/core/result.h"

namespace rankscope::cli {

/// Asks the loader, which takes about 10 ms; the error names the libraries that this host lacks, and what to install.
[[nodiscard]] Result<void> check_libraries(const std::string& program);

}  // namespace rankscope::cli
