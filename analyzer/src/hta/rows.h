// The rows of a trace as HTA has them after loading: times in whole µs where it rounds, the last step dropped, device
// work kept once per host row of its correlation (metrics.md 19.1, 19.2).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "hta/names.h"

namespace rankscope::analyzer {

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

}  // namespace rankscope::analyzer
