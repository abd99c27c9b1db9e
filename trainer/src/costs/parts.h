// What a rank has of a model, as costs.cpp counts it.
#pragma once

#include <span>
#include <vector>

#include "rankscope/trainer/costs/costs.h"
#include "rankscope/trainer/layout/flat_layout.h"

namespace rankscope::trainer {

/// A rank, and the blocks it has.
struct RankPart {
  const CostQuestion& question;
  int rank = 0;                                    ///< of all ranks
  std::vector<std::span<const BlockSize>> chunks;  ///< stages or devices; one where the model is not spread
  std::vector<std::int32_t> stages{};              ///< of a pipeline: the numbers of the chunks

  [[nodiscard]] const TrainOptions& options() const { return question.options; }
  [[nodiscard]] std::int64_t element_bytes() const { return question.model.element_bytes; }
  [[nodiscard]] std::int64_t activation_bytes() const { return question.model.activation_bytes; }
};

/// Ranks among which gradients are averaged, and those that share layers.
[[nodiscard]] int copies_of(const CostQuestion& question);
[[nodiscard]] int sharers_of(const CostQuestion& question);
/// Takes buffers from rank 0 in each step.
[[nodiscard]] bool sends_buffers(const CostQuestion& question);

[[nodiscard]] std::int64_t parameter_bytes(std::span<const BlockSize> blocks, std::int64_t element_bytes);
[[nodiscard]] std::int64_t elements_with_terms(std::span<const BlockSize> blocks);
/// Bytes of each parameter, in order.
[[nodiscard]] std::vector<std::size_t> parameter_sizes(std::span<const BlockSize> blocks, std::int64_t element_bytes);

/// Buckets in the reverse order of registration, in `ranks` shards, as the modes lay them out before they have seen a
/// backward.
[[nodiscard]] FlatLayout bucket_layout(std::span<const BlockSize> blocks, const CostQuestion& question, int ranks);
/// A unit per block.
[[nodiscard]] FlatLayout unit_layout(std::span<const BlockSize> blocks, int ranks);
/// Elements of all units with their padding.
[[nodiscard]] std::int64_t padded_elements(const FlatLayout& layout);

[[nodiscard]] std::vector<MemoryCost> memory_of(const RankPart& part);
[[nodiscard]] std::vector<TrafficCost> traffic_of(const RankPart& part);

}  // namespace rankscope::trainer
