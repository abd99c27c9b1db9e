#include "engine/pipeline/stage_worker.h"

#include <algorithm>
#include <numeric>

#include "engine/data_parallel/tensor_gradients.h"
#include "engine/layers/module_scope.h"
#include "engine/layers/precision.h"
#include "engine/note.h"
#include "engine/pipeline/pipeline_run.h"
#include "engine/step/devices.h"
#include "engine/step/sample_feed.h"
#include "engine/worker/explain.h"
#include "engine/worker/nominal_pace.h"
#include "rankscope/collectors/annotate.h"
#include "rankscope/core/format.h"
#include "rankscope/trainer/layout/stage_split.h"

namespace rankscope::trainer {
namespace {

using annotate::Kind;
using std::chrono::nanoseconds;

constexpr std::int32_t only_run = 0;

/// A parameter of the whole model, wherever it is.
struct Parameter {
  std::string name;
  std::vector<std::int64_t> shape;  ///< of all parts together
  std::int32_t rank = 0;            ///< in the pipeline
  TensorPart part;                  ///< that the ranks of this one's kind have
};

/// What is known of the whole model, and the part of it that this rank keeps.
struct SplitModel {
  std::vector<std::size_t> sizes;                 ///< blocks of each stage
  std::vector<double> work;                       ///< of each block
  std::vector<std::vector<std::int64_t>> shapes;  ///< of the input of each stage, for one micro-batch
  std::vector<Parameter> parameters;
  std::int64_t parameter_count = 0;
  std::map<std::int32_t, std::shared_ptr<Model>> own;  ///< by stage
};

// The shapes of all blocks' inputs; BatchNorm statistics stay as they are.
std::vector<std::vector<std::int64_t>> input_shapes(Model& model, const at::Tensor& samples) {
  const torch::NoGradGuard no_grad;
  model.eval();
  std::vector<std::vector<std::int64_t>> shapes;
  at::Tensor flowing = samples;
  for (const auto& block : model.blocks()) {
    shapes.push_back(flowing.sizes().vec());
    flowing = block->forward(flowing);
  }
  model.train();
  return shapes;
}

std::vector<Inputs> cut_batch(const Inputs& batch, std::int64_t micro_batches) {
  const auto data = batch.data.chunk(micro_batches);
  const auto labels = batch.labels.chunk(micro_batches);
  std::vector<Inputs> parts;
  for (std::size_t i = 0; i < data.size(); ++i) parts.push_back({data[i], labels[i]});
  return parts;
}

Result<SplitModel> split_model(Model& model, const PipelinePlan& plan, const TrainOptions& options, std::int32_t rank,
                               const at::Tensor& samples) {
  SplitModel split;
  split.work = work_of_blocks(model);
  RS_TRY(split.sizes,
         split_blocks(options.pipeline.split, block_shares(split.work), static_cast<std::size_t>(plan.stages()),
                      {name_of(options.model.kind), "stages", "ranks or chunks"}));
  const auto shapes = input_shapes(model, samples);
  const auto parts = parts_of(model, split.sizes);
  std::size_t block = 0;
  for (std::size_t stage = 0; stage < parts.size(); ++stage) {
    split.shapes.push_back(shapes[block]);
    block += split.sizes[stage];
    const std::int32_t owner = plan.rank_of_stage[stage];
    for (const auto& parameter : parts[stage]->named_parameters()) {
      const TensorPart part = parts[stage]->part_of(parameter.key());
      split.parameters.push_back({parameter.key(), whole_shape(part, parameter.value().sizes()), owner, part});
    }
    if (owner == rank) split.own.emplace(static_cast<std::int32_t>(stage), parts[stage]);
  }
  split.parameter_count = model.parameter_count();
  return split;
}

class StageWorker final : public Worker {
 public:
  StageWorker(const WorkerPlan& plan, StageSharing sharing)
      : setting_(plan),
        options_(plan.options),
        pipeline_(*plan.plan.pipeline),
        mesh_(plan.plan.mesh.value_or(Mesh{{.pipeline = plan.place.world_size}, plan.place.rank})),
        rank_(mesh_.position().pipeline),
        sharing_(sharing),
        pacer_(PaceSchedule{}, sharing.split.is_split() ? time_waited : nullptr, paced_device()) {}

