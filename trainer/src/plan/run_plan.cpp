#include "rankscope/trainer/plan/run_plan.h"

#include <algorithm>

#include "rankscope/core/format.h"
#include "rankscope/trainer/options/model_size.h"

namespace rankscope::trainer {
namespace {

constexpr std::int64_t usual_samples = 8;         // of a device and micro-step
constexpr std::int64_t usual_of_micro_batch = 4;  // of a pipeline

/// How the samples of a step are shared: ranks with one copy of the model among them see the same ones.
struct Sharing {
  int loaders;      ///< processes with samples of their own
  int index;        ///< of this process among them
  int devices = 1;  ///< with samples of their own, in each process
  int shares() const { return loaders * devices; }
};

/// Refuses what the mesh has no use for.
Result<void> check_mesh(const TrainOptions& options, const MeshShape& shape) {
  if (shape.data == 1 && (options.mesh.zero1 || options.ddp.bucket_mb > 0)) {
    return fail(ErrorKind::usage,
                "--zero1 and --bucket-mb need several copies of the model; give a --dp of at least 2");
  }
  if (shape.tensor == 1 && options.mesh.sequence == SequenceParallel::yes) {
    return fail(ErrorKind::usage, "--sequence-parallel needs ranks that share layers; give a --tp of at least 2");
  }
  return {};
}

Sharing sharing_of(const TrainOptions& options, const Placement& place, const std::optional<Mesh>& mesh) {
  switch (options.mode->work) {
    case Work::alone:
      return {1, 0, options.mode->devices == DeviceUse::replicas ? options.devices : 1};
    case Work::copies:
      return {place.world_size, place.rank};
    case Work::layers:
    case Work::tiles:
    case Work::stages:
      return {1, 0};
    case Work::mesh:
      break;
  }
  return {mesh->shape().data, mesh->position().data};
}

std::int64_t usual_per_device(const RunPlan& plan) {
  return plan.pipeline ? usual_of_micro_batch * plan.pipeline->micro_batches : usual_samples;
}

int place_in_pipeline(const RunPlan& plan, int rank) {
  return plan.mesh ? Mesh{plan.mesh->shape(), rank}.position().pipeline : rank;
}
bool has_loss(const RunPlan& plan, int rank) {
  return place_in_pipeline(plan, rank) == plan.pipeline->rank_of_stage.back();
}
/// Samples are needed by the first stage, labels by the last one.
bool loads_data(const RunPlan& plan, int rank) {
  return has_loss(plan, rank) || place_in_pipeline(plan, rank) == plan.pipeline->rank_of_stage.front();
}

/// Of `copies` of the model.
Result<void> check_copies(const TrainOptions& options, int copies) {
  const bool corrupts = std::ranges::count(options.faults, FaultKind::corrupt, &Fault::kind) > 0;
  if (copies > 1 || (!corrupts && options.check_replicas == 0)) return {};
  return fail(ErrorKind::usage,
              format("{}: there is only one copy of the model and nothing to compare it with; use more ranks{}",
                     corrupts ? "--fault corrupt" : "--check-replicas",
                     options.mode->work == Work::mesh ? " and a larger --dp" : ""));
}

Result<void> check_pipeline(const TrainOptions& options, const RunPlan& plan, int world_size) {
  const std::int64_t micro_batches = plan.pipeline->micro_batches;
  if (const std::int64_t batch = plan.batch.per_device; batch % micro_batches != 0) {
    const std::int64_t below = batch / micro_batches * micro_batches;
    return fail(ErrorKind::usage,
                format("a batch of {} cannot be cut into {} micro-batches; use a batch of {}", counted(batch, "sample"),
                       micro_batches,
                       below > 0 ? format("{} or {}", below, below + micro_batches) : format("{}", micro_batches)));
  }
  for (const auto& fault : options.faults) {
    if (fault.kind == FaultKind::nan && !has_loss(plan, fault.rank)) {
      return fail(ErrorKind::usage, format("--fault {}: rank {} computes no loss; only ranks with the last stage do",
                                           fault_text(fault), fault.rank));
    }
    if (fault.kind != FaultKind::data || loads_data(plan, fault.rank)) continue;
    std::string loading;
    for (int rank = 0; rank < world_size; ++rank)
      if (loads_data(plan, rank)) loading += format("{}{}", loading.empty() ? "" : ", ", rank);
    return fail(ErrorKind::usage,
                format("--fault {}: rank {} loads no data; only the ranks with the first and the last stage do: {}",
                       fault_text(fault), fault.rank, loading));
  }
  return {};
}

}  // namespace

Result<void> check_faults(const TrainOptions& options, int world_size, std::int64_t steps) {
  for (const auto& fault : options.faults) {
    if (fault.rank >= world_size) {
      return fail(ErrorKind::usage, format("--fault {}: there is no rank {}; the ranks are 0 to {}", fault_text(fault),
                                           fault.rank, world_size - 1));
    }
    if (fault.kind == FaultKind::comm && world_size == 1) {
      return fail(ErrorKind::usage,
                  format("--fault {}: with one rank there is no communication to delay", fault_text(fault)));
    }
    if (const auto first = first_step_of(fault); steps > 0 && first >= steps) {
      return fail(ErrorKind::usage,
                  format("--fault {}: it would first act in step {}, but there are only steps 0 to {}",
                         fault_text(fault), first, steps - 1));
    }
  }
  return {};
}

Result<int> ranks_of_pipeline(const TrainOptions& options, int world_size) {
  if (options.mode->work != Work::mesh) return world_size;
  RS_TRY(const MeshShape shape, mesh_shape(options.mesh.shape, world_size));
  return shape.pipeline;
}

Result<RunPlan> plan_run(const TrainOptions& options, const Placement& place, std::int64_t samples) {
  RS_TRY_VOID(check_faults(options, place.world_size, 0));
  if (options.mode->work == Work::layers) {
    RS_TRY_VOID(check_split(options.model, place.world_size, options.mode->sequence));
  }
  std::optional<Mesh> mesh;
  if (options.mode->work == Work::mesh) {
    RS_TRY(const MeshShape shape, mesh_shape(options.mesh.shape, place.world_size));
    mesh.emplace(shape, place.rank);
    RS_TRY_VOID(check_mesh(options, shape));
    if (shape.tensor > 1) RS_TRY_VOID(check_split(options.model, shape.tensor, options.mesh.sequence));
  }
  RS_TRY_VOID(check_copies(options, mesh ? mesh->shape().data : place.world_size));
  const Sharing sharing = sharing_of(options, place, mesh);
  if (samples < sharing.loaders) {
    return fail(ErrorKind::usage, format("{} cannot share {}; use fewer ranks or more data",
                                         counted(place.world_size, "rank"), counted(samples, "sample")));
  }
  RunPlan plan{.shares = sharing.shares(), .mesh = mesh};
  if (options.mode->has_stages()) {
    RS_TRY(const int ranks, ranks_of_pipeline(options, place.world_size));
    RS_TRY(plan.pipeline, plan_pipeline(options.pipeline, ranks));
  }
  if (options.mode->work == Work::tiles) {
    RS_TRY(plan.tiles, tile_grid(options.tile.grid, place.world_size));
  }
  RS_TRY(plan.batch, batch_sizes(options, sharing.shares(), usual_per_device(plan)));
  if (plan.pipeline) RS_TRY_VOID(check_pipeline(options, plan, place.world_size));
  plan.loading = {
      .sampler = {.samples = samples, .ranks = sharing.loaders, .rank = sharing.index, .seed = options.seed},
      .batch = plan.batch.per_device * sharing.devices};
  const std::int64_t steps_per_epoch = plan.loading.batches_per_epoch() / options.accumulate;
  if (steps_per_epoch == 0) {
    return fail(ErrorKind::usage, format("a step needs {} samples, but there are only {}; use a smaller batch",
                                         plan.batch.global, samples));
  }
  const std::int64_t all_epochs = options.epochs * steps_per_epoch;
  plan.steps = options.epochs == 0  ? options.steps
               : options.steps == 0 ? all_epochs
                                    : std::min(options.steps, all_epochs);
  RS_TRY_VOID(check_faults(options, place.world_size, plan.steps));
  return plan;
}

PaceMode effective_pace(const PaceOptions& options, int local_ranks, int cores) {
  if (options.mode == PaceMode::automatic && !options.given && local_ranks <= cores) return PaceMode::off;
  return options.mode;
}

}  // namespace rankscope::trainer
