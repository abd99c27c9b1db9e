// A run as TensorBoard's PyTorch profiler plugin (torch-tb-profiler 0.4.3) wants it: a folder with one trace per rank.
#pragma once

#include <filesystem>

#include "rankscope/analyzer/export.h"

namespace rankscope::analyzer {

/// Files HOST_RANK.TIME.pt.trace.json in Kineto's schema, bent where the plugin would misread a faithful one: see
/// docs/tensorboard.md. Processes without a rank have no file.
[[nodiscard]] Result<void> write_tensorboard(const Run& run, const std::filesystem::path& out,
                                             const Progress& progress);

}  // namespace rankscope::analyzer
