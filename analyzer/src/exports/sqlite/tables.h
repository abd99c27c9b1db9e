// All tables of a run, written into a database.
#pragma once

#include "exports/sqlite/database.h"
#include "rankscope/analyzer/progress.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// Errors of the database itself stay in it. `unreadable` for a number that is too large, `cannot_write` if it was
/// cancelled; `shown` is the name that the user knows.
[[nodiscard]] Result<void> write_tables(const Run& run, SqliteDatabase& database, const Progress& progress,
                                        const std::filesystem::path& shown);

}  // namespace rankscope::analyzer
