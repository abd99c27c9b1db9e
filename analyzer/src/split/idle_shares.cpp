#include <algorithm>
#include <tuple>

#include "rankscope/analyzer/split/section.h"

namespace rankscope::analyzer {
namespace {

auto reason_of(const IdleShare& share) { return std::tie(share.cause, share.detail, share.range, share.call); }

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
    if (share.most_ns > sum.most_ns) {
      sum.most_ns = share.most_ns;
      sum.most_in_step = share.most_in_step;
    }
  }
  std::ranges::stable_sort(sums, std::ranges::greater{}, &IdleShare::ns);
  return sums;
}

}  // namespace rankscope::analyzer
