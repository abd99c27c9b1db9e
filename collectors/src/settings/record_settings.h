// The options of `record`: whether they are right, and what they mean inside of the recorded processes.
#pragma once

#include <string>

#include "rankscope/collectors/record.h"
#include "rankscope/core/result.h"
#include "settings/inject_settings.h"

namespace rankscope::collectors {

/// `usage` if an option is out of range or contradicts another.
[[nodiscard]] Result<void> check_options(const RecordOptions& options);

/// All but the folder of the segments, which is not made yet. `usage` if a name or number is wrong.
[[nodiscard]] Result<InjectSettings> inject_settings_from(const RecordOptions& options);

/// Of --toggle: SIGUSR1 or SIGUSR2; 0: no signal switches the recording.
[[nodiscard]] Result<int> toggle_signal_from(const std::string& name);

}  // namespace rankscope::collectors
