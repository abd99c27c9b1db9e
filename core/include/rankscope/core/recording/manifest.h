// manifest.json of a recording: facts about the whole run. Never the environment; command lines are scrubbed of
// secrets.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "rankscope/core/result.h"

namespace rankscope::recording {

struct Manifest {
  int major = 1;
  int minor = 0;
  std::string created_by;            ///< "rankscope 0.1.0"
  std::vector<std::string> command;  ///< scrubbed
  std::string launcher;              ///< "torchrun", "slurm", "rankscope train", ... or empty
  std::int64_t world_size = 0;       ///< 0 = unknown
  std::int64_t exit_status = -1;     ///< of the recorded command; -1 = unknown
  std::vector<std::string> hosts;
  std::vector<std::pair<std::string, std::string>> metadata;  ///< facts for the report's head
  std::vector<std::pair<std::string, std::string>>
      injected;  ///< faults of the reference trainer; no analysis reads them
};

inline constexpr const char* manifest_name = "manifest.json";
inline constexpr const char* segment_folder = "segments";
inline constexpr const char* segment_suffix = ".rseg";

/// Metadata key, of a process or of the manifest, that says what was broken on purpose. Readers leave it out.
inline constexpr const char* injected_faults_key = "injected_faults";

[[nodiscard]] Result<Manifest> read_manifest(const std::filesystem::path& recording);
/// Written beside and renamed.
[[nodiscard]] Result<void> write_manifest(const std::filesystem::path& recording, const Manifest& manifest);

}  // namespace rankscope::recording
