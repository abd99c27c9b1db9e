// Commands that start a container: what of the recorder can be seen inside.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "settings/rank_environment.h"

namespace rankscope::collectors {

/// What the recorded processes must see: the library, and where they write.
struct NeededInside {
  std::filesystem::path library;
  std::filesystem::path spool;
};

/// The container runtime that a command calls: "apptainer", "singularity", "docker", "podman"; empty for none.
[[nodiscard]] std::string container_runtime(const std::vector<std::string>& command);

/// Said before the command is started: what its container will not see by its options, variables and Apptainer's
/// defaults, and what to do. Empty: nothing is known to be missing.
[[nodiscard]] std::string container_warning(const std::vector<std::string>& command, const Lookup& lookup,
                                            const NeededInside& needed);
/// Said at the end where no process in the container was recorded.
[[nodiscard]] std::string container_note(const std::string& runtime, const NeededInside& needed);

}  // namespace rankscope::collectors
