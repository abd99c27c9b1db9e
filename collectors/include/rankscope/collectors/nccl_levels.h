// How much of what NCCL does is recorded: --nccl.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rankscope/core/result.h"

namespace rankscope::collectors {

/// What NCCL's profiler plugin is asked to report; each but the first contains `coll`.
enum class NcclLevel : std::uint8_t {
  coll,    ///< collectives as they are enqueued
  p2p,     ///< and sends and receives
  proxy,   ///< and the network operations of the proxy threads, with what their steps waited for
  kernel,  ///< and when each channel of a kernel began and ended, by the GPU's own timer
};

/// The levels that are asked for, as bits of NcclLevel.
struct NcclLevels {
  std::uint32_t bits = 0;
  [[nodiscard]] bool has(NcclLevel level) const { return (bits >> static_cast<unsigned>(level) & 1U) != 0; }
  bool operator==(const NcclLevels&) const = default;
};
/// Collectives, sends and receives: they cost next to nothing.
inline constexpr NcclLevels default_nccl_levels{0b11};

/// Reads "p2p" or "proxy,kernel"; proxy and kernel contain p2p, which contains coll. Empty is the default; an unknown
/// word is a usage error.
[[nodiscard]] Result<NcclLevels> nccl_levels_from(std::string_view list);
/// The list that nccl_levels_from reads.
[[nodiscard]] std::string name_of(NcclLevels levels);

}  // namespace rankscope::collectors
