// Which rank runs which stage of the model on which micro-batch, in which order: what a pipeline follows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/pipeline_orders.h"
#include "rankscope/core/result.h"
#include "rankscope/trainer/options/options.h"

namespace rankscope::trainer {

/// One stage works on one micro-batch; as text "3F12".
struct StageAction {
  PipelinePart part = PipelinePart::forward;
  std::int32_t stage = 0;
  std::int32_t micro_batch = 0;
  bool operator==(const StageAction&) const = default;
};
[[nodiscard]] std::string text_of(const StageAction& action);

/// A plan that can run: each stage of one rank, everything done once, nothing before what it needs.
struct PipelinePlan {
  std::string schedule{};  ///< "1f1b", or the path of the file it was read from
  std::int32_t micro_batches = 1;
  std::vector<std::int32_t> rank_of_stage{};
  std::vector<std::vector<StageAction>> ranks{};  ///< what each rank does, first to last
  bool operator==(const PipelinePlan&) const = default;

  [[nodiscard]] std::int32_t stages() const { return static_cast<std::int32_t>(rank_of_stage.size()); }
  [[nodiscard]] std::vector<std::int32_t> stages_of(std::int32_t rank) const;  ///< ascending: chunk by chunk
};

/// What --schedule, --micro-batches and --chunks ask for. An error of kind usage says what would fit instead.
[[nodiscard]] Result<PipelinePlan> plan_pipeline(const PipelineOptions& options, int ranks);

/// One line per rank, actions separated by commas, empty cells for idle time: as torch.distributed.pipelining has it.
/// `path` is for errors, which name the line and what is wrong in it.
[[nodiscard]] Result<PipelinePlan> read_schedule(std::string_view csv, const std::string& path);
[[nodiscard]] std::string schedule_csv(const PipelinePlan& plan);

/// The rank that can never do its action number `position` (from 0), or nothing: then the plan runs to its end.
struct Standstill {
  std::int32_t rank = 0;
  std::size_t position = 0;
};
[[nodiscard]] std::optional<Standstill> standstill_of(const PipelinePlan& plan);

/// Activations go with forward, gradients against it.
enum class PipelineDirection : std::uint8_t { forward, backward };

/// What one stage hands to a neighbour on another rank.
struct Parcel {
  PipelineDirection direction = PipelineDirection::forward;
  std::int32_t into = 0;  ///< stage that needs it
  std::int32_t micro_batch = 0;
  auto operator<=>(const Parcel&) const = default;
};
/// What the action needs from another rank, or hands to one.
[[nodiscard]] std::optional<Parcel> needed_by(const PipelinePlan& plan, const StageAction& action);
[[nodiscard]] std::optional<Parcel> made_by(const PipelinePlan& plan, const StageAction& action);

/// All parcels of one direction from one rank to another, as they are sent.
struct Channel {
  PipelineDirection direction = PipelineDirection::forward;
  std::int32_t from = 0;
  std::vector<Parcel> parcels{};
};
[[nodiscard]] std::vector<Channel> channels_to(const PipelinePlan& plan, std::int32_t rank);

}  // namespace rankscope::trainer
