#include "rankscope/trainer/plan/pipeline_plan.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

using enum PipelinePart;

constexpr std::int32_t most_micro_batches = 4096;

std::string all_names() {
  std::string names;
  for (const PipelineSchedule schedule : all_pipeline_schedules)
    names += format("{}{}", names.empty() ? "" : ", ", name_of(schedule));
  return names;
}

bool has_several_chunks(PipelineSchedule schedule) {
  return fits(schedule, {.ranks = 2, .micro_batches = 2, .chunks = 2});
}

/// The nearest numbers of micro-batches that the schedule takes: "8 or 12".
std::string fitting_micro_batches(PipelineSchedule schedule, PipelineShape shape) {
  std::string numbers;
  for (const std::int32_t direction : {-1, 1}) {
    PipelineShape other = shape;
    do other.micro_batches += direction;
    while (other.micro_batches >= 1 && other.micro_batches <= most_micro_batches && !fits(schedule, other));
    if (other.micro_batches < 1 || other.micro_batches > most_micro_batches) continue;
    numbers += format("{}{}", numbers.empty() ? "" : " or ", other.micro_batches);
  }
  return numbers;
}

std::string why_it_does_not_fit(PipelineSchedule schedule, const PipelineShape& shape) {
  const auto name = name_of(schedule);
  if (!has_several_chunks(schedule))
    return format("--schedule {} needs exactly one chunk per rank, not --chunks {}", name, shape.chunks);
  if (schedule == PipelineSchedule::zb_v)
    return format("--schedule {} needs exactly 2 chunks per rank, not --chunks {}", name, shape.chunks);
  if (shape.chunks < 2) return format("--schedule {} needs at least 2 chunks per rank, not --chunks 1", name);
  return format("--schedule {} on {} does not support --micro-batches {}; use {}", name, counted(shape.ranks, "rank"),
                shape.micro_batches, fitting_micro_batches(schedule, shape));
}

PipelinePlan plan_of(PipelineSchedule schedule, const PipelineShape& shape) {
  PipelinePlan plan{.schedule = std::string{name_of(schedule)}, .micro_batches = shape.micro_batches};
  plan.rank_of_stage.resize(static_cast<std::size_t>(shape.ranks * shape.chunks));
  for (std::int32_t rank = 0; rank < shape.ranks; ++rank) {
    auto& actions = plan.ranks.emplace_back();
    for (std::int32_t chunk = 0; chunk < shape.chunks; ++chunk)
      plan.rank_of_stage[static_cast<std::size_t>(stage_of(schedule, shape, rank, chunk))] = rank;
    for (const PipelineAction& action : pipeline_order(schedule, shape, rank))
      actions.push_back({action.part, stage_of(schedule, shape, rank, action.chunk), action.micro_batch});
  }
  return plan;
}

Result<PipelinePlan> plan_from_file(const PipelineOptions& options, int ranks) {
  const std::string& path = options.schedule;
  std::ifstream file{path};
  std::error_code error;
  if (std::filesystem::exists(path, error) && (!file || std::filesystem::is_directory(path, error)))
    return fail(ErrorKind::usage,
                format("--schedule {}: it cannot be read; give a CSV file or one of {}", path, all_names()));
  if (!file) {
    return fail(ErrorKind::usage,
                format("--schedule {}: neither a file nor the name of a schedule; choose from: {}", path, all_names()));
  }
  std::ostringstream text;
  text << file.rdbuf();
  RS_TRY(auto plan, read_schedule(text.str(), path));
  if (plan.ranks.size() != static_cast<std::size_t>(ranks)) {
    return fail(ErrorKind::usage, format("--schedule {}: it has {} for {}; there must be one line per rank", path,
                                         counted(plan.ranks.size(), "line"), counted(ranks, "rank")));
  }
  if (options.micro_batches > 0 && options.micro_batches != plan.micro_batches) {
    return fail(ErrorKind::usage, format("--micro-batches {}: the schedule in {} has {}; omit --micro-batches",
                                         options.micro_batches, path, plan.micro_batches));
  }
  if (options.chunks > 0) {
    return fail(ErrorKind::usage,
                format("--chunks: the schedule in {} already sets the chunks of each rank; omit --chunks", path));
  }
  return plan;
}

bool is_backward(PipelinePart part) { return part == backward || part == backward_input; }

/// Runs the actions by dependence alone.
class DryRun {
 public:
  explicit DryRun(const PipelinePlan& plan) : plan_(plan), next_(plan.ranks.size()) {
    const auto cells = static_cast<std::size_t>(plan.stages()) * static_cast<std::size_t>(plan.micro_batches);
    forward_done_.assign(cells, false);
    backward_done_.assign(cells, false);
  }

