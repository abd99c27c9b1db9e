#include "stragglers/parts.h"

#include <algorithm>
#include <map>
#include <utility>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "split/communication.h"
#include "stragglers/class_verdict.h"
#include "stragglers/crowded_hosts.h"
#include "stragglers/shared_devices.h"
#include "stragglers/unrecorded.h"
#include "tcp_links/parts.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

constexpr double hides_too_much = 1.25;  // a detectable slowdown above this is no answer: "cannot tell"

std::string few_steps_text(std::size_t steps) {
  return steps >= few_steps ? std::string{} : std::string{" There are few steps, so the severity is at most major."};
}

std::string comparison_text(const PeerClass& peers, std::size_t steps) {
  const std::string who =
      peers.is_only ? std::string{"Each rank"} : format("Each rank of the class \"{}\"", peers.name);
  std::string text = format("{} is compared with {}; the times are medians of {}.", who,
                            counted(peers.size() - 1, "peer"), counted(steps, "step"));
  text += few_steps_text(steps);
  if (!peers.caveat.empty()) text += " Caveat: " + peers.caveat + ".";
  return text;
}

/// Each class by its name; where there are many, as in large parallel layouts, how many they are.
std::string comparisons_text(std::span<const PeerClass* const> classes, std::size_t steps) {
  constexpr std::size_t most_named = 3;
  std::string text;
  if (classes.size() <= most_named) {
    for (const PeerClass* peers : classes) text += (text.empty() ? "" : " ") + comparison_text(*peers, steps);
    return text;
  }
  const auto [least, most] = std::ranges::minmax(classes, {}, [](const PeerClass* peers) { return peers->size(); });
  const std::string peers = least->size() == most->size()
                                ? counted(least->size() - 1, "peer")
                                : format("{} to {} peers", least->size() - 1, most->size() - 1);
  return format(
             "Each rank is compared with {} of its class; there are {} classes, from {} to {}; the times are medians "
             "of {}.",
             peers, classes.size(), classes.front()->name, classes.back()->name, counted(steps, "step")) +
         few_steps_text(steps);
}

/// What the scatter of equal ranks, or the want of CPUs, hides.
std::string doubt_by_noise(const StragglersSection& section, const CrowdedHosts& crowded) {
  const double smallest = section.smallest_detectable.value_or(1);
  if (section.chance_slowdown > 1) {
    return format("{}, so slowdowns below {:.0f} % cannot be detected", crowded.text(),
                  (std::max(smallest, section.chance_slowdown) - 1) * 100);
  }
  std::string doubt;
  if (crowded.any()) {
    doubt = format("{}, so slowdowns below {:.0f} % caused by the host or by waiting for data cannot be detected",
                   crowded.text(), (crowded_slowdown - 1) * 100);
  }
  if (smallest <= hides_too_much) return doubt;
  return format(
      "{}{}the own times of ranks that do equal work differ too much in this run, so slowdowns below {:.0f} % cannot "
      "be detected",
      doubt, doubt.empty() ? "" : "; ", (smallest - 1) * 100);
}

/// Ranks that were recorded and compared with nobody; empty if there are none.
std::string not_compared_text(const Run& run, std::span<const PeerClass* const> compared) {
  std::vector<RankId> without_peers;
  for (const RankId rank : run.ranks()) {
    const auto is_in = [rank](const PeerClass* peers) { return class_of({peers, 1}, rank) != nullptr; };
    if (std::ranges::none_of(compared, is_in)) without_peers.push_back(rank);
  }
  if (without_peers.empty()) return {};
  return format("{} could not be compared, for lack of complete steps or of a peer that does equal work",
                ranks_text(without_peers));
}

std::string few_steps_doubt(const StepsSection& section) {
  const std::size_t steps = counted_steps(section).size();
  if (steps >= least_steps) return {};
  std::string text =
      format("only {} ({} are needed, {} for a firm verdict)", counted(steps, "counted step"), least_steps, few_steps);
  const auto is_warm_up = [](const Step& step) { return step.complete && step.warm_up; };
  const auto warm_up = std::ranges::count_if(section.steps, is_warm_up);
  if (warm_up > 0)
    text += format(", since {} of {} {} warm-up; record more steps, or use --include-warmup", warm_up,
                   counted(std::ranges::count_if(section.steps, &Step::complete), "complete step"),
                   warm_up == 1 ? "is" : "are");
  return text;
}

/// Waiting that was not recorded; empty if nothing shows that there is any.
std::string doubt_by_waits(const Run& run, std::span<const RankRow> rows) {
  const std::string quiet = quiet_steps(run, rows);
  return quiet.empty() ? unrecorded_collectives(run)
                       : quiet + "; waiting in steps without recorded communication counts as work";
}

