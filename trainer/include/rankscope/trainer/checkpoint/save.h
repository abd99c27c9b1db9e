// Writing a checkpoint: each rank its own file, then rank 0 the manifest and, last, `latest`. Whatever moment a crash
// comes at, the checkpoint before can be loaded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/result.h"
#include "rankscope/trainer/checkpoint/manifest.h"
#include "rankscope/trainer/checkpoint/tensor.h"

namespace rankscope::trainer {

/// Called by all ranks, each with a text of its own, as often and in the same order: gives all texts by rank. It
/// returns only after every rank has called it, which makes it a barrier too.
using Exchange = std::function<Result<std::vector<std::string>>(const std::string& mine)>;

/// Called after each step of saving that a crash could follow, with what has just been done: tests stop there.
using StageHook = std::function<void(std::string_view stage)>;

/// Where a checkpoint goes, and how many older ones stay.
struct SaveOptions {
  std::filesystem::path folder;  ///< of all checkpoints of one training; shared by all nodes
  int keep = 2;                  ///< checkpoints that stay, this one included; at least 1
  StageHook at_stage{};
};

/// The rank that saves, and how it agrees with the others.
struct SavingRank {
  int rank = 0;
  int world = 1;
  Exchange exchange{};  ///< may be left out where the world is one rank
};

/// What saving left behind, the same on all ranks.
struct SavedCheckpoint {
  std::filesystem::path folder;
  std::uint64_t bytes = 0;  ///< of the files of all ranks
  std::string warning;      ///< which older checkpoint could not be removed, and why; empty: none
};

/// Saves what all ranks together hold; each calls this with its own slices, and each element of each tensor must be in
/// one slice of one rank (ranges_to_write). All ranks return the same: an error (cannot_write) is that of the first
/// rank that failed, what was written is removed then, and training can go on. Of older checkpoints of this training
/// only those of earlier steps are removed, after `latest` is durable, and none that is being read.
[[nodiscard]] Result<SavedCheckpoint> save_checkpoint(const SaveOptions& options, const SavingRank& rank,
                                                      const TrainingFacts& facts, std::span<const TensorSlice> slices);

}  // namespace rankscope::trainer
