// The `ranks` and `rank_facts` of the JSON report.
#pragma once

#include <nlohmann/json.hpp>

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

[[nodiscard]] nlohmann::ordered_json ranks_json(const std::vector<RankRow>& rows);
[[nodiscard]] nlohmann::ordered_json facts_json(const RankFacts& facts);

}  // namespace rankscope::analyzer
