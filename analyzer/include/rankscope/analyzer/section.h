// A part of a report that may be missing: then it says why. Numbers that cannot be told are absent with a reason, never
// 0 (metrics.md C3).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "rankscope/core/result.h"

namespace rankscope::analyzer {

/// Whether a report names a section that is not there. Nobody misses what programs of this kind do not have.
enum class Missed : std::uint8_t { yes, no };

/// A section, or in words why it cannot be computed from this run.
struct Unavailable {
  std::string why;
  Missed missed = Missed::yes;
};
template <class T>
using Section = tl::expected<T, Unavailable>;
inline tl::unexpected<Unavailable> unavailable(std::string why, Missed missed = Missed::yes) {
  return tl::make_unexpected(Unavailable{std::move(why), missed});
}

/// A ratio, or why there is none.
struct Ratio {
  std::optional<double> value;
  std::string why;  ///< set when value is not
};

}  // namespace rankscope::analyzer
