// Lines of the trainer: rank 0 prints progress on stdout, everybody prints errors on stderr, and with --log-dir each
// rank keeps its own file of both.
#pragma once

#include <string>
#include <string_view>

#include "rankscope/core/result.h"

namespace rankscope::trainer {

/// Opens `folder`/rank-N.log; an empty folder means no file. Call once, before threads start.
[[nodiscard]] Result<void> open_log(const std::string& folder, int rank);

void log_progress(std::string_view line);  ///< printed on rank 0 only
void log_error(std::string_view line);

}  // namespace rankscope::trainer
