// A part of a report that may be missing: then it says why. Numbers that cannot be told are absent with a reason, never
// 0 (metrics.md C3).
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "rankscope/core/result.h"

namespace rankscope::analyzer {

/// A section, or in words why it cannot be computed from this run.
struct Unavailable {
  std::string why;
};
template <class T>
using Section = tl::expected<T, Unavailable>;
inline tl::unexpected<Unavailable> unavailable(std::string why) {
  return tl::make_unexpected(Unavailable{std::move(why)});
}

/// A ratio, or why there is none.
struct Ratio {
  std::optional<double> value;
  std::string why;  ///< set when value is not
};

}  // namespace rankscope::analyzer
