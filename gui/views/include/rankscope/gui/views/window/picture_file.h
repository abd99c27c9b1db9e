// Pictures of the timeline for papers and messages.
#pragma once

#include <QString>
#include <filesystem>
#include <span>

#include "rankscope/core/result.h"

namespace rankscope::gui {

class TimelineView;

/// One of several timelines of a picture, which stand below each other.
struct PicturePart {
  const TimelineView* timeline = nullptr;
  QString title{};  ///< above it; empty: none
};

/// PNG or SVG, by the name's end; in SVG all words stay text. A file appears complete or not at all. `usage` for other
/// names, `cannot_write` where it cannot be written.
[[nodiscard]] Result<void> save_picture(std::span<const PicturePart> parts, const std::filesystem::path& file);
[[nodiscard]] Result<void> save_picture(const TimelineView& view, const std::filesystem::path& file);

}  // namespace rankscope::gui
