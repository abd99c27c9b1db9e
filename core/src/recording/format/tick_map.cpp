#include "recording/format/tick_map.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rankscope::recording {
namespace {

constexpr std::int64_t shortest_base_ns = 10'000'000;

constexpr std::int64_t latest_ns = std::int64_t{1} << 60;  // 36 years: damaged numbers must not overflow

std::int64_t scaled(std::int64_t ticks, double ns_per_tick) {
  const double ns = static_cast<double>(ticks) * ns_per_tick;
  return std::llround(std::clamp(ns, -static_cast<double>(latest_ns), static_cast<double>(latest_ns)));
}

bool sane(const ClockPair& pair) {
  const auto in_range = [](std::int64_t ns) { return ns >= 0 && ns < latest_ns * 2; };
  return in_range(pair.monotonic_ns) && in_range(pair.realtime_ns);
}

double rate(const ClockPair& a, const ClockPair& b) {
  return static_cast<double>(b.monotonic_ns - a.monotonic_ns) / static_cast<double>(b.ticks - a.ticks);
}

}  // namespace

TickMap::TickMap(std::vector<ClockPair> pairs, double ticks_per_ns) : pairs_(std::move(pairs)) {
  std::erase_if(pairs_, [](const ClockPair& pair) { return !sane(pair); });
  if (pairs_.empty()) pairs_.emplace_back();
  std::ranges::sort(pairs_, {}, &ClockPair::ticks);
  // A damaged pair must not turn time back: keep only what rises on both clocks.
  std::vector<ClockPair> rising{pairs_.front()};
  for (const ClockPair& pair : pairs_)
    if (pair.ticks > rising.back().ticks && pair.monotonic_ns > rising.back().monotonic_ns) rising.push_back(pair);
  pairs_ = std::move(rising);
  const bool long_enough = pairs_.back().monotonic_ns - pairs_.front().monotonic_ns >= shortest_base_ns;
  const bool usable = std::isfinite(ticks_per_ns) && ticks_per_ns > 1e-6 && ticks_per_ns < 1e3;
  if (long_enough)
    ns_per_tick_ = rate(pairs_.front(), pairs_.back());
  else
    ns_per_tick_ = usable ? 1 / ticks_per_ns : 1;
}

HostTime TickMap::Piece::host_time(std::uint64_t ticks) const {
  return HostTime{nanoseconds{base_ns + scaled(static_cast<std::int64_t>(ticks - base_ticks), ns_per_tick)}};
}

TickMap::Piece TickMap::piece_at(std::uint64_t ticks) const {
  const auto after = std::ranges::upper_bound(pairs_, ticks, {}, &ClockPair::ticks);
  const bool between = after != pairs_.begin() && after != pairs_.end();
  const ClockPair& base = after == pairs_.begin() ? pairs_.front() : *(after - 1);
  return {.first = after == pairs_.begin() ? 0 : base.ticks,
          .end = after == pairs_.end() ? std::numeric_limits<std::uint64_t>::max() : after->ticks,
          .base_ticks = base.ticks,
          .base_ns = base.monotonic_ns,
          .ns_per_tick = between ? rate(base, *after) : ns_per_tick_};
}

std::int64_t TickMap::unix_minus_monotonic_ns() const { return pairs_.back().realtime_ns - pairs_.back().monotonic_ns; }

}  // namespace rankscope::recording
