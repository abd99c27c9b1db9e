// Whether the viewer can start here: asked before it does, since the loader's own words help nobody.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/result.h"

namespace rankscope::cli {

/// Asks the loader, which takes about 10 ms; the error names the libraries that this host lacks, and what to install,
/// or says why the program cannot be started at all.
[[nodiscard]] Result<void> check_libraries(const std::string& program);

/// Names of libraries, each once, of the lines that the loader writes with LD_TRACE_LOADED_OBJECTS=1 (as ldd does): of
/// those that it does not find, and of those that are too old.
[[nodiscard]] std::vector<std::string> missing_libraries(std::string_view said_by_loader);

/// The words of that error; at least one library is missing.
[[nodiscard]] std::string why_viewer_cannot_start(const std::vector<std::string>& missing);

}  // namespace rankscope::cli
