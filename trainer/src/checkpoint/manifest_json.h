// Parts of the manifest as JSON; ranks send them to rank 0 in the same form.
#pragma once

#include "checkpoint/strict_json.h"
#include "rankscope/trainer/checkpoint/manifest.h"

namespace rankscope::trainer {

/// What is held, by the manifest or by one rank: lists "tensors" and "files".
struct Holdings {
  std::vector<TensorInfo> tensors;
  std::vector<CheckpointFile> files;
};

[[nodiscard]] Json tensors_json(const std::vector<TensorInfo>& tensors);
[[nodiscard]] Json files_json(const std::vector<CheckpointFile>& files);

/// Checks each entry by itself and that names are unique.
[[nodiscard]] Result<Holdings> holdings_from(const Fields& fields);

/// Refuses unknown tensors, ranges outside of theirs, and elements that stand in two places. `where` begins the error.
[[nodiscard]] Result<void> check_ranges(const Holdings& holdings, const std::string& where);

}  // namespace rankscope::trainer
