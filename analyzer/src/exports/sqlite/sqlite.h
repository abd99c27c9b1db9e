// The whole run as a SQLite database, for questions that no report answers. Tables: docs/sqlite.md.
#pragma once

#include <filesystem>

#include "rankscope/analyzer/export.h"

namespace rankscope::analyzer {

/// All rows of the run in one transaction, with the steps and matched operations of the analyses beside them.
[[nodiscard]] Result<void> write_sqlite(const Run& run, const std::filesystem::path& out, const Progress& progress);

}  // namespace rankscope::analyzer
