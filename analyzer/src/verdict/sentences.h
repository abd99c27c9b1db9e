// Sentences that the text report and the page share.
#pragma once

#include <string>

#include "rankscope/analyzer/report.h"
#include "render/page.h"

namespace rankscope::analyzer {

/// "4 ranks", "3 of 4 ranks".
[[nodiscard]] std::string ranks_text(const Report& report);
/// Fewer counted steps have no jitter worth a number.
inline constexpr std::int64_t least_for_jitter = 5;
[[nodiscard]] std::string steps_text(const StepsSection& steps);
[[nodiscard]] std::string clock_text(const ClockInfo& clock);
/// What is left out of the sections below; empty if nothing is.
[[nodiscard]] std::string asked_for_text(const AskedFor& part);
/// Ranks without steps where others have some; empty if there are none.
[[nodiscard]] std::string without_steps_text(const Report& report);
/// Counted steps of the ranks that have any.
[[nodiscard]] std::int64_t steps_of(const std::vector<const RankRow*>& rows);
/// What the list of slow ranks rests on.
[[nodiscard]] std::string basis_of(const StragglersSection& section);
[[nodiscard]] Tone tone_of(FindingSeverity severity);

/// One counter: "data loss", and what was lost where and what to do.
struct QualityWords {
  Cell kind;
  std::string text;
};
[[nodiscard]] QualityWords words_of(const QualityRow& row, std::string_view source);

}  // namespace rankscope::analyzer
