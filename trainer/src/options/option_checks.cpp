#include "rankscope/trainer/options/options.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "rankscope/core/format.h"
#include "rankscope/trainer/options/model_size.h"

namespace rankscope::trainer {
namespace {

/// An option that only some modes have a use for, as the command line says it.
struct ModeRule {
  ModeOption option;
  std::string_view flags;
  bool (*is_given)(const TrainOptions&);
  std::string_view advice{};
};

bool corrupts(const TrainOptions& o) { return std::ranges::count(o.faults, FaultKind::corrupt, &Fault::kind) > 0; }

/// What a pipeline takes, apart from how it is split.
PipelineOptions without_split(PipelineOptions pipeline) {
  pipeline.split.clear();
  return pipeline;
}

constexpr std::array mode_rules{
    ModeRule{ModeOption::pipeline, "--schedule, --micro-batches, --chunks and --write-schedule",
             [](const TrainOptions& o) { return without_split(o.pipeline) != PipelineOptions{}; }},
    ModeRule{ModeOption::mesh, "--dp, --tp, --pp, --sequence-parallel and --zero1",
             [](const TrainOptions& o) { return o.mesh != MeshOptions{}; }},
    ModeRule{ModeOption::split, "--split", [](const TrainOptions& o) { return !o.pipeline.split.empty(); }},
    ModeRule{ModeOption::devices, "--devices", [](const TrainOptions& o) { return o.devices != 0; }},
    ModeRule{ModeOption::accumulate, "--accumulate", [](const TrainOptions& o) { return o.accumulate != 1; },
             "; a pipeline accumulates gradients over its micro-batches, so use --micro-batches"},
    ModeRule{ModeOption::unused_head, "--unused-head", [](const TrainOptions& o) { return o.model.unused_head; }},
    ModeRule{ModeOption::reducer, "--ddp-impl c10d and --find-unused",
             [](const TrainOptions& o) { return o.ddp.implementation != DdpImplementation::own || o.ddp.find_unused; }},
    ModeRule{ModeOption::bucket_size, "--bucket-mb", [](const TrainOptions& o) { return o.ddp.bucket_mb > 0; }},
    ModeRule{ModeOption::buffers, "--no-broadcast-buffers",
             [](const TrainOptions& o) { return !o.ddp.broadcast_buffers; }},
    ModeRule{ModeOption::tiles, "--tiles and --halo", [](const TrainOptions& o) { return o.tile != TileOptions{}; }},
    ModeRule{ModeOption::sync_batch_norm, "--sync-bn", [](const TrainOptions& o) { return o.sync_batch_norm; }},
    ModeRule{ModeOption::sequence_lengths, "--seq-dist", [](const TrainOptions& o) { return o.data.lengths.vary(); },
             "; in this mode, ranks work on the same samples, which must have equal lengths"},
    ModeRule{ModeOption::replica_check, "--check-replicas", [](const TrainOptions& o) { return o.check_replicas != 0; },
             "; it compares ranks that hold copies of the same model"},
    ModeRule{ModeOption::replica_check, "--fault corrupt", corrupts,
             "; it needs ranks that hold copies of the same model"},
};

Result<void> check_for_mode(const TrainOptions& o) {
  for (const ModeRule& rule : mode_rules) {
    if (o.mode->takes.contain(rule.option) || !rule.is_given(o)) continue;
    return fail(ErrorKind::usage, format("{}: only for --parallel {}, not for {}{}", rule.flags,
                                         modes_that_take(rule.option), o.mode->name, rule.advice));
  }
  if (o.mesh.zero1 && (corrupts(o) || o.check_replicas != 0)) {
    return fail(ErrorKind::usage,
                format("{} cannot be used with --zero1, since each update makes the copies of the model equal again",
                       corrupts(o) ? "--fault corrupt" : "--check-replicas"));
  }
  if (o.mode->work == Work::tiles && !is_convolutional(o.model.kind)) {
    return fail(ErrorKind::usage, format("--parallel {} cuts images: it needs a convolutional model ({}), not {}",
                                         o.mode->name, convolutional_models(), name_of(o.model.kind)));
  }
  if (o.sync_batch_norm && !is_convolutional(o.model.kind)) {
    return fail(ErrorKind::usage, format("--sync-bn: {} has no batch normalization; these models have it: {}",
                                         name_of(o.model.kind), convolutional_models()));
  }
  return {};
}

Result<void> check_lengths(const TrainOptions& o) {
  if (!o.data.lengths.vary()) return {};
  if (o.model.kind != ModelKind::gpt) {
    return fail(ErrorKind::usage,
                format("--seq-dist: only for --model gpt; samples of {} are images", name_of(o.model.kind)));
  }
  const auto needed = std::max(o.data.lengths.longest, static_cast<std::int64_t>(std::ceil(o.data.lengths.median)));
  if (const std::int64_t sequence = gpt_size(o.model).sequence; needed > sequence) {
    return fail(ErrorKind::usage, format("--seq-dist {}: samples have at most {} tokens; give --seq {}",
                                         text_of(o.data.lengths), sequence, needed));
  }
  return {};
}

Result<void> check_checkpoints(const TrainOptions& o) {
  const CheckpointOptions& checkpoints = o.checkpoints;
  if (checkpoints.folder.empty() && (checkpoints.every > 0 || checkpoints.resume != Resume::no)) {
    return fail(ErrorKind::usage, "--save-every and --resume need --checkpoints FOLDER");
  }
  if (!checkpoints.folder.empty() && o.model.unused_head) {
    return fail(ErrorKind::usage,
                "--checkpoints cannot be used with --unused-head, whose parameters are not updated in every step");
  }
  if (!checkpoints.folder.empty() && !o.ddp.broadcast_buffers) {
    return fail(ErrorKind::usage,
                "--checkpoints cannot be used with --no-broadcast-buffers, since only one set of buffers is saved");
  }
  if (!checkpoints.folder.empty() && o.ddp.implementation == DdpImplementation::c10d) {
    return fail(
        ErrorKind::usage,
        "--checkpoints cannot be used with --ddp-impl c10d, which reorders its buckets after the first step, so that a "
        "resumed run would round differently");
  }
  if (checkpoints.folder.empty() && checkpoints.keep != CheckpointOptions{}.keep) {
    return fail(ErrorKind::usage, "--keep needs --checkpoints FOLDER");
  }
  if (o.launch.restarts > 0 && o.launch.nodes > 1) {
    return fail(ErrorKind::usage,
                "--restarts is for one machine; with several machines, let the scheduler or torchrun restart the job");
  }
  return {};
}

Result<void> check_device(const TrainOptions& o) {
  if (!o.device.share_gpu) return {};
  if (o.device.wish != DeviceWish::cuda) return fail(ErrorKind::usage, "--share-gpu needs --device cuda");
  if (o.mode->devices == DeviceUse::one) return {};
  return fail(
      ErrorKind::usage,
      format("--share-gpu cannot be used with --parallel {}, whose ranks have several devices each", o.mode->name));
}

}  // namespace

Result<void> check_together(const TrainOptions& o) {
  if (o.launch.node_rank >= o.launch.nodes) {
    return fail(ErrorKind::usage,
                format("--node-rank {} must be below --nnodes {}", o.launch.node_rank, o.launch.nodes));
  }
  if (o.launch.nodes > 1 && o.launch.master_port == 0) {
    return fail(ErrorKind::usage, "--nnodes needs --master-addr and --master-port, the same on every machine");
  }
  if (o.model.kind == ModelKind::gpt && !o.data.folder.empty()) {
    return fail(ErrorKind::usage,
                "--model gpt trains on generated tokens; --data is for the other models, which train on images");
  }
  if (o.model.kind != ModelKind::mlp && o.model.unused_head) {
    return fail(ErrorKind::usage, "--unused-head is only for --model mlp");
  }
  const ModelOptions& model = o.model;
  if (is_convolutional(model.kind) && (model.layers | model.hidden | model.heads | model.sequence) != 0) {
    return fail(ErrorKind::usage, format("--layers, --hidden, --heads and --seq cannot be used with --model {}; only "
                                         "--scale sets the size of this model",
                                         name_of(model.kind)));
  }
  if (model.kind == ModelKind::mlp && (model.heads | model.sequence) != 0)
    return fail(ErrorKind::usage, "--heads and --seq: only for --model gpt, not for mlp");
  if (!o.data.dataset.empty() && o.data.folder.empty()) return fail(ErrorKind::usage, "--dataset needs --data FOLDER");
  if (o.validation.every == 0 && o.validation.samples > 0)
    return fail(ErrorKind::usage, "--validation-samples needs --validate-every N");
  RS_TRY_VOID(check_for_mode(o));
  RS_TRY_VOID(check_lengths(o));
  RS_TRY_VOID(check_checkpoints(o));
  return check_device(o);
}

Result<void> fit_to_ranks(TrainOptions& options, int world_size) {
  if (options.mode->runs_on_one_rank() && world_size != 1) {
    return fail(ErrorKind::usage, format("--parallel {} runs on one rank, not on {}", options.mode->name, world_size));
  }
  if (options.mode->work != Work::layers || options.model.kind != ModelKind::gpt) return {};
  const GptSize size = gpt_size(options.model);
  const bool chosen = options.model.heads != 0;
  if (!chosen && world_size > size.heads && size.hidden % world_size == 0) options.model.heads = world_size;
  return {};
}

}  // namespace rankscope::trainer
