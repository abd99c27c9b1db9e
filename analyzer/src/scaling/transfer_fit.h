// How long a collective moves data on more ranks: latency and bandwidth fitted to what was measured (metrics.md 16.2).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rankscope::analyzer::scaling {

/// One measured operation.
struct Transfer {
  std::int64_t bytes = 0;  ///< S of metrics.md 6
  double ns = 0;
};

/// Rounds and volume of an operation on n ranks as rings run it: time = rounds x alpha + share x S / B.
struct Ring {
  double rounds = 0;
  double share = 0;
};
/// Nothing for an operation whose algorithm is not known.
[[nodiscard]] std::optional<Ring> ring_of(std::string_view op, std::int64_t ranks);

struct LinkModel {
  double alpha_ns = 0;         ///< per hop
  double ns_per_byte = 0;      ///< 1 / bandwidth
  bool latency_known = false;  ///< several sizes were measured; else all time is taken for bandwidth
  [[nodiscard]] double ns(const Ring& ring, std::int64_t bytes) const {
    return ring.rounds * alpha_ns + ring.share * static_cast<double>(bytes) * ns_per_byte;
  }
};

/// Least absolute errors with both parts at least 0: medians of pairs, so that outliers do not count.
[[nodiscard]] LinkModel fit_link(std::span<const Transfer> transfers, const Ring& ring);

}  // namespace rankscope::analyzer::scaling
