// A recording that is in the way of a new one.
#pragma once

#include <filesystem>

#include "rankscope/core/result.h"

namespace rankscope::gui {

/// What is where a recording is to be written.
enum class InTheWay : std::uint8_t {
  nothing,
  recording,   ///< nothing but a recording; may be replaced
  unfinished,  ///< its recorder still runs, or was killed before it gathered the events
  other,       ///< something that is no recording, or more than one: never touched
};
[[nodiscard]] InTheWay in_the_way(const std::filesystem::path& out);

/// Moves the old recording aside as long as it is not certain that there will be a new one.
class PreviousRecording {
 public:
  PreviousRecording() = default;
  /// Fails (`cannot_write`) if it cannot be moved, or is not `InTheWay::recording`.
  [[nodiscard]] static Result<PreviousRecording> move_aside(const std::filesystem::path& out);
  /// Removes it if `out` is a whole recording now, and moves it back if nothing is there. Fails, leaving it aside, if
  /// there is something else.
  [[nodiscard]] Result<void> settle();

 private:
  std::filesystem::path out_;
  std::filesystem::path aside_;  ///< empty: there is none
};

}  // namespace rankscope::gui
