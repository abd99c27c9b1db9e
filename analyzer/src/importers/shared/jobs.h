// Are files that were opened together of one job? Only what cannot be so within one job counts against it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rankscope/core/model/run_builder.h"

namespace rankscope::analyzer {

/// What tells recordings of our own apart: the facts of the run and when it began (0: not told).
struct Recording {
  std::vector<std::pair<std::string, std::string>> facts;
  std::int64_t origin_unix_ns = 0;
  bool operator==(const Recording&) const = default;
};

/// What a file tells about its job.
struct JobEvidence {
  std::string file;
  std::int64_t world_size = 0;                  ///< 0: not told
  std::string job{};                            ///< its name; empty: not told
  std::optional<Recording> recording{};         ///< of our own, if the file was exported from one
  std::optional<std::int64_t> begin_unix_ns{};  ///< of the first event; both or none
  std::optional<std::int64_t> end_unix_ns{};
};

/// Counts the files that cannot be of the same job as the first (`jobs_mixed`), each with the reason as its place:
/// another world size, another job name, another recording of our own, or more than a day between the events of both.
void note_other_jobs(std::span<const JobEvidence> files, RunBuilder& run);

}  // namespace rankscope::analyzer
