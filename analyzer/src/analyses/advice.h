// One concrete next step per kind of finding.
#pragma once

#include <string>

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

[[nodiscard]] std::string advice_for(StragglerKind kind, Persistence persistence);
/// What most of the exposed communication is.
enum class Exposed : std::uint8_t { moving, waiting_for_straggler, waiting_for_changing_ranks };
[[nodiscard]] std::string advice_for(Exposed exposed);
[[nodiscard]] std::string advice_for_idle(const TimeSplit& split, const std::vector<IdleShare>& shares);

}  // namespace rankscope::analyzer
