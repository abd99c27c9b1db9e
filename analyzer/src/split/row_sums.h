// Sums over the rows of ranks (metrics.md C6).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/options.h"
#include "rankscope/analyzer/rules/finding.h"
#include "rankscope/analyzer/section.h"
#include "rankscope/analyzer/split/section.h"
#include "rules/rule.h"

namespace rankscope::analyzer {

/// The rows whose numbers may be summed: as ranks_to_sum() of ranks.
[[nodiscard]] std::vector<const RankRow*> rows_to_sum(std::span<const RankRow> rows);
[[nodiscard]] std::vector<const RankRow*> asked_rows_to_sum(std::span<const RankRow> rows,
                                                            const ReportOptions& options);

/// What ranks have in common, for rules.
struct Usual {
  std::vector<const RankRow*> rows;  ///< whose sums these are
  TimeSplit total;
  std::vector<IdleShare> idle_shares;  ///< the longest first
  std::int64_t steps = 0;              ///< of all these ranks together; 0 = their whole recordings were split
  std::int64_t ranks = 0;
  std::int64_t before_work_ns = 0;  ///< of whole recordings: before the first device work, and after the last
  std::int64_t after_work_ns = 0;
  bool on_accelerators = true;  ///< all of them

  /// Without steps nobody knows which part of a host's time was meant to be work.
  [[nodiscard]] bool shows_idle_time() const { return steps > 0 || on_accelerators; }
  [[nodiscard]] double share(std::int64_t part) const {
    return total.window_ns > 0 ? static_cast<double>(part) / static_cast<double>(total.window_ns) : 0;
  }
  /// Like share(), but start-up and the end of whole recordings are left out of the time.
  [[nodiscard]] double share_of_work(std::int64_t part) const {
    const std::int64_t working_ns = total.window_ns - before_work_ns - after_work_ns;
    return working_ns > 0 ? static_cast<double>(part) / static_cast<double>(working_ns) : 0;
  }
  /// Which time that is, after "of the time"; empty with steps.
  [[nodiscard]] std::string_view which_time() const {
    return steps > 0 ? std::string_view{} : " between the first and the last device work";
  }
  /// Mean over ranks and steps; 0 without steps.
  [[nodiscard]] std::int64_t per_step(std::int64_t part) const { return steps > 0 ? part / steps : 0; }
  /// What mean() is per.
  [[nodiscard]] std::string_view mean_of() const { return steps > 0 ? "step and rank" : "rank"; }
  /// Mean over ranks, and over steps where there are any.
  [[nodiscard]] std::int64_t mean(std::int64_t part) const {
    const std::int64_t parts = steps > 0 ? steps : ranks;
    return parts > 0 ? part / parts : 0;
  }
};

/// Of the ranks asked for, where any of them has steps of those with steps alone; all 0 without rows.
[[nodiscard]] Usual sum_ranks(const Section<std::vector<RankRow>>& rows, const ReportOptions& options,
                              std::span<const RankId> left_out = {});

/// all_but_stragglers without the ranks that earlier findings of this id name: what they cost is said once, too.
[[nodiscard]] Usual all_but_named(const RuleContext& context, std::span<const Finding> findings, std::string_view id);

}  // namespace rankscope::analyzer
