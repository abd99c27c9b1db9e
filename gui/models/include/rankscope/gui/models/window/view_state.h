// What a user arranged: pins, marks, colours, what is in sight. Kept as a small file beside the recording.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/gui/models/session/session.h"
#include "rankscope/gui/models/timeline/navigator.h"

namespace rankscope::gui {

/// A lane or counter by what stays the same when the recording is read again.
struct PinnedLane {
  /// What tells lanes of one name apart.
  struct Which {
    std::string kind;  ///< "thread", "stream"; of a counter "counter"
    std::int64_t number = 0;
    std::int32_t device = -1;
    bool operator==(const Which&) const = default;
  };
  std::optional<std::uint32_t> rank;
  std::int64_t pid = 0;
  std::string lane;
  std::optional<Which> which{};  ///< files of older versions lack it: the first lane of the name
  bool operator==(const PinnedLane&) const = default;
};

/// What the viewer remembers of a recording, so that it opens again as it was closed.
struct ViewState {
  /// Which recording it belongs to; copies of it under other names, too.
  struct Recording {
    std::string source;
    std::int64_t ranks = 0;
    std::int64_t origin_unix_ns = 0;
    bool operator==(const Recording&) const = default;
  };
  Recording recording;
  TimeRange visible;
  std::vector<PinnedLane> pinned{};
  std::vector<TimeMark> marks{};       ///< those that are kept
  std::vector<std::uint32_t> ranks{};  ///< only these are shown; empty = all
  std::string colour = "kind";         ///< "kind", "name", "lateness"
  bool critical_path = false;
  double row_height = 16;
  std::vector<std::string> panels{};  ///< ids of those that are open
  bool operator==(const ViewState&) const = default;
};

[[nodiscard]] ViewState::Recording recording_of(const Run& run);
/// What session and navigator know; the rest keeps its defaults.
[[nodiscard]] ViewState view_of(const Session& session, const Navigator& navigator);
/// The same way back. Lanes and ranks that the run does not have are left out.
void restore(const ViewState& state, Session& session, Navigator& navigator);

/// Schema rankscope.view/1 (docs/viewer.md).
[[nodiscard]] std::string to_json(const ViewState& state);
/// `unreadable` where the text is damaged, of something else or of a newer rankscope; the sentence goes on after the
/// name of the file.
[[nodiscard]] Result<ViewState> view_from_json(std::string_view text);

}  // namespace rankscope::gui
