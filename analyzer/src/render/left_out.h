// Rows that a table lacks, and how to see them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "rankscope/core/format.h"

namespace rankscope::analyzer {

struct LeftOut {
  std::size_t rows = 0;
  std::size_t top = 0;  ///< the --top that shows them, too
};

[[nodiscard]] inline LeftOut left_out(std::size_t all, std::size_t most) { return {all - std::min(all, most), all}; }

/// "3 more are not shown"; with a noun in the singular "3 more ranks are not shown"
[[nodiscard]] inline std::string not_shown(std::size_t rows, std::string_view noun = {}) {
  return format("{} {} not shown", noun.empty() ? format("{} more", rows) : counted(rows, format("more {}", noun)),
                rows == 1 ? "is" : "are");
}

/// For pages, where --top does not help: what the JSON report has.
[[nodiscard]] inline std::string only_in_json(std::size_t rows, std::string_view noun = {}) {
  return not_shown(rows, noun) + "; the JSON report lists all.";
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
