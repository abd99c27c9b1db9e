// Durations and sizes in words, the same everywhere in the report.
#pragma once

#include <cstdint>
#include <string>

namespace rankscope::analyzer {

/// Three significant digits with the fitting unit: "812 ns", "12.3 µs", "1.02 s".
[[nodiscard]] std::string duration_text(std::int64_t ns);

/// Decimal units, as bandwidths use them: "1.05 MB".
[[nodiscard]] std::string bytes_text(std::int64_t bytes);

}  // namespace rankscope::analyzer
