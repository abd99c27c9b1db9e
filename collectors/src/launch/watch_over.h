// What `record` does while its command runs.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include <sys/types.h>

#include "child_process.h"
#include "end_watch.h"
#include "ended_segments.h"
#include "keeper.h"
#include "rankscope/collectors/record.h"
#include "settings/inject_settings.h"
#include "spool/recording_switch.h"
#include "watcher.h"

namespace rankscope::collectors {

/// The command, and who passes signals on to it.
struct Child {
  pid_t process;
  SignalRelay& signals;
};

/// The switch of --toggle, and the signal that turns it.
struct Toggle {
  int signal = 0;  ///< 0: there is none
  std::optional<RecordingSwitch> recording{};
  bool was_on = false;
  std::shared_ptr<std::atomic<bool>> is_on = std::make_shared<std::atomic<bool>>(false);  ///< for other threads

  void turn(Talk talk);
};

/// What is done again and again.
struct Watch {
  Watcher& watcher;
  EndWatch& ends;
  EndedSegments ended;
  Keeper& keeper;
  const InjectSettings& settings;
  bool is_over = false;  ///< the recording, not the command

  [[nodiscard]] bool samples() const;
  void sample();
};

/// Passes signals on, watches, and returns the command's status once it has ended.
[[nodiscard]] int watch_over(const Child& child, Watch watch, Toggle& toggle, Talk talk);

}  // namespace rankscope::collectors
