// Which rank another process is, by the environment and the command line that it was started with.
#pragma once

#include <sys/types.h>

#include <string>

#include "settings/rank_environment.h"

namespace rankscope::collectors {

/// `rank_env` is the variable that the user named, or empty. No rank where the kernel does not show the environment, as
/// of a process of another user.
[[nodiscard]] RankEnvironment rank_of_process(pid_t process, const std::string& rank_env);

}  // namespace rankscope::collectors
