// What tells a run from others: its name, when it was recorded, and its command.
#pragma once

#include <string>

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

/// Printable; empty where it is not known.
struct RunIdentity {
  std::string name;
  std::string began;  ///< "2026-03-01 14:05 UTC"
  std::string command;
};
[[nodiscard]] RunIdentity identity_of(const Report& report, const ReportOptions& options);

/// "a · b" of what is known of name and date.
[[nodiscard]] std::string name_and_date(const RunIdentity& identity);

}  // namespace rankscope::analyzer
