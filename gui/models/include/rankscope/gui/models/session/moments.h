// Moments of a run: the step that one lies in, what ran there, and going there.
#pragma once

#include <QString>
#include <span>

#include "rankscope/gui/models/session/session.h"

namespace rankscope::analyzer {
struct Report;
struct StepWindow;
}  // namespace rankscope::analyzer

namespace rankscope::gui {

/// Zooms to the step around the moment if much more is in sight; else the zoom stays. Of what the threads of the rank
/// were in, the innermost is selected, if `name` is set the innermost of that name.
void go_to_moment(Session& session, RankId rank, RunTime moment, StringId name = {});

/// The innermost span of a lane at a moment; if `name` is set the innermost of that name.
[[nodiscard]] std::optional<SpanId> innermost_at(const Run& run, const Lane& lane, RunTime moment, StringId name = {});

/// The steps of a rank, by index; empty where there is no report or the rank has none.
[[nodiscard]] std::span<const analyzer::StepWindow> steps_of(const analyzer::Report* report, RankId rank);
/// The time of a step on its rank, and all lanes of this rank.
[[nodiscard]] Area area_of_step(const Run& run, const analyzer::StepWindow& step);
/// Null where there is no report, it has no steps, or the moment is outside of all of them.
[[nodiscard]] const analyzer::StepWindow* step_at(const analyzer::Report* report, RankId rank, RunTime moment);
/// Why there are no steps, and how the next recording gets them; empty where there are.
[[nodiscard]] QString no_steps_text(const analyzer::Report& report);

/// Where all of the run is in sight: shows its steps only, if they are clearly shorter. Start-up and the end are left
/// out.
void show_steps(Session& session);

/// What is to be said of a time behind the end of the run that is open; empty where the run has it.
[[nodiscard]] QString why_not_at(const Session& session, nanoseconds since_begin);

/// Shows 100 ms around a time since the begin of the run that is open; again when the report has aligned the clocks,
/// unless somebody has looked elsewhere by then.
void look_at(Session& session, nanoseconds since_begin);

}  // namespace rankscope::gui