  std::optional<Standstill> run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < next_.size(); ++rank)
        while (next_[rank] < plan_.ranks[rank].size() && done(plan_.ranks[rank][next_[rank]])) {
          ++next_[rank];
          moved = true;
        }
    }
    for (std::size_t rank = 0; rank < next_.size(); ++rank)
      if (next_[rank] < plan_.ranks[rank].size()) return Standstill{static_cast<std::int32_t>(rank), next_[rank]};
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::size_t cell(std::int32_t stage, std::int32_t micro_batch) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(plan_.micro_batches) +
           static_cast<std::size_t>(micro_batch);
  }
  /// False while what it needs has not been made.
  bool done(const StageAction& action) {
    const std::size_t own = cell(action.stage, action.micro_batch);
    if (action.part == forward) {
      if (action.stage > 0 && !forward_done_[cell(action.stage - 1, action.micro_batch)]) return false;
      forward_done_[own] = true;
    }
    if (is_backward(action.part)) {
      if (action.stage + 1 < plan_.stages() && !backward_done_[cell(action.stage + 1, action.micro_batch)])
        return false;
      backward_done_[own] = true;
    }
    return true;
  }

  const PipelinePlan& plan_;
  std::vector<std::size_t> next_;
  std::vector<bool> forward_done_;
  std::vector<bool> backward_done_;
};

bool is_elsewhere(const PipelinePlan& plan, std::int32_t stage, std::int32_t other) {
  return plan.rank_of_stage[static_cast<std::size_t>(stage)] != plan.rank_of_stage[static_cast<std::size_t>(other)];
}

}  // namespace

std::string text_of(const StageAction& action) {
  return format("{}{}{}", action.stage, letter_of(action.part), action.micro_batch);
}

std::vector<std::int32_t> PipelinePlan::stages_of(std::int32_t rank) const {
  std::vector<std::int32_t> own;
  for (std::int32_t stage = 0; stage < stages(); ++stage)
    if (rank_of_stage[static_cast<std::size_t>(stage)] == rank) own.push_back(stage);
  return own;
}

Result<PipelinePlan> plan_pipeline(const PipelineOptions& options, int ranks) {
  const std::string name = options.schedule.empty() ? "1f1b" : options.schedule;
  const auto schedule = pipeline_schedule_from(name);
  if (!schedule) return plan_from_file(options, ranks);
  const std::int32_t usual_chunks = has_several_chunks(*schedule) ? 2 : 1;
  const PipelineShape shape{.ranks = ranks,
                            .micro_batches = options.micro_batches > 0 ? options.micro_batches : 2 * ranks,
                            .chunks = options.chunks > 0 ? options.chunks : usual_chunks};
  if (!fits(*schedule, shape)) return fail(ErrorKind::usage, why_it_does_not_fit(*schedule, shape));
  return plan_of(*schedule, shape);
}

std::optional<Standstill> standstill_of(const PipelinePlan& plan) { return DryRun{plan}.run(); }

std::optional<Parcel> needed_by(const PipelinePlan& plan, const StageAction& action) {
  if (action.part == forward && action.stage > 0 && is_elsewhere(plan, action.stage, action.stage - 1))
    return Parcel{PipelineDirection::forward, action.stage, action.micro_batch};
  if (is_backward(action.part) && action.stage + 1 < plan.stages() &&
      is_elsewhere(plan, action.stage, action.stage + 1))
    return Parcel{PipelineDirection::backward, action.stage, action.micro_batch};
  return std::nullopt;
}

std::optional<Parcel> made_by(const PipelinePlan& plan, const StageAction& action) {
  if (action.part == forward && action.stage + 1 < plan.stages() && is_elsewhere(plan, action.stage, action.stage + 1))
    return Parcel{PipelineDirection::forward, action.stage + 1, action.micro_batch};
  if (is_backward(action.part) && action.stage > 0 && is_elsewhere(plan, action.stage, action.stage - 1))
    return Parcel{PipelineDirection::backward, action.stage - 1, action.micro_batch};
  return std::nullopt;
}

std::vector<Channel> channels_to(const PipelinePlan& plan, std::int32_t rank) {
  std::vector<Channel> channels;
  for (std::size_t source = 0; source < plan.ranks.size(); ++source) {
    for (const auto direction : {PipelineDirection::forward, PipelineDirection::backward}) {
      Channel channel{direction, static_cast<std::int32_t>(source)};
      for (const StageAction& action : plan.ranks[source]) {
        const auto parcel = made_by(plan, action);
        if (parcel && parcel->direction == direction &&
            plan.rank_of_stage[static_cast<std::size_t>(parcel->into)] == rank)
          channel.parcels.push_back(*parcel);
      }
      if (!channel.parcels.empty()) channels.push_back(std::move(channel));
    }
  }
  return channels;
}

}  // namespace rankscope::trainer
