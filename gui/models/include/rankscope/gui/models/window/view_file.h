// The file beside a recording that keeps how it was looked at.
#pragma once

#include <filesystem>
#include <optional>

#include "rankscope/gui/models/window/view_state.h"

namespace rankscope::gui {

/// run.rankscope -> run.rankscope-view, trace.json -> trace.json.rankscope-view; of several files the first, and how
/// many more there are. Empty where nothing was opened from a file.
[[nodiscard]] std::filesystem::path view_file_of(const Source& source);

/// Nothing where there is no such file. Errors name it, and say that the recording is shown without it.
[[nodiscard]] Result<std::optional<ViewState>> read_view(const std::filesystem::path& file, const Run& run);

/// Synced and renamed into place: complete or not at all.
[[nodiscard]] Result<void> write_view(const std::filesystem::path& file, const ViewState& state);

}  // namespace rankscope::gui
