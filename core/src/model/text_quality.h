// The lines on lost or altered data in the text form of a Run.
#pragma once

#include <span>
#include <string_view>

#include "rankscope/core/model/quality.h"
#include "rankscope/core/result.h"
#include "text_words.h"

namespace rankscope::text {

/// "0:100": two times in ns, of which the second may be missing.
[[nodiscard]] Result<TimeRange> time_range_from(std::string_view value);

/// Of a line "@quality COUNTER AMOUNT [WHERE] [rank=R] [time=A:B]". Errors (`unreadable`) name the wrong word.
[[nodiscard]] Result<QualityPlace> quality_place_from(std::span<const Word> words);

}  // namespace rankscope::text