  Result<void> prepare();

  WorkerDescription describe() const override;
  void begin_at(std::int64_t step) override {
    if (feed_) feed_->skip(step);
  }
  void slow_down(double factor) override { pacer_.slow_down(factor); }
  Result<void> gradients(std::int64_t index, const StepFaults& faults) override;
  Result<std::vector<NamedTensor>> all_gradients() override;
  Result<void> update(double rate) override;
  Result<Totals> evaluate(const Inputs& samples, std::int64_t counted) override;
  Replicated replicated() override;
  Result<TrainingState> state() override;
  Result<void> restore(const std::vector<at::Tensor>& values, std::int64_t steps) override;
  Totals take_totals() override { return run_->take_totals(); }
  const Pacer& finish() override { return pacer_; }

 private:
  [[nodiscard]] std::int64_t samples_of_micro_batch() const {
    return setting_.plan.batch.per_device / pipeline_.micro_batches;
  }
  [[nodiscard]] bool needs_samples() const {
    return pipeline_.rank_of_stage.front() == rank_ || pipeline_.rank_of_stage.back() == rank_;
  }
  Result<void> build_stages(const SplitModel& split);
  void load_kernels(const Inputs& samples);
  Result<void> stage_done(std::int32_t stage);
  void describe_mesh() const;
  StateHolders holders() const;
  std::vector<Inputs> load(nanoseconds delay);
  Result<at::Tensor> into_stage(std::int32_t stage, at::Tensor here);
  Result<at::Tensor> whole(const at::Tensor& own, const TensorPart& part) const;

