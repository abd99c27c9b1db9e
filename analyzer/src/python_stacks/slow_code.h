// The function in which one rank loses the most time against its peers (metrics.md 9.9).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "rankscope/analyzer/python_stacks/section.h"

namespace rankscope::analyzer {

/// What a difference must be to name a line or function.
struct SlowCodeLimits {
  std::int64_t least_ns = 1;  ///< per step
  double sigmas = 2;          ///< of its samples, whose number varies by its square root
};

/// The time of ranks in functions and lines. The codes must outlive it.
class CodeOfPeers {
 public:
  CodeOfPeers(std::span<const RankCode> codes, std::span<const CodePhase> phases);

  /// Of the n-th rank against the median of the others; nothing where no line or function has enough.
  [[nodiscard]] std::optional<SlowCode> slow_code(std::size_t own, const SlowCodeLimits& limits) const;

 private:
  static constexpr std::int64_t whole_function = -1;
  /// Function, file and line, or whole_function.
  using Spot = std::tuple<std::string_view, std::string_view, std::int64_t>;
  struct Sum {
    std::int64_t ns = 0;
    std::int64_t samples = 0;
  };
  using Sums = std::map<Spot, Sum>;
  /// One number of each rank at one spot; it is 0 on those that were never there.
  class Numbers {
   public:
    void add(std::int64_t number) { sorted_.push_back(number); }
    void finish(std::size_t ranks);
    /// Of all but one rank, which has `own`.
    [[nodiscard]] std::int64_t median_of_others(std::int64_t own) const;

   private:
    [[nodiscard]] std::int64_t at(std::size_t place) const { return place < zeros_ ? 0 : sorted_[place - zeros_]; }
    std::size_t zeros_ = 0;
    std::vector<std::int64_t> sorted_;
  };
  struct OfAll {
    Numbers ns_per_step;
    Numbers samples;
  };
  struct Difference {
    Spot spot;
    std::int64_t own_ns = 0;  ///< per step
    std::int64_t peers_ns = 0;
    std::int64_t samples = 0;
    bool clear = false;
    [[nodiscard]] std::int64_t ns() const { return own_ns - peers_ns; }
    [[nodiscard]] bool is_function() const { return std::get<2>(spot) == whole_function; }
    [[nodiscard]] bool is_line_of(const Difference& function) const;
  };

  static Sums sums_of(const RankCode& code, std::span<const CodePhase> phases);
  static SlowCode code_at(const Spot& line, const Difference& shown);
  [[nodiscard]] std::vector<Difference> differences(std::size_t own, double sigmas) const;

  std::span<const RankCode> codes_;
  std::vector<Sums> sums_;  // parallel to codes_
  std::map<Spot, OfAll> all_;
};

/// One rank against its peers.
[[nodiscard]] std::optional<SlowCode> slow_code(const RankCode& own, std::span<const RankCode> peers,
                                                std::span<const CodePhase> phases, std::int64_t least_ns);

/// "Tokens.__getitem__ (data.py:31), which takes about 80 ms per step on this rank (from 120 samples), and nothing on
/// its peers": with as many digits as the number of samples allows.
[[nodiscard]] std::string slow_code_text(const SlowCode& code);

}  // namespace rankscope::analyzer
