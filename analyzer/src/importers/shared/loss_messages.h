// What profilers say in their logs about events that they lost.
#pragma once

#include <string_view>

namespace rankscope::analyzer {

/// True for a warning or error about lost events, such as "Dropped 12 activity records". The words differ between tools
/// and versions, and nothing else says it, so that any mention counts.
[[nodiscard]] bool reports_lost_events(std::string_view message);

}  // namespace rankscope::analyzer
