#include "engine/training/checkpoints.h"
#include "engine/note.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "rankscope/collectors/annotate.h"
#include "rankscope/core/format.h"
#include "rankscope/trainer/checkpoint/load.h"
#include "rankscope/trainer/checkpoint/save.h"
#include "rankscope/trainer/launch/log.h"
#include "rankscope/trainer/options/model_size.h"

namespace rankscope::trainer {
namespace {

/// What makes tensors of the same names mean something else.
NamedOptions model_options(const WorkerPlan& plan) {
  const TrainOptions& options = plan.options;
  const std::int64_t batch = plan.plan.batch.global / options.accumulate;
  NamedOptions named{{"kind", name_of(options.model.kind)},
                     {"scale", options.model.scale == Scale::tiny ? "tiny" : "full"},
                     {"data", plan.source.name()},
                     {"samples", std::to_string(plan.source.samples())},
                     {"samples_of_an_epoch", std::to_string(plan.plan.loading.batches_per_epoch() * batch)}};
  if (options.data.lengths.vary()) named["seq_dist"] = text_of(options.data.lengths);
  if (options.model.kind == ModelKind::gpt) named["heads"] = std::to_string(gpt_size(options.model).heads);
  return named;
}

ModeSizes sizes_of(const WorkerPlan& plan) {
  const int world = plan.place.world_size;
  const ModeTraits& mode = *plan.options.mode;
  ModeSizes sizes{.mode = std::string{mode.name}};
  if (plan.plan.mesh) {
    const MeshShape& shape = plan.plan.mesh->shape();
    sizes.dp = shape.data;
    sizes.tp = shape.tensor;
    sizes.pp = shape.pipeline;
  } else if (mode.work == Work::layers) {
    sizes.tp = world;
  } else if (mode.has_stages()) {
    sizes.pp = world;
  } else {
    sizes.dp = plan.plan.shares;
  }
  return sizes;
}

std::string optimizer_name(const OptimizerOptions& options) {
  return options.kind == OptimizerKind::adamw ? "adamw" : options.momentum > 0 ? "sgd with momentum" : "sgd";
}

TrainingFacts facts_of(const WorkerPlan& plan, std::int64_t done) {
  const std::int64_t per_epoch = plan.plan.loading.batches_per_epoch();
  const std::int64_t batches = done * plan.options.accumulate;
  const std::int64_t samples_of_batch = plan.plan.batch.global / plan.options.accumulate;
  return {.step = done,
          .world_size = plan.place.world_size,
          .sizes = sizes_of(plan),
          .seed = plan.options.seed,
          .global_batch = plan.plan.batch.global,
          .model = model_options(plan),
          .optimizer = optimizer_name(plan.options.optimizer),
          .optimizer_steps = done,
          .cursor = {.epoch = batches / per_epoch, .samples = batches % per_epoch * samples_of_batch}};
}

at::Tensor bytes_of(const std::string& text, std::int64_t length) {
  const at::Tensor bytes = at::zeros({length}, at::kByte);
  std::memcpy(bytes.data_ptr(), text.data(), text.size());
  return bytes;
}

/// Texts of all ranks; they may differ in length.
Result<std::vector<std::string>> exchange(Comm& comm, const std::string& mine) {
  const int ranks = comm.group().size();
  const at::Tensor lengths = at::zeros({ranks}, at::kLong);
  RS_TRY_VOID(comm.allgather_flat(lengths, at::full({1}, static_cast<std::int64_t>(mine.size()), at::kLong),
                                  "length of checkpoint note")
                  .wait());
  const std::int64_t longest = std::max<std::int64_t>(1, lengths.max().item<std::int64_t>());
  const at::Tensor all = at::zeros({ranks, longest}, at::kByte);
  RS_TRY_VOID(comm.allgather_flat(all, bytes_of(mine, longest), "checkpoint note").wait());
  std::vector<std::string> texts;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto* const begin = static_cast<const char*>(all[rank].data_ptr());
    texts.emplace_back(begin, static_cast<std::size_t>(lengths[rank].item<std::int64_t>()));
  }
  return texts;
}

/// The slices of the state that this rank writes; they point into `kept`.
std::vector<TensorSlice> slices_of(const TrainingState& state, const Placement& place, std::vector<at::Tensor>& kept) {
  std::vector<HeldTensor> held;
  std::vector<const StateTensor*> of_held;
  for (const StateTensor& tensor : state) {
    if (tensor.holder == StateHolder::other_rank) continue;
    const bool owned = tensor.holder == StateHolder::this_rank;
    const auto elements = elements_of(tensor.tensor);
    RS_CHECK(elements.has_value());  // it is in memory
    held.push_back({.name = tensor.tensor.name,
                    .elements = *elements,
                    .element_bytes = bytes_of(tensor.tensor.type),
                    .owned = owned ? std::optional{tensor.range} : std::nullopt,
                    .replicas = tensor.replicas});
    of_held.push_back(&tensor);
  }
  std::vector<TensorSlice> slices;
  for (const TensorRange& range : ranges_to_write(held, place.rank, place.world_size)) {
    const auto contains = [&](const StateTensor* tensor) {
      return tensor->tensor.name == range.tensor && tensor->range.begin <= range.range.begin &&
             range.range.end <= tensor->range.end;
    };
    const auto found = std::ranges::find_if(of_held, contains);
    RS_CHECK(found != of_held.end());
    const StateTensor& tensor = **found;
    const at::Tensor flat = tensor.values.detach().cpu().contiguous().flatten();
    kept.push_back(flat.narrow(0, range.range.begin - tensor.range.begin, range.range.count()));
    slices.push_back(
        {tensor.tensor, range.range, {static_cast<const std::byte*>(kept.back().data_ptr()), kept.back().nbytes()}});
  }
  return slices;
}

Result<std::vector<at::Tensor>> read_all(Checkpoint& checkpoint, const TrainingState& state) {
  std::vector<at::Tensor> values;
  for (const StateTensor& tensor : state) {
    RS_TRY(const auto bytes, checkpoint.read(tensor.tensor.name, tensor.range));
    at::Tensor value = at::empty({tensor.range.count()}, tensor.values.options().device(at::kCPU).requires_grad(false));
    RS_CHECK(bytes.size() == value.nbytes());
    std::memcpy(value.data_ptr(), bytes.data(), bytes.size());
    values.push_back(value.to(tensor.values.device()));
  }
  return values;
}

// Better now than behind the last step.
Result<void> make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return {};
  return fail(ErrorKind::cannot_write,
              format("--checkpoints {} cannot be created: {}; choose a folder that all ranks can write to", folder,
                     error.message()));
}

}  // namespace

