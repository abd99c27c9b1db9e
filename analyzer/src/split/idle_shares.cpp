#include <algorithm>
#include <tuple>

#include "rankscope/analyzer/split/section.h"

namespace rankscope::analyzer {
namespace {

auto reason_of(const IdleShare& share) { return std::tie(share.cause, share.detail, share.range, share.call); }

/// Adds up what several ranks have of a step, and finds the step with most.
void join_steps(IdleShare& share) {
  std::ranges::stable_sort(share.long_steps, {}, &IdleInStep::step);
  std::vector<IdleInStep> joined;
  for (const IdleInStep& one : share.long_steps) {
    if (joined.empty() || joined.back().step != one.step)
      joined.push_back(one);
    else
      joined.back().ns += one.ns;
  }
  share.long_steps = std::move(joined);
  if (share.long_steps.empty()) return;
  const IdleInStep most = *std::ranges::max_element(share.long_steps, {}, &IdleInStep::ns);
  share.most_ns = most.ns;
  share.most_in_step = most.step;
}

}  // namespace

std::vector<IdleShare> by_reason(std::vector<IdleShare> shares) {
  std::ranges::sort(shares, [](const IdleShare& a, const IdleShare& b) { return reason_of(a) < reason_of(b); });
  std::vector<IdleShare> sums;
  for (IdleShare& share : shares) {
    if (sums.empty() || reason_of(sums.back()) != reason_of(share)) {
      sums.push_back(std::move(share));
      continue;
    }
    IdleShare& sum = sums.back();
    sum.ns += share.ns;
    sum.outside_ns += share.outside_ns;
    sum.long_steps.insert(sum.long_steps.end(), share.long_steps.begin(), share.long_steps.end());
  }
  std::ranges::for_each(sums, join_steps);
  std::ranges::stable_sort(sums, std::ranges::greater{}, &IdleShare::ns);
  return sums;
}

}  // namespace rankscope::analyzer
