// Going to a moment of a rank: what ran there is selected, at a zoom in which it can be seen.
#pragma once

#include "rankscope/gui/models/session.h"

namespace rankscope::gui {

/// Zooms to the step around the moment if much more is in sight; else the zoom stays. Of what the threads of the rank
/// were in, the innermost is selected, if `name` is set the innermost of that name.
void go_to_moment(Session& session, RankId rank, RunTime moment, StringId name = {});

/// The innermost span of a lane at a moment; if `name` is set the innermost of that name.
[[nodiscard]] std::optional<SpanId> innermost_at(const Run& run, const Lane& lane, RunTime moment, StringId name = {});

}  // namespace rankscope::gui
