// manifest.json of a recording: facts about the whole run. Never the environment; command lines are scrubbed of
// secrets.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rankscope/core/model/quality.h"
#include "rankscope/core/recording/format.h"
#include "rankscope/core/result.h"

namespace rankscope::recording {

/// Names a process for ever.
struct ProcessIdentity {
  std::string host;
  std::string boot_id;
  std::int64_t pid = 0;
  std::uint64_t start_ticks = 0;  ///< field 22 of /proc/PID/stat
  bool operator==(const ProcessIdentity&) const = default;
};

/// In the manifest of a spool, the node-local folder of segments: who is to gather them, and into which recording.
struct Spooled {
  ProcessIdentity recorder;
  std::string out;
};

/// What no segment knows: how the recording was made, how the command ended, and what was lost before it had a segment.
struct Manifest {
  int major = format_major;
  int minor = format_minor;
  std::string created_by;            ///< "rankscope 0.1.0"
  std::vector<std::string> command;  ///< scrubbed
  std::string launcher;              ///< "torchrun", "slurm", "rankscope train", ... or empty
  std::int64_t world_size = 0;       ///< 0 = unknown
  std::int64_t exit_status = -1;     ///< of the recorded command; -1 = unknown
  std::vector<std::string> hosts;
  std::vector<std::pair<std::string, std::string>> metadata;  ///< facts for the report's head
  std::vector<std::pair<std::string, std::string>>
      injected;  ///< faults of the reference trainer; no analysis reads them
  std::vector<std::pair<std::string, std::uint64_t>> losses;  ///< by name of a Counter; what no segment can tell
  std::optional<Spooled> spooled;                             ///< set while the recording is not gathered
  std::vector<std::string>
      gathered;  ///< spools whose segments and losses are in the recording, as spool_id() names them
};

inline constexpr const char* manifest_name = "manifest.json";
inline constexpr const char* segment_folder = "segments";
inline constexpr const char* segment_suffix = ".rseg";
/// In a spool: segments of processes that were only watched. One whose process has a segment of its own is not read.
inline constexpr const char* outside_folder = "outside";
/// Of a spool, and of its folder outside: what stands for events that were thinned out, by the names of the segments.
inline constexpr const char* sums_folder = "sums";
/// HOST-PID.spool in a recording: its text is the folder of a recorder that has not gathered its segments yet.
inline constexpr const char* spool_mark_suffix = ".spool";

/// Metadata key, of a process or of the manifest, that says what was broken on purpose. Readers leave it out.
inline constexpr const char* injected_faults_key = "injected_faults";
/// Metadata key, of a process or of the manifest, that lists which details are acted on: "shapes,memory". Each source
/// of a process tells its own.
inline constexpr const char* details_recorded_key = "details_recorded";

/// Metadata keys of the manifest: "ended_by.rank3" names the signal that ended rank 3, such as "SIGKILL".
inline constexpr const char* ended_by_prefix = "ended_by.rank";
/// "end_seen.rank3" lists the processes of rank 3 that did not end well: "PID STATUS NS;...", STATUS as of waitpid(2),
/// or 0 if it is not known, NS since 1970.
inline constexpr const char* end_seen_prefix = "end_seen.rank";
/// "oom_kills.rank3" is "cgroup 1" or "host 1" if SIGKILL ended rank 3 and the kernel's out-of-memory killer ended so
/// many processes of the job's cgroup, or else of its host, while the job ran.
inline constexpr const char* oom_kills_prefix = "oom_kills.rank";

/// What a key says after both values were told: the later one; of details_recorded_key all that either lists.
[[nodiscard]] std::string value_after(std::string_view key, std::string_view earlier, std::string_view later);

/// Names a spool among those of all hosts: "HOST:FOLDER".
[[nodiscard]] std::string spool_id(const std::string& host, const std::filesystem::path& spool);

/// Adds to what is lost; 0 changes nothing.
void add_loss(Manifest& manifest, Counter counter, std::uint64_t value);

/// Fails (`unreadable`) if it is absent, is none, or does not match its checksum.
[[nodiscard]] Result<Manifest> read_manifest(const std::filesystem::path& recording);
/// The file's text, in the version of the format that this program writes.
[[nodiscard]] std::string text_of(const Manifest& manifest);
/// Written beside and renamed, in the version of the format that this program writes.
[[nodiscard]] Result<void> write_manifest(const std::filesystem::path& recording, const Manifest& manifest);

}  // namespace rankscope::recording