/// True if it has ranks beside those that were named: of two of which one is slow, the other one is the measure.
bool judge(const PeerClass& peers, const StepsSection& steps, const CollectiveFacts& facts, const CrowdedHosts& crowded,
           const SharedDevices& shared, StragglersSection& section) {
  const std::size_t counted = counted_steps(steps).size();
  const ClassVerdict verdict(peers, steps, facts);
  std::size_t named = 0;
  for (Straggler& row : verdict.stragglers()) {
    if (crowded.explain(row)) continue;
    if (shared.explain(row)) {
      section.cannot_tell = shared.text();
      continue;
    }
    section.rows.push_back(std::move(row));
    ++named;
  }
  const bool by_chance =
      std::ranges::any_of(peers.rows, [&](const RankRow* row) { return crowded.compute_for(row->rank); });
  const double chance_slowdown = by_chance ? crowded_slowdown : 1;
  section.chance_slowdown = std::max(section.chance_slowdown, chance_slowdown);
  if (counted >= least_steps) {
    section.smallest_detectable =
        std::max({section.smallest_detectable.value_or(1), verdict.windows().smallest_detectable, chance_slowdown});
  }
  return named == 0 || peers.size() > named + 1;
}

LastArrivals summary_of(const Arrivals& arrivals, std::span<const RankId> ranks) {
  LastArrivals summary{arrivals.trials, arrivals.by_operation, {}, Certainty::fact};
  if (ranks.size() == 2) summary.certainty = Certainty::of_two;
  if (ranks.size() == 3) summary.certainty = Certainty::of_three;
  std::map<RankId, std::int64_t> times;
  for (const RankId rank : arrivals.last) ++times[rank];
  summary.ranks.assign(times.begin(), times.end());
  std::ranges::stable_sort(summary.ranks, std::ranges::greater{}, &std::pair<RankId, std::int64_t>::second);
  return summary;
}

}  // namespace

void leave_to_slow_links(const TcpLinksSection& links, StragglersSection& section) {
  std::erase_if(section.rows, [&](const Straggler& row) {
    return row.kind == StragglerKind::network &&
           std::ranges::any_of(links.slow, [&](const SlowTcpLink& slow) { return is_at_end(links, slow, row.rank); });
  });
}

void sort_worst_first(StragglersSection& section) {
  std::ranges::stable_sort(section.rows, [](const Straggler& a, const Straggler& b) {
    if (a.severity != b.severity) return a.severity > b.severity;
    return a.gain_ns_per_step > b.gain_ns_per_step;
  });
}

Section<StragglersSection> find_stragglers(const Run& run, const Section<StepsSection>& steps,
                                           const Section<std::vector<RankRow>>& rows,
                                           const Section<CollectivesSection>& collectives,
                                           const Section<BlameSection>& blame) {
  if (run.ranks().empty()) return unavailable("no process has a rank");
  if (run.ranks().size() < 2)
    return unavailable(only_recorded_text(1, run.info().world_size, run.quality().of(Counter::segments_unreadable)));
  if (!steps) return unavailable("own times of ranks cannot be compared without steps");
  if (!rows) return unavailable(rows.error().why);
  const std::vector<PeerClass> classes = peer_classes(run, *steps, *rows);
  const bool comparable = std::ranges::any_of(classes, [](const PeerClass& peers) { return peers.size() >= 2; });
  if (classes.empty()) return unavailable("no step is complete on all ranks");
  if (!comparable) return unavailable("no two ranks do equal work, so no rank has peers to be compared with");
  CollectiveFacts facts{.blame = blame ? &*blame : nullptr};
  if (collectives) facts.arrivals = last_arrivals(run, *steps, *collectives);
  const CrowdedHosts crowded{run, *steps};
  const SharedDevices shared{run};
  StragglersSection section;
  bool others = false;
  std::vector<const PeerClass*> compared;
  for (const PeerClass& peers : classes) {
    if (peers.size() < 2) continue;
    others |= judge(peers, *steps, facts, crowded, shared, section);
    compared.push_back(&peers);
  }
  section.last_arrivals = summary_of(facts.arrivals, run.ranks());
  section.compared = comparisons_text(compared, counted_steps(*steps).size());
  if (std::string few = few_steps_doubt(*steps); !few.empty()) section.cannot_tell = std::move(few);
  if (section.cannot_tell.empty()) section.cannot_tell = not_compared_text(run, compared);
  if (section.cannot_tell.empty() && others) section.cannot_tell = doubt_by_waits(run, *rows);
  if (section.cannot_tell.empty() && others) section.cannot_tell = doubt_by_noise(section, crowded);
  sort_worst_first(section);
  return section;
}

}  // namespace rankscope::analyzer
