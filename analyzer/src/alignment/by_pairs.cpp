#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "alignment/align.h"
#include "alignment/pairing.h"
#include "alignment/unpaired_calls.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/run_builder.h"

namespace rankscope::analyzer {
namespace {

/// Sets of ranks that send to one another, directly or through others.
class Connected {
 public:
  void join(RankId a, RankId b) {
    const RankId from = first_of(a);
    const RankId to = first_of(b);
    first_[std::max(from, to)] = std::min(from, to);
  }

  /// The lowest rank of the set.
  [[nodiscard]] RankId first_of(RankId rank) {
    const RankId known = first_.try_emplace(rank, rank).first->second;
    if (known == rank) return rank;
    return first_[rank] = first_of(known);
  }

 private:
  std::map<RankId, RankId> first_;
};

struct PairGroups {
  std::vector<NewGroup> groups;  ///< one for each set of connected ranks
  std::vector<Partner> partners;
};

PairGroups groups_of(const UnpairedCalls& calls, const Pairing& pairing, std::size_t groups_before) {
  const auto sender = [&](const SitePair& pair) -> const CallSite& { return calls.sends[pair.send]; };
  const auto receiver = [&](const SitePair& pair) -> const CallSite& { return calls.receives[pair.receive]; };
  Connected connected;
  for (const SitePair& pair : pairing.pairs) connected.join(sender(pair).rank, receiver(pair).rank);
  std::map<RankId, std::set<RankId>> members;  // by their lowest rank
  for (const SitePair& pair : pairing.pairs)
    members[connected.first_of(sender(pair).rank)].insert({sender(pair).rank, receiver(pair).rank});
  PairGroups result;
  std::map<RankId, GroupId> group_of;
  for (const auto& [first, ranks] : members) {
    group_of[first] = GroupId{static_cast<std::uint32_t>(groups_before + result.groups.size())};
    result.groups.push_back({"found by times", {ranks.begin(), ranks.end()}});
  }
  for (const SitePair& pair : pairing.pairs) {
    const GroupId group = group_of.at(connected.first_of(sender(pair).rank));
    for (const UnpairedCall& call : sender(pair).calls)
      result.partners.push_back({call.row, group, receiver(pair).rank});
    for (const UnpairedCall& call : receiver(pair).calls)
      result.partners.push_back({call.row, group, sender(pair).rank});
  }
  return result;
}

std::string note_of(const UnpairedCalls& calls, const Pairing& pairing, std::size_t paired) {
  const PairEvidence& evidence = pairing.evidence;
  return format(
      "The recording does not say which send belongs to which receive. {} of {} sends and receives were matched by "
      "their times, so that no receive ends before its send starts. Of the {} receives that were already waiting when "
      "their send started, {} ended within {} of that start; about {:.1f} % of these are expected to have done so by "
      "chance.",
      paired, calls.all, evidence.waited, evidence.near, evidence.limit,
      100 * evidence.by_chance / static_cast<double>(evidence.near));
}

}  // namespace

TimeMatching match_pairs(const Run& run) {
  const UnpairedCalls calls = unpaired_calls(run);
  if (calls.all == 0) return {};
  const Pairing pairing = pair_sites(calls);
  if (pairing.pairs.empty())
    return {
        nullptr,
        format("The recording does not say which send belongs to which receive, and the times of these calls do not "
               "show this either: {}.",
               pairing.why)};
  const PairGroups found = groups_of(calls, pairing, run.groups().size());
  return {RunBuilder::paired(run, found.groups, found.partners), note_of(calls, pairing, found.partners.size())};
}

}  // namespace rankscope::analyzer