bool Checkpoints::is_due(std::int64_t done) const {
  const CheckpointOptions& options = plan_.options.checkpoints;
  if (options.folder.empty()) return false;
  return done == plan_.plan.steps || (options.every > 0 && done % options.every == 0);
}

Result<std::int64_t> Checkpoints::resume() {
  const CheckpointOptions& options = plan_.options.checkpoints;
  if (options.folder.empty()) return 0;
  RS_TRY_VOID(make_folder(options.folder));
  const std::vector<std::int64_t> steps = saved_steps(options.folder);
  if (options.resume == Resume::no && !steps.empty()) {
    return fail(ErrorKind::usage, format("--checkpoints {} already contains the checkpoint of step {}; add --resume to "
                                         "continue from it, or choose another folder",
                                         options.folder, steps.back()));
  }
  if (options.resume == Resume::if_saved && steps.empty()) {
    log_progress(format("{}: this folder contains no checkpoint yet, so training begins with step 0", options.folder));
  }
  if (options.resume == Resume::no || (options.resume == Resume::if_saved && steps.empty())) return 0;
  // A crash right behind the first checkpoint leaves it without `latest`.
  std::error_code ignored;
  const bool is_named = std::filesystem::exists(std::filesystem::path{options.folder} / "latest", ignored);
  const auto step = is_named || steps.empty() ? std::nullopt : std::optional{steps.back()};
  RS_TRY(auto checkpoint, Checkpoint::open(options.folder, step));
  const TrainingFacts& facts = checkpoint.manifest().facts;
  RS_TRY(const TrainingState state, worker_.state());
  std::vector<TensorInfo> tensors;
  for (const StateTensor& tensor : state) tensors.push_back(tensor.tensor);
  RS_TRY_VOID(check_fits(checkpoint, model_options(plan_), optimizer_name(plan_.options.optimizer), tensors));
  if (facts.global_batch != plan_.plan.batch.global || facts.seed != plan_.options.seed) {
    return fail(ErrorKind::usage, format("{}: it was saved with --global-batch {} and --seed {}; use the same values, "
                                         "otherwise training would continue with different samples",
                                         checkpoint.path(), facts.global_batch, facts.seed));
  }
  if (facts_of(plan_, facts.step).cursor != facts.cursor) {
    return fail(ErrorKind::usage,
                format("{}: with these values of --ranks and --accumulate, training would continue with different "
                       "samples; use the values with which this checkpoint was saved ({})",
                       checkpoint.path(), counted(static_cast<std::uint64_t>(facts.world_size), "rank")));
  }
  if (options.resume == Resume::yes && facts.step >= plan_.plan.steps) {
    return fail(ErrorKind::usage, format("{}: training has already completed {}; use a larger --steps",
                                         checkpoint.path(), counted(static_cast<std::uint64_t>(facts.step), "step")));
  }
  RS_TRY(const auto values, read_all(checkpoint, state));
  RS_TRY_VOID(worker_.restore(values, facts.optimizer_steps));
  note("resumed_at_step", std::to_string(facts.step));
  log_progress(
      format("resumed after {} from {}", counted(static_cast<std::uint64_t>(facts.step), "step"), checkpoint.path()));
  return facts.step;
}

Result<void> Checkpoints::after_step(std::int64_t done) {
  if (!is_due(done)) return {};
  const auto saved = save(done);
  if (saved || done == plan_.plan.steps) return saved;
  if (plan_.everybody != nullptr && plan_.everybody->has_failed()) return saved;
  if (plan_.place.rank == 0) log_error(format("{}; training continues", saved.error().message));  // all have the same
  return {};
}

Result<void> Checkpoints::save(std::int64_t done) {
  annotate::Span span{annotate::Kind::user, "checkpoint"};
  RS_TRY(const TrainingState state, worker_.state());
  std::vector<at::Tensor> kept;
  const auto slices = slices_of(state, plan_.place, kept);
  SavingRank rank{.rank = plan_.place.rank, .world = plan_.place.world_size};
  if (plan_.everybody != nullptr)
    rank.exchange = [this](const std::string& mine) { return exchange(*plan_.everybody, mine); };
  RS_TRY(const SavedCheckpoint saved,
         save_checkpoint({.folder = plan_.options.checkpoints.folder, .keep = plan_.options.checkpoints.keep}, rank,
                         facts_of(plan_, done), slices));
  if (!saved.warning.empty()) log_error(saved.warning);
  log_progress(format("saved {} ({:.1f} MB)", saved.folder.string(), static_cast<double>(saved.bytes) / 1e6));
  return {};
}

}  // namespace rankscope::trainer
