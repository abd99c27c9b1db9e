#include "efficiency/parts.h"

#include <algorithm>
#include <map>

#include "math/checked_product.h"
#include "split/peers.h"

namespace rankscope::analyzer {
namespace {

constexpr const char* too_long = "the sum of the ranks' times does not fit in 64 bits";
constexpr std::string_view one_class = "the ranks that these numbers cover are all in one class of peers";

/// One rank's U, A and window, of the run or of a step.
struct Share {
  RankId rank;
  std::int64_t compute_ns = 0;
  std::int64_t active_ns = 0;
  std::int64_t window_ns = 0;
};

Share share_of(RankId rank, const TimeSplit& split) {
  return {rank, split.compute_ns, split.window_ns - split.idle_ns, split.window_ns};
}

/// The shares must be by rank.
EfficiencyFactors factors_of(std::span<const Share> shares, const Share& longest) {
  EfficiencyFactors factors;
  factors.ranks = static_cast<std::int64_t>(shares.size());
  factors.longest = longest.rank;
  factors.longest_ns = longest.window_ns;
  for (const Share& share : shares) {
    factors.compute_ns += share.compute_ns;
    if (!factors.most_computing.is_set() || share.compute_ns > factors.most_compute_ns) {
      factors.most_computing = share.rank;
      factors.most_compute_ns = share.compute_ns;
    }
    if (!factors.most_active.is_set() || share.active_ns > factors.most_active_ns) {
      factors.most_active = share.rank;
      factors.most_active_ns = share.active_ns;
    }
  }
  return factors;
}

/// Of all ranks of the job.
EfficiencyFactors factors_of(std::span<const Share> shares) {
  return factors_of(shares, *std::ranges::max_element(shares, {}, &Share::window_ns));
}

/// Ranks whose totals cover the same steps, by rank.
std::vector<const RankRow*> comparable(const std::vector<RankRow>& rows, std::size_t steps,
                                       std::vector<RankId>& left_out) {
  std::vector<const RankRow*> kept;
  for (const RankRow& row : rows) {
    if (row.per_step.size() == steps) {
      kept.push_back(&row);
    } else {
      left_out.push_back(row.rank);
    }
  }
  return kept;
}

std::vector<StepEfficiency> per_step(std::span<const RankRow* const> rows, std::span<const std::int64_t> indices) {
  std::vector<StepEfficiency> steps;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    std::vector<Share> shares;
    for (const RankRow* row : rows) shares.push_back(share_of(row->rank, row->per_step[i]));
    steps.push_back({indices[i], factors_of(shares)});
  }
  return steps;
}

/// load_balance = (mean of all / largest mean of a group) x (largest mean of a group / largest of all).
void divide_balance(Grouping& grouping, const EfficiencyFactors& run, std::string_view why_one_group) {
  double largest = 0;
  for (const EfficiencyGroup& group : grouping.groups) largest = std::max(largest, group.factors.mean_compute_ns());
  if (grouping.groups.size() < 2 || !(largest > 0)) {
    const std::string_view why =
        grouping.groups.empty() ? "without steps it is not known which ranks do equal work" : why_one_group;
    grouping.between = grouping.inside = {std::nullopt, std::string{why}};
    return;
  }
  grouping.between.value = run.mean_compute_ns() / largest;
  grouping.inside.value = largest / static_cast<double>(run.most_compute_ns);
}

EfficiencyGroup group_of(std::string name, std::span<const RankRow* const> rows, const EfficiencyFactors& run) {
  EfficiencyGroup group{std::move(name), {}, {}};
  std::vector<Share> shares;
  for (const RankRow* row : rows) {
    group.ranks.push_back(row->rank);
    shares.push_back(share_of(row->rank, row->total));
  }
  group.factors = factors_of(shares, {run.longest, 0, 0, run.longest_ns});
  return group;
}

Grouping by_class(const Run& run, const StepsSection& steps, const std::vector<RankRow>& rows,
                  const EfficiencyFactors& whole) {
  Grouping grouping;
  for (const PeerClass& peers : peer_classes(run, steps, rows)) {
    if (!peers.caveat.empty()) grouping.caveat = peers.caveat;
    grouping.groups.push_back(group_of(peers.name, peers.rows, whole));
  }
  divide_balance(grouping, whole, grouping.caveat.empty() ? one_class : grouping.caveat);
  return grouping;
}

Grouping by_host(std::span<const RankRow* const> rows, const EfficiencyFactors& whole) {
  std::map<std::string, std::vector<const RankRow*>> hosts;
  for (const RankRow* row : rows) hosts[row->host].push_back(row);
  Grouping grouping;
  const bool unknown = hosts.contains("");
  for (const auto& [host, members] : hosts)
    if (!unknown) grouping.groups.push_back(group_of(host, members, whole));
  divide_balance(grouping, whole, "the ranks that these numbers cover are all on one host");
  if (unknown) grouping.between.why = grouping.inside.why = "the hosts of the ranks were not recorded";
  return grouping;
}

/// False if a sum does not fit.
bool add_to_ledger(TimeLedger& ledger, const TimeSplit& split, std::int64_t longest_ns) {
  const auto idle = [&](IdleCause cause) { return split.idle_ns_of(cause); };
  const TimeLedger own{split.compute_ns,
                       split.exposed_transfer_ns,
                       split.exposed_wait_ns,
                       split.exposed_comm_ns - split.exposed_transfer_ns - split.exposed_wait_ns,
                       split.memory_ns,
                       idle(IdleCause::host),
                       idle(IdleCause::sync),
                       idle(IdleCause::data),
                       idle(IdleCause::kernel_gap),
                       idle(IdleCause::other),
                       longest_ns - split.window_ns};
  for (std::size_t i = 0; i < ledger.size(); ++i)
    if (!add_fits(ledger[i], own[i])) return false;
  return true;
}

}  // namespace

