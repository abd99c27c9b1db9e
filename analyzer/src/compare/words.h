// What a comparison says in words.
#pragma once

#include "rankscope/analyzer/compare/render_comparison.h"
#include "verdict/verdict.h"

namespace rankscope::analyzer {

/// "+4.2 %", "-0.3 %".
[[nodiscard]] std::string signed_percent(double share);
/// Milliseconds with three decimals and a sign.
[[nodiscard]] std::string signed_ms(std::int64_t microseconds);

[[nodiscard]] Verdict verdict_of(const ComparisonView& view);
/// "world size 4 against 8, dtype f32 against bf16", as recorded; empty if the runs may be of the same job.
[[nodiscard]] std::string other_job(const Likeness& likeness);
/// "These are not runs of the same job: dtype f32 against bf16."; empty if they may be.
[[nodiscard]] std::string likeness_sentence(const Likeness& likeness);
/// What a reader must know to trust the rest, each a sentence.
[[nodiscard]] std::vector<std::string> caveats_of(const Comparison& comparison);
/// "4 ranks · 20 counted steps, median 161 ms · recorded by rankscope".
[[nodiscard]] std::string facts_text(const ComparedRun& run);
/// Label of a run as title of a column: "A", "baseline".
[[nodiscard]] std::string title_of(const ComparedRun& run);
/// Small changes and those that may be chance, which no table lists; each a sentence.
[[nodiscard]] std::vector<std::string> unlisted_keys(const KeyComparison& keys);
/// Why findings were not compared; empty if they were.
[[nodiscard]] std::string findings_unknown(const ComparedFindings& findings);
/// Of runs with different numbers of ranks; empty if they have equally many.
[[nodiscard]] std::string scaling_text(const Comparison& comparison);

}  // namespace rankscope::analyzer
