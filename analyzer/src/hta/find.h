// What HTA would say of this run (metrics.md 19), and the parts of it by file.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/hta/section.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {

struct HtaName {
  HtaClass kind = HtaClass::other;
  bool step = false;         ///< ProfilerStep#N
  bool sync = false;         ///< a synchronization that counts as device work whatever its stream
  bool launch = false;       ///< of 19.7
  bool enqueue = false;      ///< of 19.8
  bool nccl_kernel = false;  ///< of 19.9
};
[[nodiscard]] HtaName hta_name_from(std::string_view name);

/// Looks at each name once.
class HtaNames {
 public:
  explicit HtaNames(const Run& run) : run_(run), known_(run.strings().size(), 0), names_(run.strings().size()) {}
  const HtaName& of(StringId id) {
    if (known_[id.index()] == 0) {
      names_[id.index()] = hta_name_from(run_.text(id));
      known_[id.index()] = 1;
    }
    return names_[id.index()];
  }
  [[nodiscard]] std::string_view text(StringId id) const { return run_.text(id); }

 private:
  const Run& run_;
  std::vector<std::uint8_t> known_;
  std::vector<HtaName> names_;
};

struct HtaRow {
  std::int64_t begin_ns = 0;  ///< of the file's own clock, rounded as HTA does
  std::int64_t end_ns = 0;    ///< rounding may put it before the begin
  std::int64_t stream = -1;
  std::int64_t correlation = -1;
  std::int64_t copies = 0;  ///< in HTA's table; 0 = dropped
  StringId name{};
  SpanId span{};
  bool on_device = false;  ///< one of HTA's device rows (19.2: G)
  bool activity = false;   ///< a kernel, copy or memset

  [[nodiscard]] std::int64_t length_ns() const { return end_ns - begin_ns; }
};

/// Until the next one begins, HTA sees host rows in this step; none = in no step.
struct HtaStepFrom {
  std::int64_t begin_ns = 0;
  std::optional<std::int64_t> index;
};

struct HtaRows {
  RankId rank{};
  std::vector<HtaRow> device;      ///< with a stream, by (begin, span); dropped ones, too
  std::vector<HtaRow> host;        ///< without, but with a correlation; by (correlation, begin); dropped ones, too
  std::vector<HtaStepFrom> steps;  ///< by begin
  std::int64_t rows = 0;           ///< kept, copies counted
  std::int64_t dropped_rows = 0;
  std::int64_t doubled_rows = 0;
  std::optional<std::int64_t> steps_begin_ns;  ///< first begin of kept host rows inside of steps
  std::int64_t steps_end_ns = 0;               ///< and their last end
  std::set<std::int64_t> steps_kept;           ///< indices of the steps they are in

  /// Kept or not, by begin.
  [[nodiscard]] std::span<const HtaRow> host_of(std::int64_t correlation) const;
  /// The host row that HTA takes for the launch of a device row; null if there is none or it was dropped.
  [[nodiscard]] const HtaRow* launch_of(const HtaRow& row) const;
  /// The step in which HTA sees a host row.
  [[nodiscard]] std::optional<std::int64_t> step_at(std::int64_t begin_ns) const;
};

/// By rank. Unavailable for runs that do not come from Kineto.
[[nodiscard]] Section<std::vector<HtaRows>> hta_rows(const Run& run, HtaNames& names, HtaLastStep last_step);

[[nodiscard]] Section<HtaSection> hta_numbers(const Run& run, HtaLastStep last_step);

// hta_times.cpp: 19.4, 19.5
[[nodiscard]] Section<HtaTimes> hta_times(const HtaRows& rows, HtaNames& names);
[[nodiscard]] Ratio hta_overlap_percent(const HtaRows& rows, HtaNames& names);
[[nodiscard]] std::vector<HtaTypeTime> hta_types(std::span<const HtaRows> ranks, HtaNames& names);
// hta_kernels.cpp: 19.5
[[nodiscard]] std::vector<HtaKernel> hta_kernels(const Run& run, const HtaRows& rows, HtaNames& names);
// hta_streams.cpp: 19.6, 19.8
[[nodiscard]] std::vector<HtaStreamIdle> hta_idle(const Run& run, const HtaRows& rows);
[[nodiscard]] std::vector<HtaQueue> hta_queues(const Run& run, const HtaRows& rows, HtaNames& names);
// hta_launches.cpp: 19.7
[[nodiscard]] HtaLaunches hta_launches(const HtaRows& rows, HtaNames& names);
// hta_stragglers.cpp: 19.9
[[nodiscard]] Section<HtaStragglers> hta_stragglers(std::span<const HtaRows> ranks, HtaNames& names);

// Percentages as HTA rounds them.

/// 100 x part / whole, halves to even; 0 of nothing.
inline double hta_percent(std::int64_t part, std::int64_t whole, int decimals) {
  if (whole == 0) return 0;
  const double unit = std::pow(10.0, decimals);
  return std::nearbyint(100.0 * static_cast<double>(part) / static_cast<double>(whole) * unit) / unit;
}

}  // namespace rankscope::analyzer