std::string_view name_of(LedgerPart part) {
  switch (part) {
    case LedgerPart::compute:
      return "compute";
    case LedgerPart::exposed_transfer:
      return "exposed_transfer";
    case LedgerPart::exposed_wait:
      return "exposed_wait";
    case LedgerPart::exposed_unsplit:
      return "exposed_unsplit";
    case LedgerPart::memory:
      return "memory";
    case LedgerPart::idle_host:
      return "idle_host";
    case LedgerPart::idle_sync:
      return "idle_sync";
    case LedgerPart::idle_data:
      return "idle_data";
    case LedgerPart::idle_kernel_gap:
      return "idle_kernel_gap";
    case LedgerPart::idle_other:
      return "idle_other";
    case LedgerPart::tail:
      return "tail";
  }
  return "?";
}

void set_network(EfficiencySection& section, const Section<NetworkReplay>& replay) {
  const auto none = [&](const std::string& why) { section.transfer = section.serialization = {std::nullopt, why}; };
  if (!replay) return none(replay.error().why);
  if (replay->step_ns <= 0) return none("the replayed step takes no time");
  if (replay->step_without_transfers_ns <= 0) return none("without transfers the replayed step takes no time");
  const double share = static_cast<double>(replay->step_without_transfers_ns) / static_cast<double>(replay->step_ns);
  section.transfer = {share, {}};
  section.serialization = {section.run.communication() / share, {}};
}

Section<EfficiencySection> find_efficiency(const Run& run, const Section<StepsSection>& steps,
                                           const Section<std::vector<RankRow>>& rows) {
  if (!rows) return unavailable(rows.error().why);
  const std::vector<std::int64_t> indices = steps ? counted_steps(*steps) : std::vector<std::int64_t>{};
  EfficiencySection section;
  const std::vector<const RankRow*> kept = comparable(*rows, indices.size(), section.left_out);
  if (kept.empty()) return unavailable("no rank recorded all of the counted steps");
  std::vector<Share> shares;
  for (const RankRow* row : kept) shares.push_back(share_of(row->rank, row->total));
  section.run = factors_of(shares);
  if (!section.run.known()) return unavailable("no rank computed anything");
  const auto whole = product_of({section.run.ranks, section.run.longest_ns});
  if (!whole) return unavailable(too_long);
  section.whole_ns = *whole;
  for (const RankRow* row : kept)
    if (!add_to_ledger(section.ledger, row->total, section.run.longest_ns)) return unavailable(too_long);
  section.steps = per_step(kept, indices);
  if (steps && !indices.empty())
    section.classes = by_class(run, *steps, *rows, section.run);
  else
    divide_balance(section.classes, section.run, one_class);
  section.hosts = by_host(kept, section.run);
  set_network(section, unavailable("the step was not replayed with instant transfers"));
  return section;
}

}  // namespace rankscope::analyzer
