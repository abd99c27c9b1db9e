// What the program is started with, and what can go wrong before there is a window.
#pragma once

#include <optional>
#include <string>

#include "rankscope/core/result.h"
#include "rankscope/core/time.h"
#include "rankscope/gui/models/loader.h"

namespace rankscope::gui {

struct StartOptions {
  Source source;
  std::optional<nanoseconds> at;  ///< since the start of the run
  std::string ranks{};            ///< only these, as they were given; empty = all
};

/// `rankscope-gui [--at TIME] [--ranks LIST] [--rank-map FILE=R,...] [RUN...]`; needs an application object.
[[nodiscard]] Result<StartOptions> start_options();

/// Words to standard error in place of an abort where Qt finds no display; the exit status is that of `cannot_write`.
void end_without_display_in_words();

}  // namespace rankscope::gui
