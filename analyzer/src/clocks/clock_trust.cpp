#include "clocks/clock_trust.h"
#include "rankscope/core/model/run.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace rankscope::analyzer {
namespace {

constexpr std::int64_t host_times_error_ns = 1'000;
constexpr std::int64_t device_times_error_ns = 5'000;

}  // namespace

std::int64_t same_clock_error_ns(const Run& run) {
  const bool on_device = std::ranges::any_of(run.ranks(), [&](RankId rank) { return run.has_accelerator(rank); });
  return on_device ? device_times_error_ns : host_times_error_ns;
}

bool has_stated_clock(const Run& run) {
  return run.info().clock.method != "none" && run.info().clock.method != "wall_clock";
}

bool has_no_common_zero(const Run& run) {
  return run.info().clock.method == "none" && run.info().source != "rankscope";
}

ClockTrust::ClockTrust(const Run& run)
    : stated_(has_stated_clock(run)),
      stated_error_ns_(run.info().clock.error.count()),
      one_host_error_ns_(same_clock_error_ns(run)),
      ranks_(run.ranks().begin(), run.ranks().end()) {
  hosts_.reserve(ranks_.size());
  for (const RankId rank : ranks_) {
    const StringId host = run.process_of(rank).host;
    hosts_.push_back(run.text(host).empty() || has_no_common_zero(run) ? StringId::none() : host);
  }
}

ClockTrust::ClockTrust(const Run& run, ClockModel model) : ClockTrust(run) { model_ = std::move(model); }

ClockTrust::Clocks ClockTrust::clocks_of(std::span<const RankId> ranks) const {
  Clocks result;
  std::optional<std::uint32_t> any;
  std::int64_t first = 0;
  std::int64_t second = 0;
  std::vector<std::uint32_t> seen;
  for (const RankId rank : ranks) {
    const auto found = std::ranges::lower_bound(ranks_, rank);
    if (found == ranks_.end() || *found != rank) continue;  // an absent rank makes no claims
    seen.push_back(model_.of_rank[static_cast<std::size_t>(found - ranks_.begin())]);
  }
  std::ranges::sort(seen);
  seen.erase(std::ranges::unique(seen).begin(), seen.end());
  for (const std::uint32_t clock : seen) {
    const ClockStanding& standing = model_.clocks[clock];
    result.comparable = result.comparable && any.value_or(standing.reference) == standing.reference;
    any = standing.reference;
    second = std::max(second, std::min(first, standing.error_ns));
    first = std::max(first, standing.error_ns);
  }
  result.several = seen.size() > 1;
  result.error_ns = result.several ? first + second + model_.allowance_ns : model_.same_clock_error_ns;
  return result;
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
  if (ranks.size() < 2) return true;
  return model_.of_rank.empty() ? stated_ || on_one_host(ranks) : clocks_of(ranks).comparable;
}

std::int64_t ClockTrust::error_ns(std::span<const RankId> ranks) const {
  if (ranks.size() < 2) return 0;
  if (!model_.of_rank.empty()) return clocks_of(ranks).error_ns;
  if (!stated_) return one_host_error_ns_;
  return on_one_host(ranks) ? std::min(stated_error_ns_, one_host_error_ns_) : stated_error_ns_;
}

}  // namespace rankscope::analyzer
