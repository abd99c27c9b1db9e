// The first lines of a report: who is slow, why, by how much, and what repairing it would give back.
#pragma once

#include <string>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/page.h"

namespace rankscope::analyzer {

/// One or two plain sentences. "No problem found" is said only if every section that it needs was available.
struct Verdict {
  Tone tone = Tone::plain;
  std::string headline;
  std::vector<std::string> more;
};
[[nodiscard]] Verdict verdict_of(const Report& report);

/// "Cannot tell: ..." with everything that could hide a problem; empty if nothing does.
[[nodiscard]] std::string cannot_tell(const Report& report);

/// Printable, with a capital letter in front and a full stop behind.
[[nodiscard]] std::string sentence(std::string_view text);

/// "Rank 3, which is not shown, is slow since step 9 (1.50 x): it computes slower than its peers."; empty if no slow
/// rank is left out.
[[nodiscard]] std::string left_out_text(const AskedFor& part);

/// What a kind of straggler does, after "rank 3": "computes slower than its peers".
[[nodiscard]] std::string_view behaviour_of(StragglerKind kind);

}  // namespace rankscope::analyzer
