// Which times of different ranks may be compared, and how exactly (metrics.md 7.5).
#pragma once

#include <span>
#include <vector>

#include "clocks/model.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// metrics.md 7.4: how well the times of one host agree, by what took them.
[[nodiscard]] std::int64_t same_clock_error_ns(const Run& run);

/// metrics.md 6.9: ends of one operation agree within 30 us, so a difference of durations below that claims nothing.
inline constexpr std::int64_t duration_claim_ns = 30'000;

/// True if the recording itself says that all its times lie on one axis.
[[nodiscard]] bool has_stated_clock(const Run& run);
/// True of files of other profilers that do not say when their clocks started: each counts from its own first event,
/// whatever host it is from.
[[nodiscard]] bool has_no_common_zero(const Run& run);

/// The claim rule of metrics.md 7.5 for the ranks of a run.
class ClockTrust {
 public:
  /// By what the recording says of its clocks.
  explicit ClockTrust(const Run& run);
  /// By what alignment found; a model of no clocks leaves what the recording says.
  ClockTrust(const Run& run, ClockModel model);

  /// True if the times of these ranks lie on one clock: they were aligned, or they ran on one known host.
  [[nodiscard]] bool comparable(std::span<const RankId> ranks) const;
  /// Largest error between any two of these ranks.
  [[nodiscard]] std::int64_t error_ns(std::span<const RankId> ranks) const;
  /// True if a difference of `size_ns` between these ranks is a fact and not a clock error.
  [[nodiscard]] bool is_fact(std::int64_t size_ns, std::span<const RankId> ranks) const {
    return size_ns > 2 * error_ns(ranks);
  }

 private:
  /// The clocks that these ranks were read from, and the worst two of them.
  struct Clocks {
    bool comparable = true;
    bool several = false;
    std::int64_t error_ns = 0;
  };
  [[nodiscard]] Clocks clocks_of(std::span<const RankId> ranks) const;
  [[nodiscard]] bool on_one_host(std::span<const RankId> ranks) const;

  bool stated_ = false;
  std::int64_t stated_error_ns_ = 0;
  std::int64_t one_host_error_ns_ = 0;
  std::vector<RankId> ranks_;    // ascending
  std::vector<StringId> hosts_;  // parallel to ranks_; none = unknown
  ClockModel model_;
};

}  // namespace rankscope::analyzer
