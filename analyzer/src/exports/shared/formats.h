// The functions that write the formats, as exports/registry.cpp lists them.
#pragma once

#include <filesystem>

#include "rankscope/analyzer/export.h"

namespace rankscope::analyzer {

/// Perfetto's own trace format (TrackEvent packets in protobuf): exact nanoseconds, about a quarter of the JSON's size.
/// One track per lane (further ones where spans overlap without nesting) and counter, each a packet sequence with its
/// own interned strings; ranks are processes in order. Deterministic.
[[nodiscard]] Result<void> write_perfetto(const Run& run, const std::filesystem::path& out, const Progress& progress);

/// Chrome's trace event format (JSON): one process per rank, one thread row per lane, arrows through collectives.
/// Times count from the start of the run, so that microseconds with three decimals stay exact in readers that use
/// doubles; the wall-clock origin is the integer baseTimeNanoseconds, where it was recorded. Deterministic.
[[nodiscard]] Result<void> write_chrome(const Run& run, const std::filesystem::path& out, const Progress& progress);

/// What TensorBoard's PyTorch profiler plugin (torch-tb-profiler 0.4.3) wants: a folder with one trace per rank, files
/// HOST_RANK.TIME.pt.trace.json in Kineto's schema, bent where the plugin would misread a faithful one: see
/// docs/tensorboard.md. Processes without a rank have no file.
[[nodiscard]] Result<void> write_tensorboard(const Run& run, const std::filesystem::path& out,
                                             const Progress& progress);

/// Kineto's own JSON (torch.profiler), faithful: opened again it is the same Run. One rank: a file. Several: a folder
/// with a file per rank. Processes without a rank have no place in the format and are left out.
[[nodiscard]] Result<void> write_kineto(const Run& run, const std::filesystem::path& out, const Progress& progress);

/// The whole run as a SQLite database, for questions that no report answers. Tables: docs/sqlite.md. All rows in one
/// transaction, with the steps and matched operations of the analyses beside them.
[[nodiscard]] Result<void> write_sqlite(const Run& run, const std::filesystem::path& out, const Progress& progress);

}  // namespace rankscope::analyzer
