#include "analyses/clock_trust.h"

#include <algorithm>

namespace rankscope::analyzer {
namespace {

// metrics.md 7.4: host times of one host agree within 1 us.
constexpr std::int64_t one_host_error_ns = 1'000;

}  // namespace

ClockTrust::ClockTrust(const Run& run)
    : aligned_(run.info().clock.method != "none" && run.info().clock.method != "wall_clock"),
      aligned_error_ns_(run.info().clock.error.count()),
      ranks_(run.ranks().begin(), run.ranks().end()) {
  hosts_.reserve(ranks_.size());
  for (const RankId rank : ranks_) {
    const StringId host = run.process_of(rank).host;
    hosts_.push_back(run.text(host).empty() ? StringId::none() : host);
  }
}

bool ClockTrust::on_one_host(std::span<const RankId> ranks) const {
  StringId host = StringId::none();
  for (const RankId rank : ranks) {
    const auto found = std::ranges::lower_bound(ranks_, rank);
    if (found == ranks_.end() || *found != rank) continue;  // an absent rank makes no claims
    const StringId own = hosts_[static_cast<std::size_t>(found - ranks_.begin())];
    if (!own.is_set() || (host.is_set() && host != own)) return false;
    host = own;
  }
  return true;
}

bool ClockTrust::comparable(std::span<const RankId> ranks) const {
  return ranks.size() < 2 || aligned_ || on_one_host(ranks);
}

std::int64_t ClockTrust::error_ns(std::span<const RankId> ranks) const {
  if (ranks.size() < 2) return 0;
  if (!aligned_) return one_host_error_ns;
  return on_one_host(ranks) ? std::min(aligned_error_ns_, one_host_error_ns) : aligned_error_ns_;
}

}  // namespace rankscope::analyzer
