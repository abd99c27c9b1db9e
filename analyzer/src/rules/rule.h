// What every rule that makes findings is given, and what it is called in the table of rules.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/options.h"
#include "rankscope/analyzer/rules/finding.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

struct Report;
struct Usual;

/// The finished sections of a report, and sums that many rules need (split/row_sums.h).
struct RuleContext {
  const Run& run;
  const Report& report;
  const ReportOptions& options;
  const Usual& everybody;           ///< of the ranks asked for
  const Usual& all_but_stragglers;  ///< what a slow rank costs is said once
  std::vector<RankId> stragglers;   ///< these
  std::vector<Finding> lost;        ///< of find_lost_ranks()
};

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
