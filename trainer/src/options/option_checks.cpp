#include "options/option_checks.h"

#include <algorithm>
#include <cmath>

#include "rankscope/core/format.h"
#include "rankscope/trainer/options/model_size.h"

namespace rankscope::trainer {
namespace {

bool spreads_layers(const std::string& mode) { return is_pipeline(mode) || mode == "mp" || mode == "ddp+mp"; }

/// Modes in which ranks average gradients; single takes the same options, to be compared with them.
bool synchronizes(const std::string& mode) {
  return mode == "ddp" || mode == "ddp+mp" || mode == "tile" || mode == "single" || zero_stage(mode) != ZeroStage::none;
}

// Nothing that was asked for is left undone in silence.
Result<void> check_for_mode(const TrainOptions& o) {
  const auto only = [&](const char* option, const char* modes) {
    return fail(ErrorKind::usage, format("{}: only for --parallel {}, not for {}", option, modes, o.mode));
  };
  PipelineOptions left = o.pipeline;
  left.split.clear();
  if (!is_pipeline(o.mode) && left != PipelineOptions{})
    return only("--schedule, --micro-batches, --chunks and --write-schedule", "pp and 3d");
  if (o.mode != "3d" && o.mesh != MeshOptions{}) {
    return only("--dp, --tp, --pp, --sequence-parallel and --zero1", "3d");
  }
  if (!spreads_layers(o.mode) && !o.pipeline.split.empty()) return only("--split", "pp, 3d, mp and ddp+mp");
  if (!has_devices(o.mode) && o.devices != 0) return only("--devices", "dp, mp and ddp+mp");
  if (is_pipeline(o.mode) && o.accumulate != 1) {
    return fail(ErrorKind::usage, "--accumulate: a pipeline accumulates over its micro-batches; give --micro-batches");
  }
  const bool whole = !has_devices(o.mode) && !is_pipeline(o.mode) && !is_tensor_parallel(o.mode);
  if (!whole && o.model.unused_head) {
    return fail(ErrorKind::usage, format("--unused-head: not with --parallel {}", o.mode));
  }
  DdpOptions buckets = o.ddp;
  if (o.mode == "3d") buckets.bucket_mb = 0;
  if (!synchronizes(o.mode) && buckets != DdpOptions{}) {
    const char* const with_buckets = "--ddp-impl, --bucket-mb, --find-unused and --no-broadcast-buffers";
    return only(o.mode == "3d" ? "--ddp-impl, --find-unused and --no-broadcast-buffers" : with_buckets,
                "ddp, ddp+mp, zero1 to zero3 and tile");
  }
  if (o.mode != "tile" && o.tile != TileOptions{}) return only("--tiles and --halo", "tile");
  if (o.mode == "tile" && !is_convolutional(o.model.kind)) {
    return fail(ErrorKind::usage, format("--parallel tile cuts images: it needs a model of convolutions ({}), not {}",
                                         convolutional_models(), name_of(o.model.kind)));
  }
  if (o.sync_batch_norm && !synchronizes(o.mode)) return only("--sync-bn", "ddp, ddp+mp, zero1 to zero3 and tile");
  if (o.sync_batch_norm && !is_convolutional(o.model.kind)) {
    return fail(ErrorKind::usage, format("--sync-bn: {} has no batch normalization; {} have", name_of(o.model.kind),
                                         convolutional_models()));
  }
  const bool own_only = o.mode == "ddp+mp" || zero_stage(o.mode) != ZeroStage::none;
  if (own_only && (o.ddp.find_unused || o.ddp.implementation != DdpImplementation::own)) {
    return fail(ErrorKind::usage, format("--find-unused and --ddp-impl c10d: not with --parallel {}", o.mode));
  }
  if (zero_stage(o.mode) == ZeroStage::parameters && o.ddp.bucket_mb > 0) {
    return fail(ErrorKind::usage, "--bucket-mb: not with --parallel zero3, which reduces block by block");
  }
  return {};
}

// Ranks that share the layers or the stages of a model have the samples in common; stages have fixed shapes, too.
Result<void> check_lengths(const TrainOptions& o) {
  if (!o.data.lengths.vary()) return {};
  const bool shares_samples = is_pipeline(o.mode) || is_tensor_parallel(o.mode);
  if (shares_samples) {
    return fail(ErrorKind::usage,
                format("--seq-dist: not with --parallel {}, whose ranks share samples of one length; take"
                       "  ddp, ddp+mp, zero1 to zero3, dp, mp or single",
                       o.mode));
  }
  if (o.model.kind != ModelKind::gpt) {
    return fail(ErrorKind::usage,
                format("--seq-dist: only for --model gpt; samples of {} are images", name_of(o.model.kind)));
  }
  const auto needed = std::max(o.data.lengths.longest, static_cast<std::int64_t>(std::ceil(o.data.lengths.median)));
  if (const std::int64_t sequence = gpt_size(o.model).sequence; needed > sequence) {
    return fail(ErrorKind::usage, format("--seq-dist {}: samples have {} tokens at most; give --seq {}",
                                         text_of(o.data.lengths), sequence, needed));
  }
  return {};
}

/// Modes in which a rank can compare its parameters with those of another.
bool has_replicas(const TrainOptions& o) {
  return o.mode == "ddp" || o.mode == "ddp+mp" || o.mode == "tile" || (o.mode == "3d" && !o.mesh.zero1);
}

// In the other modes, an update heals what was damaged, or gives it to all.
Result<void> check_replicas(const TrainOptions& o) {
  const bool corrupts = std::ranges::count(o.faults, FaultKind::corrupt, &Fault::kind) > 0;
  if (has_replicas(o) || (!corrupts && o.check_replicas == 0)) return {};
  return fail(ErrorKind::usage,
              format("{}: only for --parallel ddp, ddp+mp, tile and 3d without --zero1, in which ranks have copies of "
                     "the model, not for {}",
                     corrupts ? "--fault corrupt" : "--check-replicas", o.mode));
}

Result<void> check_checkpoints(const TrainOptions& o) {
  const CheckpointOptions& checkpoints = o.checkpoints;
  if (checkpoints.folder.empty() && (checkpoints.every > 0 || checkpoints.resume != Resume::no)) {
    return fail(ErrorKind::usage, "--save-every and --resume need --checkpoints FOLDER");
  }
  if (!checkpoints.folder.empty() && o.model.unused_head) {
    return fail(ErrorKind::usage,
                "--checkpoints: not with --unused-head, whose parameters are not updated in each step");
  }
  if (!checkpoints.folder.empty() && !o.ddp.broadcast_buffers) {
    return fail(ErrorKind::usage, "--checkpoints: not with --no-broadcast-buffers, since one set of buffers is saved");
  }
  if (!checkpoints.folder.empty() && o.ddp.implementation == DdpImplementation::c10d) {
    return fail(
        ErrorKind::usage,
        "--checkpoints: not with --ddp-impl c10d, which orders its buckets anew after the first step, so that a "
        "resumed run rounds differently");
  }
  if (checkpoints.folder.empty() && checkpoints.keep != CheckpointOptions{}.keep) {
    return fail(ErrorKind::usage, "--keep needs --checkpoints FOLDER");
  }
  if (o.launch.restarts > 0 && o.launch.nodes > 1) {
    return fail(ErrorKind::usage,
                "--restarts: for one machine; with several let the job's scheduler or torchrun restart");
  }
  return {};
}

Result<void> check_device(const TrainOptions& o) {
  if (!o.device.share_gpu) return {};
  if (o.device.wish != DeviceWish::cuda) return fail(ErrorKind::usage, "--share-gpu needs --device cuda");
  if (!has_devices(o.mode)) return {};
  return fail(ErrorKind::usage,
              format("--share-gpu: not with --parallel {}, whose ranks have several devices each", o.mode));
}

}  // namespace

bool has_devices(const std::string& mode) { return mode == "dp" || mode == "mp" || mode == "ddp+mp"; }

Result<void> check_together(const TrainOptions& o) {
  if (o.launch.node_rank >= o.launch.nodes) {
    return fail(ErrorKind::usage,
                format("--node-rank {} must be below --nnodes {}", o.launch.node_rank, o.launch.nodes));
  }
  if (o.launch.nodes > 1 && o.launch.master_port == 0) {
    return fail(ErrorKind::usage, "--nnodes needs --master-addr and --master-port, the same on every machine");
  }
  if (o.model.kind == ModelKind::gpt && !o.data.folder.empty()) {
    return fail(ErrorKind::usage, "--model gpt trains on generated tokens; --data holds images for the other models");
  }
  if (o.model.kind != ModelKind::mlp && o.model.unused_head) {
    return fail(ErrorKind::usage, "--unused-head is for --model mlp");
  }
  const ModelOptions& model = o.model;
  if (is_convolutional(model.kind) && (model.layers | model.hidden | model.heads | model.sequence) != 0) {
    return fail(ErrorKind::usage,
                format("--layers, --hidden, --heads and --seq: the size of {} is in its name; give --scale",
                       name_of(model.kind)));
  }
  if (model.kind == ModelKind::mlp && (model.heads | model.sequence) != 0)
    return fail(ErrorKind::usage, "--heads and --seq: only for --model gpt, not for mlp");
  if (!o.data.dataset.empty() && o.data.folder.empty()) return fail(ErrorKind::usage, "--dataset needs --data FOLDER");
  if (o.validation.every == 0 && o.validation.samples > 0)
    return fail(ErrorKind::usage, "--validation-samples needs --validate-every N");
  RS_TRY_VOID(check_lengths(o));
  RS_TRY_VOID(check_replicas(o));
  RS_TRY_VOID(check_checkpoints(o));
  RS_TRY_VOID(check_device(o));
  return check_for_mode(o);
}

}  // namespace rankscope::trainer
