#include "fusable/parts.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "render/json_parts.h"

namespace rankscope::analyzer {

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

/// The sums are of all sequences, listed or not.
Json fusable_json(const FusableSection& section, const ReportOptions& options) {
  constexpr std::size_t fewest_rows = 100;
  Json out{{"kernel_ns", section.kernel_ns},
           {"gap_ns", section.gap_ns},
           {"window_ns", section.window_ns},
           {"count", section.sequences.size()}};
  const std::size_t shown = std::min(section.sequences.size(), std::max(fewest_rows, options.top));
  out["sequences"] = list_json(std::span{section.sequences}.first(shown), [](const FusableSequence& row) {
    return Json{{"kernels", row.kernels},
                {"length", row.length},
                {"count", row.count},
                {"kernel_ns", row.kernel_ns},
                {"gap_ns", row.gap_ns}};
  });
  return out;
}

}  // namespace rankscope::analyzer
