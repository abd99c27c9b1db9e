// Which send belongs to which receive, by their times (metrics.md 5, K6).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "alignment/unpaired_calls.h"

namespace rankscope::analyzer {

/// Places in UnpairedCalls::sends and receives.
struct SitePair {
  std::size_t send = 0;
  std::size_t receive = 0;
};

/// What speaks for pairs: receives that were already waiting when their send began, and end soon after that.
struct PairEvidence {
  std::size_t waited = 0;
  std::size_t near = 0;      ///< of these, those that end within the limit
  double by_chance = 0;      ///< of `waited`, how many would end that near if sends fell anywhere in the steps
  std::string_view limit{};  ///< "1 ms"
};

struct Pairing {
  std::vector<SitePair> pairs;  ///< in the order of the sends; empty: nothing was concluded
  PairEvidence evidence;
  std::string why;  ///< why there are no pairs
};

/// The assignment of all receives to sends of other ranks in which no receive ends before its send began, sizes agree
/// where they are known, and receives end as soon as possible after the later of their call and of their send. The
/// messages of one rank to another keep their order. Nothing is concluded unless the links between ranks that it needs
/// are needed by all other assignments as well, and ten times as many receives end near their sends as by chance.
[[nodiscard]] Pairing pair_sites(const UnpairedCalls& calls);

}  // namespace rankscope::analyzer
