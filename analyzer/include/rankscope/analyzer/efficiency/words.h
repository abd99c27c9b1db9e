// The factors and parts of the efficiency in the words of a report, for what shows them in another form.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/efficiency/section.h"

namespace rankscope::analyzer {

/// One factor of the tree of efficiencies, its value between 0 and 1, and what it says.
struct TreeLine {
  std::string_view id;  ///< "parallel", "load_balance", ...
  std::string_view name;
  std::size_t depth = 0;  ///< 0: the product
  double value = 0;
  std::string meaning;
};
/// Without what is not known.
[[nodiscard]] std::vector<TreeLine> tree_lines(const EfficiencySection& section);

/// "moving data", "waiting for other ranks", ...
[[nodiscard]] std::string_view words_of(LedgerPart part);

}  // namespace rankscope::analyzer
