// What the program itself reported as the reason of its end.
#pragma once

#include <optional>

#include "rankscope/analyzer/hang/hang.h"

namespace rankscope::analyzer::hang {

/// Of the metadata "problem" ("not_finite" or "replicas_differ"), "problem_step", "problem_ranks" ("1, 3"; without it
/// the rank of the process) and "last_words" of the processes: the ranks that reported the earliest step. Nothing if no
/// process reported a problem.
[[nodiscard]] std::optional<HangRoot> reported_root(const Run& run);

}  // namespace rankscope::analyzer::hang
