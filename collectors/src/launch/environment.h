// The environment the command is started with.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankscope/collectors/record.h"
#include "settings/inject_settings.h"

namespace rankscope::collectors {

/// Apptainer and Singularity set inside a container what has their prefix, without it, over what the image and the host
/// say.
inline constexpr std::array<std::string_view, 2> container_prefixes{"APPTAINERENV_", "SINGULARITYENV_"};
inline constexpr const char* python_path = "PYTHONPATH";

struct CommandEnvironment {
  std::vector<std::pair<std::string, std::string>> variables;  ///< to set
  std::vector<std::string> warnings;                           ///< other tools that keep their hook
  SourceSet lost{};                                            ///< to those tools
};

/// Hooks of other tools are kept: one NVTX and one CUDA injection per process is all there can be. Apptainer and
/// Singularity take the variables into their containers, also where they clear the environment; LD_PRELOAD without the
/// library. `pytorch_hook` is the
/// folder of --pytorch; empty without that.
[[nodiscard]] CommandEnvironment command_environment(const Lookup& lookup, const InjectSettings& settings,
                                                     const std::string& library, Preload preload,
                                                     const std::filesystem::path& pytorch_hook = {});

}  // namespace rankscope::collectors
