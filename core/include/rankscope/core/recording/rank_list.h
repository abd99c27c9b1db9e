// The members of a group as a recording holds them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/id.h"

namespace rankscope::recording {

/// "0,1,5". Where that would be longer than a text of a recording may be, runs of ranks are shortened: "0-1023",
/// "0-8184:8" (each eighth). Versions before 1.2 do not know that form, and could not store such groups.
[[nodiscard]] std::string rank_list(std::span<const RankId> ranks);
/// Both forms; nothing where the text is none of them.
[[nodiscard]] std::optional<std::vector<RankId>> ranks_in(std::string_view list);

}  // namespace rankscope::recording
