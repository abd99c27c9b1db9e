#include "analyses/stragglers.h"

#include <algorithm>

#include "analyses/class_verdict.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

constexpr double hides_too_much = 1.25;  // a detectable slowdown above this is no answer: "cannot tell"

std::string comparison_text(const PeerClass& peers, std::size_t steps) {
  std::string text = format("Compared with {} peer{} of {}; medians of {} steps.", peers.size() - 1,
                            peers.size() == 2 ? "" : "s", peers.name, steps);
  if (steps < few_steps) text += " Few steps: severity is at most major.";
  if (!peers.caveat.empty()) text += " Caveat: " + peers.caveat + ".";
  return text;
}

std::string doubt_text(std::size_t steps, double smallest) {
  if (steps < least_steps) {
    return format("only {} complete steps: cannot tell whether a rank is slow ({} are needed, {} for a firm verdict)",
                  steps, least_steps, few_steps);
  }
  if (smallest <= hides_too_much) return {};
  return format("equal ranks differ too much in this run: cannot tell below {:.0f} %", (smallest - 1) * 100);
}

void judge(const PeerClass& peers, const StepsSection& steps, const Arrivals& arrivals, StragglersSection& section) {
  const std::size_t counted = counted_steps(steps).size();
  const ClassVerdict verdict(peers, steps, arrivals);
  for (Straggler& row : verdict.stragglers()) section.rows.push_back(std::move(row));
  if (!section.compared.empty()) section.compared += ' ';
  section.compared += comparison_text(peers, counted);
  if (counted >= least_steps) {
    section.smallest_detectable =
        std::max(section.smallest_detectable.value_or(1), verdict.windows().smallest_detectable);
  }
}

}  // namespace

Section<StragglersSection> find_stragglers(const Run& run, const Section<StepsSection>& steps,
                                           const Section<std::vector<RankRow>>& rows,
                                           const Section<CollectivesSection>& collectives) {
  if (run.ranks().size() < 2) return unavailable("one rank: there is nobody to compare it with");
  if (!steps) return unavailable("it needs steps");
  if (!rows) return unavailable(rows.error().why);
  const std::vector<PeerClass> classes = peer_classes(run, *steps, *rows);
  const bool comparable = std::ranges::any_of(classes, [](const PeerClass& peers) { return peers.size() >= 2; });
  if (classes.empty()) return unavailable("no step is complete on all ranks");
  if (!comparable) return unavailable("no two ranks do equal work: there are no peers to compare");
  const Arrivals arrivals = collectives ? last_arrivals(run, *steps, *collectives) : Arrivals{};
  StragglersSection section;
  for (const PeerClass& peers : classes) {
    if (peers.size() >= 2) judge(peers, *steps, arrivals, section);
  }
  section.cannot_tell = doubt_text(counted_steps(*steps).size(), section.smallest_detectable.value_or(1));
  std::ranges::stable_sort(section.rows, [](const Straggler& a, const Straggler& b) {
    if (a.severity != b.severity) return a.severity > b.severity;
    return a.gain_ns_per_step > b.gain_ns_per_step;
  });
  return section;
}

}  // namespace rankscope::analyzer
