#include "compare/key_changes.h"

#include <algorithm>
#include <utility>

#include "math/apportion.h"
#include "rankscope/core/format.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

/// In the order of SplitPart; they add up to the window.
std::array<std::int64_t, split_part_count> parts_of(const TimeSplit& split) {
  return {split.compute_ns,
          split.exposed_wait_ns,
          split.exposed_transfer_ns,
          split.exposed_comm_ns - split.exposed_wait_ns - split.exposed_transfer_ns,
          split.memory_ns,
          split.idle_ns_of(IdleCause::host),
          split.idle_ns_of(IdleCause::sync),
          split.idle_ns_of(IdleCause::data),
          split.idle_ns_of(IdleCause::kernel_gap),
          split.idle_ns_of(IdleCause::other)};
}

bool is_one_of(std::span<const RankId> ranks, RankId rank) { return std::ranges::find(ranks, rank) != ranks.end(); }

SplitMean mean_of(const RunDigest& run, std::span<const RankId> ranks) {
  TimeSplit sum;
  SplitMean mean;
  for (const RankRow& row : *run.report.rank_rows) {
    if (!is_one_of(ranks, row.rank)) continue;
    sum += row.total;
    mean.rank_steps += static_cast<std::int64_t>(row.per_step.size());
  }
  if (mean.rank_steps == 0) return mean;
  mean.window_ns = (sum.window_ns + mean.rank_steps / 2) / mean.rank_steps;
  std::ranges::copy(apportioned(parts_of(sum), mean.window_ns), mean.parts_ns.begin());
  return mean;
}

SplitChange change_of(const RunDigest& a, const RunDigest& b, std::string who, std::vector<RankId> ranks_a,
                      std::vector<RankId> ranks_b) {
  SplitChange change;
  change.who = std::move(who);
  change.ranks_a = std::move(ranks_a);
  change.ranks_b = std::move(ranks_b);
  change.a = mean_of(a, change.ranks_a);
  change.b = mean_of(b, change.ranks_b);
  return change;
}

std::vector<RankId> ranks_with_steps(const RunDigest& run) {
  std::vector<RankId> ranks;
  for (const RankRow& row : *run.report.rank_rows)
    if (!row.per_step.empty()) ranks.push_back(row.rank);
  return ranks;
}

/// "left out: ranks 4-7 of B."
std::string left_out_ranks(std::span<const RankId> all, std::span<const RankId> paired, std::string_view of) {
  std::vector<RankId> rest;
  std::ranges::copy_if(all, std::back_inserter(rest), [&](RankId rank) { return !is_one_of(paired, rank); });
  return rest.empty() ? std::string{} : format(" Left out: {} of {}.", ranks_text(rest), of);
}

void pair_by_number(const RunDigest& a, const RunDigest& b, std::span<const RankId> ranks, SplitComparison& result) {
  for (const RankId rank : ranks)
    result.ranks.push_back(change_of(a, b, format("rank {}", rank.value), {rank}, {rank}));
  result.pairing = "Ranks are paired by their numbers.";
}

void pair_by_class(const RunDigest& a, const RunDigest& b, SplitComparison& result) {
  std::string caveat;
  for (const PeerRanks& peers : a.peers) {
    const auto same = std::ranges::find(b.peers, peers.name, &PeerRanks::name);
    if (same == b.peers.end()) continue;
    result.ranks.push_back(change_of(a, b, peers.name, peers.ranks, same->ranks));
    result.ranks.back().is_of_all = peers.is_only && same->is_only;
    if (caveat.empty()) caveat = !peers.caveat.empty() ? peers.caveat : same->caveat;
  }
  if (result.ranks.empty()) {
    result.pairing =
        "The ranks are not paired: the runs have different ranks, and it is not known which ranks do equal "
        "work.";
  } else if (caveat.empty()) {
    result.pairing = "The runs have different ranks: ranks that do equal work are compared with each other.";
  } else {
    result.pairing = format(
        "The runs have different ranks: all ranks of one run are compared with all ranks of the other, because {}.",
        caveat);
  }
}

}  // namespace

Section<SplitComparison> compare_splits(const RunDigest& a, const RunDigest& b) {
  for (const RunDigest* run : {&a, &b})
    if (!run->report.rank_rows)
      return unavailable(format("{}: {}", run->name.label, run->report.rank_rows.error().why));
  const std::vector<RankId> ranks_a = ranks_with_steps(a);
  const std::vector<RankId> ranks_b = ranks_with_steps(b);
  for (const auto* ranks : {&ranks_a, &ranks_b})
    if (ranks->empty())
      return unavailable(format("no rank of {} has complete steps", (ranks == &ranks_a ? a : b).name.label));
  SplitComparison result;
  if (ranks_a == ranks_b) {
    pair_by_number(a, b, ranks_a, result);
  } else {
    pair_by_class(a, b, result);
  }
  std::vector<RankId> paired_a;
  std::vector<RankId> paired_b;
  for (const SplitChange& row : result.ranks) {
    paired_a.insert(paired_a.end(), row.ranks_a.begin(), row.ranks_a.end());
    paired_b.insert(paired_b.end(), row.ranks_b.begin(), row.ranks_b.end());
  }
  if (!result.ranks.empty())
    result.pairing += left_out_ranks(a.ranks, paired_a, a.name.label) + left_out_ranks(b.ranks, paired_b, b.name.label);
  // Nobody paired: the means of all ranks are what can be compared.
  result.all = result.ranks.empty() ? change_of(a, b, "all ranks", ranks_a, ranks_b)
                                    : change_of(a, b, "all ranks", std::move(paired_a), std::move(paired_b));
  return result;
}

std::string_view name_of(SplitPart part) {
  switch (part) {
    case SplitPart::compute:
      return "compute";
    case SplitPart::exposed_wait:
      return "exposed_wait";
    case SplitPart::exposed_transfer:
      return "exposed_transfer";
    case SplitPart::exposed_unsplit:
      return "exposed_unsplit";
    case SplitPart::memory:
      return "memory";
    case SplitPart::idle_host:
      return "idle_host";
    case SplitPart::idle_sync:
      return "idle_sync";
    case SplitPart::idle_data:
      return "idle_data";
    case SplitPart::idle_kernel_gap:
      return "idle_kernel_gap";
    case SplitPart::idle_other:
      return "idle_other";
  }
  return "?";
}

}  // namespace rankscope::analyzer
