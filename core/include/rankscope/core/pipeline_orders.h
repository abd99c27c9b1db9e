// The order of the work of each rank under the known pipeline schedules (metrics.md 13). The one list of them: a
// trainer follows it, the analyzer recognizes it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace rankscope {

/// What a rank does with one micro-batch on one of its chunks. backward = input gradient and weight gradient in one.
enum class PipelinePart : std::uint8_t { forward, backward, backward_input, backward_weight };
/// F, B, I or W
[[nodiscard]] char letter_of(PipelinePart part);
/// "backward input": the name of its span in recordings (docs/metrics.md 13); ends with a NUL, as recorders need it.
[[nodiscard]] const char* span_name_of(PipelinePart part);

/// One entry of the order in which a rank works; the chunk is counted on its rank, not in the model.
struct PipelineAction {
  PipelinePart part = PipelinePart::forward;
  std::int32_t chunk = 0;  ///< of the rank's chunks of the model, from 0
  std::int32_t micro_batch = 0;
  bool operator==(const PipelineAction&) const = default;
};

/// The schedules whose order is known for every shape that they allow; any other one is unknown to the analyzer.
enum class PipelineSchedule : std::uint8_t {
  gpipe,
  one_f_one_b,
  interleaved,     ///< 1F1B with several chunks per rank
  zb_h1,           ///< zero bubble, weight gradients apart
  zb_interleaved,  ///< the same with several chunks
  zb_v,            ///< two chunks, laid in the shape of a V
};
inline constexpr std::array all_pipeline_schedules{PipelineSchedule::gpipe,          PipelineSchedule::one_f_one_b,
                                                   PipelineSchedule::interleaved,    PipelineSchedule::zb_h1,
                                                   PipelineSchedule::zb_interleaved, PipelineSchedule::zb_v};
/// "gpipe", "1f1b", ...: as in the report and on command lines
[[nodiscard]] std::string_view name_of(PipelineSchedule schedule);
[[nodiscard]] std::optional<PipelineSchedule> pipeline_schedule_from(std::string_view name);

/// The numbers that determine, together with the schedule, the order of the work on every rank.
struct PipelineShape {
  std::int32_t ranks = 1;  ///< p
  std::int32_t micro_batches = 1;
  std::int32_t chunks = 1;  ///< per rank, v
  bool operator==(const PipelineShape&) const = default;
};

/// False if the schedule is not defined for the shape, for example 1F1B with several chunks.
[[nodiscard]] bool fits(PipelineSchedule schedule, const PipelineShape& shape);
/// What one rank does, first to last. The schedule must fit the shape, and the rank be one of it.
[[nodiscard]] std::vector<PipelineAction> pipeline_order(PipelineSchedule schedule, const PipelineShape& shape,
                                                         std::int32_t rank);
/// Which stage of the model a chunk of a rank is: looped over the ranks, under ZB-V to and fro.
[[nodiscard]] std::int32_t stage_of(PipelineSchedule schedule, const PipelineShape& shape, std::int32_t rank,
                                    std::int32_t chunk);

}  // namespace rankscope
