// Reading recordings into a Run, and packing segments after the recording has ended.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rankscope/core/model/run_parts.h"
#include "rankscope/core/recording/work_level.h"
#include "rankscope/core/result.h"
#include "rankscope/core/secrets.h"

namespace rankscope::recording {

/// The segments of a recording, or of a spool that nobody gathered; sorted.
[[nodiscard]] std::vector<std::filesystem::path> segments_of(const std::filesystem::path& recording);

/// What a recorder left in a recording as long as its segments are elsewhere.
struct SpoolMark {
  std::string recorder;         ///< HOST-PID
  std::filesystem::path spool;  ///< on that host
};
[[nodiscard]] std::vector<SpoolMark> spool_marks_of(const std::filesystem::path& recording);
/// The same without those whose segments are in the recording, although their recorder was killed before it took the
/// mark away.
[[nodiscard]] std::vector<SpoolMark> spools_waiting_for(const std::filesystem::path& recording);

/// True for a folder that holds a manifest or segments.
[[nodiscard]] bool looks_like_recording(const std::filesystem::path& path);

/// Reads a .rankscope folder. Cut or damaged segments give what they still hold, and counters say what is missing.
[[nodiscard]] Result<std::shared_ptr<const Run>> read_recording(const std::filesystem::path& path,
                                                                Texts texts = Texts::without_secrets);

/// What segments held, counted while they were copied.
struct GatherSummary {
  std::uint64_t segments = 0;
  std::uint64_t events = 0;
  std::uint64_t activities = 0;          ///< of these: kernels, copies and waits of devices
  std::uint64_t nccl_kernels = 0;        ///< of these: kernels in which NCCL carries out collectives
  std::uint64_t library_operations = 0;  ///< that a communication library reported
  std::uint64_t events_dropped = 0;
  std::uint64_t events_thinned = 0;        ///< for which sums stand
  std::uint64_t events_without_sums = 0;   ///< thinned out, too, although their steps have no sums
  std::uint64_t events_without_steps = 0;  ///< thinned out of a process without steps
  std::uint64_t bytes = 0;
  std::int64_t world_size = 0;  ///< 0 = the process did not know
  RankEvidence evidence{};
  std::uint64_t secrets_hidden = 0;
  std::vector<std::pair<std::string, std::string>>
      metadata{};  ///< what the process said of itself; never injected faults
};

/// Copies one segment of a process that has ended: only what was written, every chunk and the header sealed with a CRC,
/// on request with the secrets in its strings overwritten. Whether it could be written, `out` tells.
[[nodiscard]] Result<GatherSummary> gather_into(const std::filesystem::path& source, std::ostream& out,
                                                Texts texts = Texts::as_recorded);
/// The same to the file `target`, which is written beside and renamed; `source` stays.
[[nodiscard]] Result<GatherSummary> gather_segment(const std::filesystem::path& source,
                                                   const std::filesystem::path& target,
                                                   Texts texts = Texts::as_recorded);

}  // namespace rankscope::recording
