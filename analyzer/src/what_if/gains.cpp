// What the replay says about the most that a fix saves (metrics.md 20.1).
#include <algorithm>

#include "rankscope/analyzer/what_if/section.h"

namespace rankscope::analyzer {

std::string why_no_replay(const Section<WhatIfSection>& replay) {
  if (!replay) return replay.error().why;
  return replay->knows_partners() ? std::string{} : std::string{partners_are_unknown};
}

ReplayedGain replayed_gain(const Section<WhatIfSection>& replay, std::optional<std::int64_t> WhatIfSection::*length) {
  if (std::string why = why_no_replay(replay); !why.empty()) return {0, std::move(why)};
  const WhatIfSection& section = *replay;
  if (!(section.*length)) return {0, section.why_no_ideal};
  return {std::max<std::int64_t>(0, section.replayed_ns - *(section.*length)), {}};
}

}  // namespace rankscope::analyzer
