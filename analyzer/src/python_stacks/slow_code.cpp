#include "python_stacks/slow_code.h"

#include <algorithm>
#include <cmath>

#include "rankscope/core/format.h"
#include "rankscope/core/time_text.h"

namespace rankscope::analyzer {
namespace {

constexpr std::int64_t least_samples = 5;

}  // namespace

void CodeOfPeers::Numbers::finish(std::size_t ranks) {
  std::ranges::sort(sorted_);
  zeros_ = ranks - sorted_.size();
}

std::int64_t CodeOfPeers::Numbers::median_of_others(std::int64_t own) const {
  const std::size_t others = zeros_ + sorted_.size() - 1;
  if (others == 0) return 0;
  const std::size_t place = zeros_ + static_cast<std::size_t>(std::ranges::lower_bound(sorted_, own) - sorted_.begin());
  const auto other = [&](std::size_t n) { return at(n < place ? n : n + 1); };
  const std::int64_t high = other(others / 2);
  if (others % 2 == 1) return high;
  const std::int64_t low = other(others / 2 - 1);
  return low + (high - low) / 2;
}

bool CodeOfPeers::Difference::is_line_of(const Difference& function) const {
  return !is_function() && std::get<0>(spot) == std::get<0>(function.spot) &&
         std::get<1>(spot) == std::get<1>(function.spot);
}

CodeOfPeers::Sums CodeOfPeers::sums_of(const RankCode& code, std::span<const CodePhase> phases) {
  Sums sums;
  for (const CodeLine& line : code.lines) {
    if (std::ranges::find(phases, line.phase) == phases.end()) continue;
    for (const std::int64_t number : {line.line, whole_function}) {
      Sum& sum = sums[{line.function, line.file, number}];
      sum.ns += line.ns;
      sum.samples += line.samples;
    }
  }
  return sums;
}

CodeOfPeers::CodeOfPeers(std::span<const RankCode> codes, std::span<const CodePhase> phases) : codes_(codes) {
  for (const RankCode& code : codes) {
    sums_.push_back(sums_of(code, phases));
    for (const auto& [spot, sum] : sums_.back()) {
      OfAll& all = all_[spot];
      all.ns_per_step.add(code.per_step(sum.ns));
      all.samples.add(sum.samples);
    }
  }
  for (auto& [spot, all] : all_) {
    all.ns_per_step.finish(codes.size());
    all.samples.finish(codes.size());
  }
}

std::vector<CodeOfPeers::Difference> CodeOfPeers::differences(std::size_t own, double sigmas) const {
  std::vector<Difference> found;
  for (const auto& [spot, sum] : sums_[own]) {
    const OfAll& all = all_.at(spot);
    const std::int64_t ns = codes_[own].per_step(sum.ns);
    const auto mine = static_cast<double>(sum.samples);
    const auto theirs = static_cast<double>(all.samples.median_of_others(sum.samples));
    const bool clear = sum.samples >= least_samples && mine - theirs >= sigmas * std::sqrt(mine + theirs);
    found.push_back({spot, ns, all.ns_per_step.median_of_others(ns), sum.samples, clear});
  }
  return found;
}

SlowCode CodeOfPeers::code_at(const Spot& line, const Difference& shown) {
  return {.function = std::string{std::get<0>(line)},
          .file = std::string{std::get<1>(line)},
          .line = std::get<2>(line),
          .ns_per_step = shown.own_ns,
          .peers_ns_per_step = shown.peers_ns,
          .samples = shown.samples};
}

std::optional<SlowCode> CodeOfPeers::slow_code(std::size_t own, const SlowCodeLimits& limits) const {
  if (codes_.size() < 2) return std::nullopt;
  const std::vector<Difference> all = differences(own, limits.sigmas);
  const auto largest = [&all](auto wanted) {
    const Difference* most = nullptr;
    for (const Difference& one : all)
      if (wanted(one) && (most == nullptr || one.ns() > most->ns())) most = &one;
    return most;
  };
  const auto is_clear = [&](const Difference& one) {
    return one.clear && one.ns() >= std::max<std::int64_t>(1, limits.least_ns);
  };
  const Difference* const function = largest([&](const Difference& one) { return one.is_function() && is_clear(one); });
  const Difference* const line = largest([&](const Difference& one) { return !one.is_function() && is_clear(one); });
  if (line != nullptr && (function == nullptr || 2 * line->ns() >= function->ns())) return code_at(line->spot, *line);
  if (function == nullptr) return std::nullopt;
  const Difference* const longest = largest([&](const Difference& one) { return one.is_line_of(*function); });
  return code_at(longest->spot, *function);
}

std::optional<SlowCode> slow_code(const RankCode& own, std::span<const RankCode> peers,
                                  std::span<const CodePhase> phases, std::int64_t least_ns) {
  std::vector<RankCode> codes{own};
  codes.insert(codes.end(), peers.begin(), peers.end());
  return CodeOfPeers{codes, phases}.slow_code(0, {.least_ns = least_ns});
}

namespace {

/// The power of ten below the uncertainty of a time from n samples, which is √n samples.
nanoseconds resolution_of(const SlowCode& code) {
  const double uncertain =
      static_cast<double>(code.ns_per_step) / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, code.samples)));
  std::int64_t resolution = 1;
  while (static_cast<double>(resolution) * 10 <= uncertain) resolution *= 10;
  return nanoseconds{resolution};
}

}  // namespace

std::string slow_code_text(const SlowCode& code) {
  const nanoseconds resolution = resolution_of(code);
  const nanoseconds own{code.ns_per_step};
  const nanoseconds of_peers{code.peers_ns_per_step};
  std::string peers = "about " + axis_text(of_peers, resolution, own);
  if (of_peers.count() == 0)
    peers = "nothing";
  else if (2 * of_peers < resolution)
    peers = "almost nothing";
  return format("{} ({}:{}), which takes about {} per step on this rank (from {}), and {} on its peers", code.function,
                code.file, code.line, axis_text(own, resolution, own), counted(code.samples, "sample"), peers);
}

}  // namespace rankscope::analyzer
