// Who was recorded: processes, the accelerators they use, and what was sampled about them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "rankscope/core/id.h"
#include "rankscope/core/time.h"

namespace rankscope {

/// Values of one quantity of one process over time.
struct CounterTrack {
  RankId rank{};
  std::uint32_t process = 0;
  StringId name{};  ///< ends in its unit: "rss_bytes", "cpu_percent"
  std::uint32_t first_sample = 0;
  std::uint32_t sample_count = 0;
};
/// One point of a CounterTrack; the unit is in the name of the track.
struct CounterSample {
  RunTime time{};
  double value = 0;
  bool operator==(const CounterSample&) const = default;
};

/// How a process left its recording.
enum class Ending : std::uint8_t {
  unknown,   ///< the source does not tell
  exited,    ///< through exit(); `exit_status` is known
  vanished,  ///< killed, crashed or _exit: the recording just stops
};
[[nodiscard]] std::string_view name_of(Ending ending);
[[nodiscard]] std::optional<Ending> ending_from(std::string_view name);

/// One recorded operating-system process.
struct Process {
  static constexpr std::int64_t no_pid = INT64_MAX;  ///< of what was computed for the whole job

  RankId rank{};  ///< none: no launcher variable, no communicator told it
  std::int64_t pid = 0;
  StringId host{};
  StringId program{};  ///< base name of the executable
  std::int64_t local_rank = -1;
  TimeRange recorded{};  ///< from its first to its last event
  Ending ending = Ending::unknown;
  std::int64_t exit_status = 0;
  std::vector<std::pair<StringId, StringId>> metadata{};  ///< sorted by key text
};

/// One accelerator as a process sees it.
struct Device {
  std::uint32_t process = 0;                              ///< row of Run::processes()
  std::int32_t ordinal = 0;                               ///< its number inside that process, as in Lane::device
  StringId name{};                                        ///< product name
  StringId uuid{};                                        ///< none: not recorded
  std::vector<std::pair<StringId, StringId>> metadata{};  ///< properties, sorted by key text
};

}  // namespace rankscope
