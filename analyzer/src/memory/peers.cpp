#include "memory/peers.h"

#include <algorithm>

#include "math/statistics.h"
#include "memory/find.h"
#include "split/peers.h"

namespace rankscope::analyzer {
namespace {

/// Nothing where a rank has no comparable peak.
std::optional<MemoryPeers> peers_of(const PeerClass& peers, const MemorySection& section) {
  MemoryPeers result;
  result.name = peers.name;
  result.caveat = peers.caveat;
  result.ranks = static_cast<std::int64_t>(peers.size());
  std::vector<std::int64_t> peaks;
  for (const RankRow* const row : peers.rows) {
    const DeviceMemory* const memory = main_memory(section, row->rank);
    if (memory == nullptr || memory->changes_only || !memory->allocated.bytes) return std::nullopt;
    if (!peaks.empty() && memory->kind != result.kind) return std::nullopt;
    result.kind = memory->kind;
    peaks.push_back(*memory->allocated.bytes);
    if (peaks.back() > result.most_bytes || peaks.size() == 1) {
      result.most = row->rank;
      result.most_bytes = peaks.back();
    }
  }
  result.median_bytes = median(peaks);
  if (peaks.size() < 2)
    result.imbalance.why = "one rank: there is no other to compare it with";
  else if (result.median_bytes <= 0)
    result.imbalance.why = "the median one of them allocated nothing";
  else
    result.imbalance.value = static_cast<double>(result.most_bytes) / static_cast<double>(result.median_bytes);
  return result;
}

}  // namespace

void add_peers(const Run& run, const Section<StepsSection>& steps, const Section<std::vector<RankRow>>& rows,
               MemorySection& section) {
  if (!steps || !rows) {
    section.why_no_peers = steps ? rows.error().why : steps.error().why;
    return;
  }
  for (const PeerClass& peers : peer_classes(run, *steps, *rows))
    if (auto compared = peers_of(peers, section)) section.peers.push_back(std::move(*compared));
  if (section.peers.empty()) section.why_no_peers = "no group of peers has peaks of the same kind";
}

}  // namespace rankscope::analyzer
