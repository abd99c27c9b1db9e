// "hta_compat" of rankscope.report/1.
#pragma once

#include <nlohmann/json.hpp>

#include "rankscope/analyzer/hta/section.h"

namespace rankscope::analyzer {

[[nodiscard]] nlohmann::ordered_json hta_json(const Section<HtaSection>& section);

}  // namespace rankscope::analyzer
