// The environment of the recorded process: whom the settings mean, and what children inherit.
#pragma once

#include "settings/inject_settings.h"
#include "settings/rank_environment.h"

namespace rankscope::inject {

/// False in a child under --no-follow: only the first process that loads the library is recorded. Clears our variables
/// there.
bool owns_recording(const collectors::InjectSettings& settings);

/// Names the NVTX and CUDA injection and NCCL's plugin where a launcher scrubbed them but kept LD_PRELOAD; others'
/// settings are kept.
void complete_environment(const collectors::InjectSettings& settings);

/// Names NCCL's plugin by the name of this library's file instead of its path, if it is this library: the dynamic
/// linker finds what is loaded by its name.
void name_plugin_without_path();

/// Rank of this process by the environment and command line it has now.
collectors::RankEnvironment own_rank(const collectors::InjectSettings& settings);

}  // namespace rankscope::inject
