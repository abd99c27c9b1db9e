#include <algorithm>
#include <tuple>

#include "rankscope/analyzer/rank_sections.h"

namespace rankscope::analyzer {
namespace {

auto reason_of(const IdleShare& share) { return std::tie(share.cause, share.detail, share.range, share.call); }

}  // namespace

std::vector<IdleShare> by_reason(std::vector<IdleShare> shares) {
  std::ranges::sort(shares, [](const IdleShare& a, const IdleShare& b) { return reason_of(a) < reason_of(b); });
  std::vector<IdleShare> sums;
  for (IdleShare& share : shares) {
    if (!sums.empty() && reason_of(sums.back()) == reason_of(share))
      sums.back().ns += share.ns;
    else
      sums.push_back(std::move(share));
  }
  std::ranges::stable_sort(sums, std::ranges::greater{}, &IdleShare::ns);
  return sums;
}

}  // namespace rankscope::analyzer
