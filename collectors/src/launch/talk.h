// What the launcher says on stderr.
#pragma once

#include <string>
#include <string_view>

#include "rankscope/collectors/record.h"

namespace rankscope::collectors {

/// Unless quiet; the text ends its line itself, and nothing in it steers the terminal.
void say(Talk talk, std::string_view text);

/// What was recorded, what was lost, and what to do about it.
[[nodiscard]] std::string summary_text(const RecordSummary& summary);

}  // namespace rankscope::collectors
