// What the report lacks, why, and how the next recording gets it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

/// A section that could not be computed: its name, the reason, and how a next recording gets it (may be empty).
struct MissingSection {
  std::string name;
  std::string why;
  std::string_view remedy;
};
[[nodiscard]] std::vector<MissingSection> missing_sections(const Report& report);

}  // namespace rankscope::analyzer
