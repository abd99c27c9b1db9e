// Ranks as a person names them.
#pragma once

#include <string_view>
#include <vector>

#include "rankscope/core/id.h"
#include "rankscope/core/result.h"

namespace rankscope {

/// "0,2,4-7"; empty for an empty text. `usage` errors begin with the name of the option.
[[nodiscard]] Result<std::vector<RankId>> ranks_from(std::string_view text, std::string_view option);

}  // namespace rankscope