  const WorkerPlan& setting_;
  const TrainOptions& options_;
  const PipelinePlan& pipeline_;
  Mesh mesh_;
  std::int32_t rank_;  // in the pipeline
  StageSharing sharing_;
  Pacer pacer_;
  double pace_ms_ = 0;
  nanoseconds optimizer_time_{0};
  std::unique_ptr<PipelineRun> run_;
  std::vector<std::size_t> sizes_;                 // blocks of each stage
  std::vector<std::vector<std::int64_t>> shapes_;  // of their inputs, for one micro-batch
  std::vector<Parameter> parameters_;              // of the whole model
  std::int64_t parameter_count_ = 0;
  std::map<std::int32_t, StageReplicas> copies_;  // of each stage of this rank
  nanoseconds reduction_delay_{0};
  std::optional<SampleFeed> feed_;  // of ranks that need samples
};

// The nominal time of a step is that of a rank: all ranks of a pipeline together have it as often as they are.
Result<void> StageWorker::build_stages(const SplitModel& split) {
  const int ranks = mesh_.shape().pipeline;
  const nanoseconds of_all{static_cast<std::int64_t>(pace_ms_ * 1e6 * ranks)};
  const PaceSchedule nominal = pace_schedule(of_all, split.work, pipeline_.micro_batches);
  optimizer_time_ = nominal.optimizer / ranks;
  std::map<std::int32_t, PacedStage> stages;
  for (const auto& [stage, blocks] : split.own) {
    const auto index = static_cast<std::size_t>(stage);
    const auto begin = std::accumulate(split.sizes.begin(), split.sizes.begin() + stage, std::size_t{0});
    const auto sum = [&](const std::vector<nanoseconds>& times) {
      const auto first = times.begin() + static_cast<std::ptrdiff_t>(begin);
      return std::accumulate(first, first + static_cast<std::ptrdiff_t>(split.sizes[index]), nanoseconds{0});
    };
    const StageInput input = stage == 0 ? StageInput::samples : StageInput::activations;
    stages.emplace(stage, PacedStage{Stage{blocks, input, 1.0 / pipeline_.micro_batches}, sum(nominal.forward),
                                     sum(nominal.backward)});
    name_modules(*blocks);
    const BucketCaps caps = bucket_caps(options_.ddp.bucket_mb, options_.model.scale == Scale::tiny);
    auto& copies =
        copies_.try_emplace(stage, blocks, sharing_.replicas, sharing_.update, options_.optimizer, caps).first->second;
    RS_TRY_VOID(copies.lay_out());
  }
  std::unique_ptr<PipelineLinks> links;
  if (sharing_.pipeline) {
    links = std::make_unique<PipelineLinks>(pipeline_, rank_, *sharing_.pipeline, split.shapes,
                                            activation_kind(options_, setting_.place));
  }
  run_ = std::make_unique<PipelineRun>(pipeline_, rank_, std::move(stages), std::move(links), pacer_,
                                       [this](std::int32_t stage) { return stage_done(stage); });
  return {};
}

// CUDA loads a kernel when it is first used, and may wait for all that its device does to do so. Later a receive can be
// among that, whose sender waits for this rank. So each stage runs once before any is posted.
void StageWorker::load_kernels(const Inputs& samples) {
  for (auto& [index, paced] : run_->stages()) {
    Stage& stage = paced.stage;
    const KeptBuffers statistics{stage.blocks()};
    const at::Tensor input =
        index == 0 ? samples.data
                   : at::zeros(shapes_[static_cast<std::size_t>(index)], activation_kind(options_, setting_.place));
    at::Tensor gradient;  // of the loss: one
    if (index + 1 == pipeline_.stages()) {
      stage.forward_to_loss(only_run, {input, samples.labels}, Backward::whole);
    } else {
      gradient = at::zeros_like(stage.forward(only_run, input, Backward::whole));
    }
    stage.backward(only_run, gradient);
    for (const at::Tensor& parameter : stage.blocks().parameters()) parameter.mutable_grad().reset();
  }
}

Result<void> StageWorker::stage_done(std::int32_t stage) {
  if (sharing_.split.is_split()) {
    RS_TRY_VOID(sum_gradient_terms(run_->stages().at(stage).stage.blocks(), *sharing_.split.comm));
  }
  copies_.at(stage).reduce(reduction_delay_);
  return {};
}

Result<void> StageWorker::prepare() {
  const ModelOptions model_options = deep_enough(options_.model, pipeline_.stages());
  RS_TRY(const auto model,
         build_model(model_options, setting_.source.shape(), options_.dtype, options_.seed, sharing_.split));
  RS_TRY_VOID(note_predicted(setting_, *model));
  const Inputs inputs = first_samples(setting_.source, samples_of_micro_batch(), options_.dtype);
  RS_TRY(SplitModel split, split_model(*model, pipeline_, options_, rank_, inputs.data));
  RS_TRY(pace_ms_, nominal_pace(setting_, setting_.place.local_world_size, [&] {
           return cpu_time_of_step(*model, inputs) * pipeline_.micro_batches / mesh_.shape().pipeline;
         }));
  for (const auto& [stage, blocks] : split.own) move_to(*blocks, device_of(setting_.place));
  RS_TRY_VOID(build_stages(split));
  sizes_ = split.sizes;
  shapes_ = split.shapes;
  parameters_ = std::move(split.parameters);
  parameter_count_ = split.parameter_count;
  if (setting_.place.gpu) load_kernels(on_device(device_of(setting_.place), inputs));
  if (needs_samples()) feed_.emplace(setting_.source, setting_.plan.loading, options_, device_of(setting_.place));
  return {};
}

std::vector<Inputs> StageWorker::load(nanoseconds delay) {
  if (!feed_) return {};
  return cut_batch(feed_->next(delay), pipeline_.micro_batches);
}

Result<void> StageWorker::gradients(std::int64_t index, const StepFaults& faults) {
  const std::vector<Inputs> inputs = load(faults.data);
  reduction_delay_ = sharing_.pipeline ? nanoseconds{0} : faults.comm;  // without transfers there are reductions only
  const bool only_split = !sharing_.pipeline && sharing_.replicas == nullptr && sharing_.split.is_split();
  if (only_split) sharing_.split.comm->delay_next(faults.comm);
  RS_TRY_VOID(run_->step(inputs, faults));
  RS_TRY_VOID(check_finite(run_->totals(), index, setting_.place.rank));
  for (auto& [stage, copies] : copies_) RS_TRY_VOID(copies.finish_reduction());
  return {};
}

Result<void> StageWorker::update(double rate) {
  {
    annotate::Span span{Kind::optimizer, "optimizer"};
    pacer_.begin();
    for (auto& [stage, copies] : copies_) copies.update(rate);
    pacer_.part_done(optimizer_time_);
  }
  for (auto& [stage, copies] : copies_) RS_TRY_VOID(copies.finish_update());
  return run_->finish_step();
}

Result<at::Tensor> StageWorker::whole(const at::Tensor& own, const TensorPart& part) const {
  if (!sharing_.split.is_split()) return own.clone();
  RS_TRY(const at::Tensor all, put_together(own, part, *sharing_.split.comm, "gradient to dump"));
  return all.clone();
}

Result<std::vector<NamedTensor>> StageWorker::all_gradients() {
  std::map<std::string, at::Tensor> own;
  for (const auto& [stage, copies] : copies_) {
    RS_TRY(const auto gradients, copies.gradients());
    for (const auto& [name, gradient] : gradients) own[name] = gradient;
  }
  std::vector<NamedTensor> all;
  for (const Parameter& parameter : parameters_) {
    at::Tensor gradient = at::empty(parameter.shape, tensor_kind(options_, setting_.place));
    if (parameter.rank == rank_) {
      RS_TRY(gradient, whole(own.at(parameter.name), parameter.part));
    }
    if (setting_.everybody != nullptr) {
      const int root = mesh_.rank_at({.data = 0, .tensor = 0, .pipeline = parameter.rank});
      RS_TRY_VOID(setting_.everybody->broadcast(gradient, root, "gradient to dump").wait());
    }
    all.push_back({parameter.name, gradient});
  }
  return all;
}

/// What a stage computes on: `here` where the stage before it is on this rank, too.
Result<at::Tensor> StageWorker::into_stage(std::int32_t stage, at::Tensor here) {
  const std::int32_t before = pipeline_.rank_of_stage[static_cast<std::size_t>(stage - 1)];
  if (before == rank_) return here;
  at::Tensor arriving = at::empty(shapes_[static_cast<std::size_t>(stage)], activation_kind(options_, setting_.place));
  RS_TRY_VOID(sharing_.pipeline->forward.recv(arriving, before, "activation to validate").wait());
  return arriving;
}

// Stage by stage, whatever the schedule: there is nothing to go back for.
Result<Totals> StageWorker::evaluate(const Inputs& samples, std::int64_t counted) {
  Totals totals;
  at::Tensor flowing = samples.data;
  std::vector<Handle> sends;
  for (const std::int32_t stage : pipeline_.stages_of(rank_)) {
    const Stage& own = run_->stages().at(stage).stage;
    if (stage > 0) {
      RS_TRY(flowing, into_stage(stage, flowing));
    }
    flowing = own.predict(flowing);
    if (stage + 1 == pipeline_.stages()) {
      totals = totals_of_first(own.blocks(), flowing, samples, counted);
    } else if (const auto next = pipeline_.rank_of_stage[static_cast<std::size_t>(stage + 1)]; next != rank_) {
      sends.push_back(sharing_.pipeline->forward.send(flowing.contiguous(), next, "activation to validate"));
    }
  }
  for (Handle& send : sends) RS_TRY_VOID(send.wait());
  return totals;
}

Replicated StageWorker::replicated() {
  if (sharing_.replicas == nullptr || sharing_.update == StageUpdate::sharded) return {};
  Replicated own{.group = sharing_.replicas};
  for (const auto& [stage, paced] : run_->stages())
    for (const auto& parameter : paced.stage.blocks().parameters()) own.tensors.push_back(parameter);
  return own;
}

// What other pipelines have as well, and of layers that are not split what the other ranks of the tensor group have.
StateHolders StageWorker::holders() const {
  const std::vector<int> copies = mesh_.data_group();
  StateHolders holders{.keeps_wholes = mesh_.position().tensor == 0,
                       .of_parts = copies.size() > 1 ? copies : std::vector<int>{}};
  for (const int copy : copies) {
    const auto sharing = Mesh{mesh_.shape(), copy}.tensor_group();
    holders.of_wholes.insert(holders.of_wholes.end(), sharing.begin(), sharing.end());
  }
  std::ranges::sort(holders.of_wholes);
  return holders;
}

Result<TrainingState> StageWorker::state() {
  TrainingState state;
  for (const auto& [stage, copies] : copies_) copies.add_to(state, holders());
  for (const auto& [stage, paced] : run_->stages()) {
    add_buffers(state, paced.stage.blocks(), mesh_.position().data == 0 && mesh_.position().tensor == 0);
  }
  return state;
}

Result<void> StageWorker::restore(const std::vector<at::Tensor>& values, std::int64_t steps) {
  std::size_t next = 0;
  for (auto& [stage, copies] : copies_) RS_TRY_VOID(copies.restore(values, next, steps));
  for (const auto& [stage, paced] : run_->stages()) restore_buffers(values, next, paced.stage.blocks());
  return {};
}

std::string joined(const std::vector<std::size_t>& numbers) {
  std::string text;
  for (const std::size_t number : numbers) text += format("{}{}", text.empty() ? "" : ",", number);
  return text;
}

void StageWorker::describe_mesh() const {
  const MeshShape& shape = mesh_.shape();
  const MeshShape& own = mesh_.position();
  note("dp_rank", std::to_string(own.data));
  note("tp_rank", std::to_string(own.tensor));
  note("mesh", format("dp {} x tp {} x pp {}", shape.data, shape.tensor, shape.pipeline));
  note("sequence_parallel", sharing_.split.splits_sequence() ? "yes" : "no");
  note("zero_stage", sharing_.update == StageUpdate::sharded ? "1" : "0");
}

WorkerDescription StageWorker::describe() const {
  note("schedule", pipeline_.schedule);
  note("micro_batches", std::to_string(pipeline_.micro_batches));
  note("stages", std::to_string(pipeline_.stages()));
  note("split", joined(sizes_));
  note("pp_rank", std::to_string(rank_));
  if (setting_.plan.mesh) describe_mesh();
  return {.parameters = parameter_count_,
          .pace_ms = pace_ms_,
          .batch = format("{}{} {} of {}; schedule {}, {} with {} blocks",
                          setting_.plan.shares > 1 ? format("{} copies x ", setting_.plan.shares) : "",
                          pipeline_.micro_batches, pipeline_.micro_batches == 1 ? "micro-batch" : "micro-batches",
                          samples_of_micro_batch(), pipeline_.schedule, counted(pipeline_.stages(), "stage"),
                          joined(sizes_))};
}

}  // namespace

Result<std::unique_ptr<Worker>> make_stage_worker(const WorkerPlan& plan, StageSharing sharing) {
  auto worker = std::make_unique<StageWorker>(plan, sharing);
  RS_TRY_VOID(worker->prepare());
  return worker;
}

}  // namespace rankscope::trainer
