// Rows that a table lacks, and how to see them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "rankscope/core/format.h"

namespace rankscope::analyzer {

struct LeftOut {
  std::size_t rows = 0;
  std::size_t top = 0;  ///< the --top that shows them, too
};

[[nodiscard]] inline LeftOut left_out(std::size_t all, std::size_t most) { return {all - std::min(all, most), all}; }

/// "3 more are not shown"
[[nodiscard]] inline std::string not_shown(std::size_t rows) {
  return format("{} more {} not shown", rows, rows == 1 ? "is" : "are");
}

/// A sentence in the text report; empty if nothing is left out.
[[nodiscard]] inline std::string in_text(const LeftOut& left) {
  return left.rows == 0 ? std::string{} : format("{}; --top {} shows all.", not_shown(left.rows), left.top);
}

/// The same on the page, which was made by somebody else, perhaps.
[[nodiscard]] inline std::string on_page(const LeftOut& left) {
  return left.rows == 0 ? std::string{}
                        : format("{}; a page made with --top {} shows all.", not_shown(left.rows), left.top);
}

}  // namespace rankscope::analyzer
