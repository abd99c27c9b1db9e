// Names, sizes and factors in the words of a report, for what shows parts of it in another form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/efficiency/section.h"
#include "rankscope/core/model/quality.h"

namespace rankscope::analyzer {

/// Decimal units, as bandwidths use them: "1.05 MB".
[[nodiscard]] std::string bytes_text(std::int64_t bytes);

/// Without return type, namespaces, templates and arguments. Before the name of a kernel that only applies what its
/// template names stands that: "FillFunctor · vectorized_elementwise_kernel".
[[nodiscard]] std::string short_kernel_name(std::string_view name);

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

/// What a user of a recording tool does about a counter. `source` is that of the run: "rankscope", "kineto", "nsys".
[[nodiscard]] std::string_view advice_for(Counter counter, std::string_view source);

}  // namespace rankscope::analyzer
