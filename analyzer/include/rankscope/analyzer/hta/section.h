// What HolisticTraceAnalysis 0.6.1 (HTA) computes from the same trace, its faults included (metrics.md 19). Where HTA
// is wrong, the right number of the same rows stands beside it, named own_*.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/options.h"
#include "rankscope/analyzer/section.h"
#include "rankscope/core/id.h"

namespace rankscope::analyzer {

/// 19.4. kernel = idle + compute + non_compute.
struct HtaTimes {
  std::int64_t kernel_ns = 0;  ///< first begin to last end
  std::int64_t idle_ns = 0;
  std::int64_t compute_ns = 0;
  std::int64_t non_compute_ns = 0;
};

/// 19.7.
struct HtaLaunches {
  std::int64_t count = 0;
  std::int64_t cpu_ns = 0;
  std::int64_t gpu_ns = 0;
  std::int64_t delay_ns = 0;
  std::int64_t short_kernels = 0;
  std::int64_t runtime_outliers = 0;
  std::int64_t delay_outliers = 0;
  bool operator==(const HtaLaunches&) const = default;
};

/// The classes into which HTA sorts kernels by their names.
enum class HtaClass : std::uint8_t { computation, communication, memory, other };
[[nodiscard]] std::string_view name_of(HtaClass kind);

/// The four figures by which HTA describes the durations of a kernel.
struct HtaStatistics {
  std::int64_t max_ns = 0;
  std::int64_t min_ns = 0;
  double mean_ns = 0;
  double stddev_ns = 0;
};

/// 19.5: a kernel of one rank; "others" stands for several.
struct HtaKernel {
  std::string name;
  HtaClass kind = HtaClass::other;
  std::int64_t sum_ns = 0;
  HtaStatistics hta;
  std::int64_t own_count = 0;  ///< executions, each once
  HtaStatistics own;           ///< over executions, never over sums of them
};

/// 19.5: time in which these classes ran, of all ranks.
struct HtaTypeTime {
  std::string name;  ///< "COMPUTATION overlapping MEMORY"
  std::int64_t sum_ns = 0;
  double percent = 0;
};

/// Why HTA says that a stream was idle (metrics.md 19.6); by other rules than IdleCause.
enum class HtaIdleCause : std::uint8_t { host_wait, kernel_wait, other };
inline constexpr std::size_t hta_idle_cause_count = 3;
[[nodiscard]] std::string_view name_of(HtaIdleCause cause);

/// 19.6.
struct HtaStreamIdle {
  std::int64_t stream = 0;
  std::array<std::int64_t, hta_idle_cause_count> causes_ns{};  ///< may be negative
  std::int64_t own_idle_ns = 0;                                ///< no activity between the first and the last
};

/// 19.8.
struct HtaQueue {
  std::int64_t stream = 0;
  std::int64_t points = 0;  ///< changes of the length
  double mean = 0;          ///< over changes
  std::int64_t max = 0;
  Ratio own_mean;  ///< over time (4.6)
};

/// The numbers that HTA computes from the trace of one rank.
struct HtaRank {
  RankId rank{};
  std::int64_t rows = 0;          ///< after 19.2
  std::int64_t dropped_rows = 0;  ///< by 19.2
  std::int64_t doubled_rows = 0;  ///< by 19.2: copies beyond the first
  Section<HtaTimes> times = unavailable("not computed");
  Ratio overlap_percent;
  HtaLaunches launch;
  std::vector<HtaKernel> kernels;  ///< by class, the largest sum first
  std::vector<HtaStreamIdle> idle;
  std::vector<HtaQueue> queues;
};

/// 19.9: how often a rank began the chosen kernel last.
struct HtaVotes {
  RankId rank{};
  std::int64_t steps = 0;
};
/// Whom HTA would call a straggler: the rank that is last to begin the one kernel it chooses.
struct HtaStragglers {
  std::string kernel;
  std::int64_t stream = 0;
  std::int64_t steps = 0;  ///< voted on
  std::vector<HtaVotes> votes;
};

/// What HTA computes, for comparison; where it differs from the definitions here, both are given.
struct HtaSection {
  HtaLastStep last_step = HtaLastStep::dropped;
  std::vector<HtaRank> ranks;
  std::vector<HtaTypeTime> types;  ///< the longest first
  Section<HtaStragglers> stragglers = unavailable("not computed");
};

}  // namespace rankscope::analyzer
