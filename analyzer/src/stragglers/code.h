// The line of the user's code in which a slow rank loses its time (metrics.md 9.9).
#pragma once

#include <span>
#include <string>

#include "python_stacks/samples.h"
#include "rankscope/analyzer/stragglers/section.h"
#include "split/peers.h"

namespace rankscope::analyzer {

/// Compares samples of ranks.
class CodeOfRanks {
 public:
  /// Both must outlive it.
  CodeOfRanks(const Run& run, const StepsSection& steps);

  /// Sets `code` and `pauses` of a row whose rank is one of these peers, over the steps in which it is slow; they stay
  /// empty where there are too few samples to tell.
  void explain(const PeerClass& peers, Straggler& row) const;

 private:
  [[nodiscard]] std::vector<RankCode> code_of_peers(const PeerClass& peers, const Straggler& row) const;

  const Run& run_;
  const StepsSection& steps_;
  PythonSamples samples_;
};

/// The same for all rows.
void add_code(const Run& run, const StepsSection& steps, std::span<const RankRow> rows, StragglersSection& section);

}  // namespace rankscope::analyzer
