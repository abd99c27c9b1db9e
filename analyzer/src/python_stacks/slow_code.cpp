#include "python_stacks/slow_code.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include "math/statistics.h"
#include "rankscope/core/format.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

constexpr std::int64_t least_samples = 5;
constexpr double clear_sigmas = 2;  // the number of samples in a function varies by its square root
constexpr std::int64_t whole_function = -1;

/// Function, file and line, or whole_function.
using Spot = std::tuple<std::string_view, std::string_view, std::int64_t>;
struct Sum {
  std::int64_t ns = 0;
  std::int64_t samples = 0;
};
using Sums = std::map<Spot, Sum>;

Sums sums_of(const RankCode& code, std::span<const CodePhase> phases) {
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

struct Difference {
  Spot spot;
  std::int64_t own_ns = 0;  ///< per step
  std::int64_t peers_ns = 0;
  bool clear = false;
  [[nodiscard]] std::int64_t ns() const { return own_ns - peers_ns; }
  [[nodiscard]] bool is_function() const { return std::get<2>(spot) == whole_function; }
  [[nodiscard]] bool is_line_of(const Difference& function) const {
    return !is_function() && std::get<0>(spot) == std::get<0>(function.spot) &&
           std::get<1>(spot) == std::get<1>(function.spot);
  }
};

/// One rank against its peers.
class Comparison {
 public:
  Comparison(const RankCode& own, std::span<const RankCode> peers, std::span<const CodePhase> phases)
      : own_(own), peers_(peers), own_sums_(sums_of(own, phases)) {
    for (const RankCode& peer : peers) peers_sums_.push_back(sums_of(peer, phases));
  }

  /// The largest difference that `wanted` accepts.
  template <class Wanted>
  [[nodiscard]] std::optional<Difference> largest(Wanted wanted) const {
    std::optional<Difference> most;
    for (const auto& [spot, sum] : own_sums_) {
      const Difference one = difference(spot, sum);
      if (wanted(one) && (!most || one.ns() > most->ns())) most = one;
    }
    return most;
  }

 private:
  [[nodiscard]] Difference difference(const Spot& spot, const Sum& own) const {
    std::vector<std::int64_t> times;
    std::vector<std::int64_t> samples;
    for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
      const auto found = peers_sums_[peer].find(spot);
      const Sum sum = found == peers_sums_[peer].end() ? Sum{} : found->second;
      times.push_back(peers_[peer].per_step(sum.ns));
      samples.push_back(sum.samples);
    }
    const auto mine = static_cast<double>(own.samples);
    const auto theirs = static_cast<double>(median(samples));
    const bool clear = own.samples >= least_samples && mine - theirs >= clear_sigmas * std::sqrt(mine + theirs);
    return {spot, own_.per_step(own.ns), median(times), clear};
  }

  const RankCode& own_;
  std::span<const RankCode> peers_;
  Sums own_sums_;
  std::vector<Sums> peers_sums_;
};

SlowCode code_at(const Spot& line, const Difference& shown) {
  return {std::string{std::get<0>(line)}, std::string{std::get<1>(line)}, std::get<2>(line), shown.own_ns,
          shown.peers_ns};
}

}  // namespace

std::optional<SlowCode> slow_code(const RankCode& own, std::span<const RankCode> peers,
                                  std::span<const CodePhase> phases, std::int64_t least_ns) {
  if (peers.empty()) return std::nullopt;
  const Comparison compared{own, peers, phases};
  const auto is_clear = [&](const Difference& one) {
    return one.clear && one.ns() >= std::max<std::int64_t>(1, least_ns);
  };
  const auto function = compared.largest([&](const Difference& one) { return one.is_function() && is_clear(one); });
  const auto line = compared.largest([&](const Difference& one) { return !one.is_function() && is_clear(one); });
  if (line && (!function || 2 * line->ns() >= function->ns())) return code_at(line->spot, *line);
  if (!function) return std::nullopt;
  const auto longest = compared.largest([&](const Difference& one) { return one.is_line_of(*function); });
  return code_at(longest->spot, *function);
}

std::string slow_code_text(const SlowCode& code) {
  return format("{}, {}:{}: {} per step, on its peers {}", code.function, code.file, code.line,
                duration_text(code.ns_per_step),
                code.peers_ns_per_step == 0 ? "none" : duration_text(code.peers_ns_per_step));
}

}  // namespace rankscope::analyzer
