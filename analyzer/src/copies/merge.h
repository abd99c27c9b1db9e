// The global half of copies: adds the local parts of ranks up (metrics.md 4.7).
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "copies/local.h"
#include "rankscope/analyzer/copies/section.h"
#include "steps/time_cells.h"

namespace rankscope::analyzer {

/// Ranks are added in the order of their numbers.
class CopiesMerge {
 public:
  /// `first_step_end`: of the rank, in the time of its cells; what was allocated before is used again by later steps.
  /// Nothing: the rank has no steps, and starts up until its first device work.
  void add(const CountedRank& rank, const CopiesPart& part, std::optional<RunTime> first_step_end);
  [[nodiscard]] CopiesSection finish() &&;

 private:
  struct Sums {
    CopyRow row;
    std::int64_t measured_bytes = 0;
    std::int64_t measured_ns = 0;

    void add(const CopiesPart::Copies& more);
    [[nodiscard]] CopyRow finish() &&;
  };
  /// A call in its own words, since each part has texts of its own.
  struct Place {
    CallUse use = CallUse::copy;
    std::string call;
    std::optional<std::string> op;
    std::optional<std::string> range;
    auto operator<=>(const Place&) const = default;
  };

  void add_copies(const CountedCells& counted, const CopiesPart& part);
  void add_call(const CopiesPart& part, const CopiesPart::Calls& calls);
  [[nodiscard]] std::vector<HostCallRow> rows_of(CallUse use) const;

  std::map<std::string, Sums> by_name_;
  std::map<Place, CallSum> calls_;
  std::int64_t ranks_ = 0;
  std::int64_t rank_steps_ = 0;
};

}  // namespace rankscope::analyzer
