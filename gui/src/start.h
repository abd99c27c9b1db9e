// What the program is started with, and what can go wrong before there is a window.
#pragma once

#include <QSize>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "rankscope/core/numbers.h"
#include "rankscope/core/result.h"
#include "rankscope/core/time.h"
#include "rankscope/gui/models/session/loader.h"

namespace rankscope::gui {

struct StartOptions {
  Source source;
  std::optional<nanoseconds> at;    ///< since the start of the run
  std::string ranks{};              ///< only these, as they were given; empty = all
  Source other{};                   ///< what it is compared with; no paths = nothing
  std::filesystem::path session{};  ///< keeps the view; empty = the file beside the recording
  std::filesystem::path picture{};  ///< made of the run, without a window; empty = none
  std::optional<QSize> size{};      ///< of the picture; nothing = as high as its rows need
};

constexpr Bounds<int> picture_pixels{.least = 300, .most = 16'000};  ///< in each direction

/// True if the words ask for a picture: then no display is needed. Before there is an application object.
[[nodiscard]] bool asks_for_picture(std::span<char* const> words);

/// Of the command line (`rankscope-gui --help`); needs an application object.
[[nodiscard]] Result<StartOptions> start_options();

/// Words to standard error in place of an abort where Qt finds no display; the exit status is that of `cannot_write`.
void end_without_display_in_words();
/// What Qt notes about a platform without a screen is of no use to who wants a picture; only fatal words are said.
void keep_notes_of_qt();
/// As Qt does, but without those on OpenGL. Where a display was found: the first two functions hold until then.
void show_notes_of_qt();

/// The fonts of the wheel of the viewer, for hosts that have none: named to fontconfig in the environment before there
/// is an application object, read after that, so that no job that the viewer starts gets the name.
class OwnFonts {
 public:
  OwnFonts();
  void read();

 private:
  bool named_ = false;
};

}  // namespace rankscope::gui
