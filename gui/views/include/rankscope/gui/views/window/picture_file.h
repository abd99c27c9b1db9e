// Pictures of the timeline for papers and messages.
#pragma once

#include <filesystem>

#include "rankscope/core/result.h"

namespace rankscope::gui {

class TimelineView;

/// PNG or SVG, by the name's end; in SVG all words stay text. A file appears complete or not at all. `usage` for other
/// names, `cannot_write` where it cannot be written.
[[nodiscard]] Result<void> save_picture(const TimelineView& view, const std::filesystem::path& file);

}  // namespace rankscope::gui
