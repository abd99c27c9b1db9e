// Options of the recorder, the same for `record` and `train`.
#pragma once

#include <CLI/CLI.hpp>

#include "rankscope/collectors/record.h"

namespace rankscope::cli {

/// Declares --out, --collect, --sample-hz, --ring-kib, --rank-env, --window, --duration, --no-follow, --no-preload, ...
void add_record_options(CLI::App& app, collectors::RecordOptions& options);

/// Runs and returns the exit status: the command's own, or ours if it could not be started.
[[nodiscard]] int record(const collectors::RecordOptions& options);

}  // namespace rankscope::cli
