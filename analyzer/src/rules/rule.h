// What every rule that makes findings is given, and what it is called in the table of rules.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

struct Usual {
  TimeSplit total;
  std::vector<IdleShare> idle_shares;  ///< the longest first
  std::int64_t steps = 0;              ///< of all these ranks together; 0 = their whole recordings were split
  std::int64_t ranks = 0;
  bool on_accelerators = true;  ///< all of them

  /// Without steps nobody knows which part of a host's time was meant to be work.
  [[nodiscard]] bool shows_idle_time() const { return steps > 0 || on_accelerators; }
  [[nodiscard]] double share(std::int64_t part) const {
    return total.window_ns > 0 ? static_cast<double>(part) / static_cast<double>(total.window_ns) : 0;
  }
  /// Mean over ranks and steps; 0 without steps.
  [[nodiscard]] std::int64_t per_step(std::int64_t part) const { return steps > 0 ? part / steps : 0; }
  /// Mean over ranks, and over steps where there are any.
  [[nodiscard]] std::int64_t mean(std::int64_t part) const {
    const std::int64_t parts = steps > 0 ? steps : ranks;
    return parts > 0 ? part / parts : 0;
  }
};

enum class Whom : std::uint8_t { everybody, all_but_stragglers };

/// Of the ranks asked for, where any of them has steps of those with steps alone; all 0 without rank rows.
[[nodiscard]] Usual sum_ranks(const Report& report, const ReportOptions& options, Whom whom,
                              std::span<const RankId> left_out = {});

/// The finished sections of a report, and sums that many rules need.
struct RuleContext {
  const Run& run;
  const Report& report;
  const ReportOptions& options;
  Usual everybody;            ///< of the ranks asked for
  Usual all_but_stragglers;   ///< what a slow rank costs is said once
  std::vector<Finding> lost;  ///< of find_lost_ranks()
};

/// all_but_stragglers without the ranks that earlier findings of this id name: what they cost is said once, too.
[[nodiscard]] Usual all_but_named(const RuleContext& context, std::span<const Finding> findings, std::string_view id);

/// One line of the table of rules. A rule adds findings of severity minor and above, or nothing.
struct Rule {
  std::string_view id;      ///< of its findings; "straggler.*" = several
  std::string_view finds;   ///< for people
  std::string_view limits;  ///< minor / major / critical, as in docs/findings.md
  /// Null: the rule above judges it, too.
  void (*judge)(const RuleContext& context, std::vector<Finding>& findings);
  bool needs_whole_input =
      false;  ///< rests on what may be missing where the input was cut, or has no steps: at most minor
};

/// "31 %"
[[nodiscard]] std::string percent_of(double share);

}  // namespace rankscope::analyzer
