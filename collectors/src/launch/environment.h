// The environment the command is started with.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "../inject_settings.h"
#include "rankscope/collectors/record.h"

namespace rankscope::collectors {

struct CommandEnvironment {
  std::vector<std::pair<std::string, std::string>> variables;  ///< to set
  std::vector<std::string> warnings;                           ///< other tools that keep their hook
  SourceSet lost{};                                            ///< to those tools
};

/// Hooks of other tools are kept: one NVTX and one CUDA injection per process is all there can be. Apptainer and
/// Singularity take the variables into their containers, also where they clear the environment.
[[nodiscard]] CommandEnvironment command_environment(const Lookup& lookup, const InjectSettings& settings,
                                                     const std::string& library, Preload preload);

/// For a container that does not see the library: there the dynamic linker would complain of it in every program.
void spare_containers(CommandEnvironment& environment, const std::string& library);

}  // namespace rankscope::collectors
