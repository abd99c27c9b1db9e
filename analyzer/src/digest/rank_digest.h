// The digest of one rank: the local parts of all subjects that have one (docs/digests.md).
#pragma once

#include <optional>
#include <vector>

#include "copies/local.h"
#include "data_loading/local.h"
#include "kernels/local.h"
#include "launches/local.h"
#include "rankscope/core/digest/digest_file.h"
#include "split/device_record.h"
#include "steps/local.h"

namespace rankscope::analyzer {

/// All that questions between ranks need of one rank. A part that is not there cannot be told from the digest: it was
/// written by a version of rankscope without it, or by one whose part this version does not know.
struct RankDigest {
  RankId rank{};
  StepsPart steps;
  DeviceRecordPart device_record;
  std::optional<KernelsPart> kernels;
  std::optional<CopiesPart> copies;
  std::optional<DataLoadingPart> data_loading;
  std::optional<LaunchesPart> launches;
  bool operator==(const RankDigest&) const = default;
};

/// Makes the digests of the ranks of one run, one at a time: whoever writes them needs to keep none.
class Digester {
 public:
  explicit Digester(const Run& run);
  /// Of Run::ranks()[row].
  [[nodiscard]] RankDigest of(std::size_t row);

 private:
  const Run& run_;
  std::vector<StepsPart> steps_;
  LocalKernels kernels_;
  LocalCopies copies_;
  LocalLaunches launches_;
};

/// The job as a digest file names it.
[[nodiscard]] digest::Job job_of(const Run& run);
/// Adds one block for each part. The caller commits.
void write_digest(const RankDigest& rank, digest::DigestWriter& out);
/// The ranks of a file, ascending. `unreadable` if a block contradicts itself, or a part is missing that all versions
/// write.
[[nodiscard]] Result<std::vector<RankDigest>> read_digests(const digest::DigestFile& file);

}  // namespace rankscope::analyzer
