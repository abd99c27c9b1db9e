// A root as users read it: evidence and advice.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hang/wait_graph.h"
#include "rankscope/analyzer/hang/hang.h"

namespace rankscope::analyzer::hang {

/// A root before it has words.
struct FoundRoot {
  HangKind kind = HangKind::never_came;
  std::vector<std::uint32_t> ranks{};  ///< ascending
  HangCertainty certainty = HangCertainty::fact;
  const WaitedOperation* operation = nullptr;
  std::vector<const WaitedOperation*> cycle{};  ///< of HangKind::cycle
  std::string mismatch{};                       ///< who passed what
  CommCall mismatched_call{};                   ///< what most members called; set with `mismatch`
  std::int64_t late_by_ns = 0;                  ///< of HangKind::straggler
  bool if_it_did_not_move = false;              ///< its age is not known: a job that works may look like this
};

[[nodiscard]] HangRoot root_in_words(const JobProgress& job, const WaitGraph& graph, const FoundRoot& found);

}  // namespace rankscope::analyzer::hang
