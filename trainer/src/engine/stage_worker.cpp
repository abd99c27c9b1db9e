#include "engine/stage_worker.h"

#include <algorithm>
#include <numeric>

#include "engine/module_scope.h"
#include "engine/nominal_pace.h"
#include "engine/pipeline_run.h"
#include "engine/sample_feed.h"
#include "rankscope/collectors/annotate.h"
#include "rankscope/core/format.h"
#include "rankscope/trainer/stage_split.h"

namespace rankscope::trainer {
namespace {

using annotate::Kind;
using std::chrono::nanoseconds;

/// A parameter of the whole model, wherever it is.
struct Parameter {
  std::string name;
  std::vector<std::int64_t> shape;
  int rank = 0;
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

Result<SplitModel> split_model(Model& model, const PipelinePlan& plan, const TrainOptions& options, int rank,
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
    const int owner = plan.rank_of_stage[stage];
    for (const auto& parameter : parts[stage]->named_parameters())
      split.parameters.push_back({parameter.key(), parameter.value().sizes().vec(), owner});
    if (owner == rank) split.own.emplace(static_cast<std::int32_t>(stage), parts[stage]);
  }
  split.parameter_count = model.parameter_count();
  return split;
}

class StageWorker final : public Worker {
 public:
  explicit StageWorker(const WorkerPlan& plan, std::optional<PipelineGroups> groups)
      : setting_(plan),
        options_(plan.options),
        place_(plan.place),
        pipeline_(*plan.plan.pipeline),
        groups_(groups),
        pacer_(PaceSchedule{}) {}

  Result<void> prepare();

  WorkerDescription describe() const override;
  void slow_down(double factor) override { pacer_.slow_down(factor); }
  Result<void> gradients(std::int64_t index, const StepDelays& delays) override;
  Result<std::vector<NamedTensor>> all_gradients() override;
  Result<void> update() override;
  Totals take_totals() override { return run_->take_totals(); }
  const Pacer& finish() override { return pacer_; }

 private:
  [[nodiscard]] std::int64_t samples_of_micro_batch() const {
    return setting_.plan.batch.per_device / pipeline_.micro_batches;
  }
  [[nodiscard]] bool needs_samples() const {
    return pipeline_.rank_of_stage.front() == place_.rank || pipeline_.rank_of_stage.back() == place_.rank;
  }
  void build_stages(const SplitModel& split);
  std::vector<Inputs> load(nanoseconds delay);

  const WorkerPlan& setting_;
  const TrainOptions& options_;
  const Placement& place_;
  const PipelinePlan& pipeline_;
  std::optional<PipelineGroups> groups_;
  Pacer pacer_;
  double pace_ms_ = 0;
  nanoseconds optimizer_time_{0};
  std::unique_ptr<PipelineRun> run_;
  std::vector<std::size_t> sizes_;     // blocks of each stage
  std::vector<Parameter> parameters_;  // of the whole model
  std::int64_t parameter_count_ = 0;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  std::optional<SampleFeed> feed_;  // of ranks that need samples
};

// The nominal time of a step is that of a rank: all ranks together have it as often as there are ranks.
void StageWorker::build_stages(const SplitModel& split) {
  const nanoseconds of_all{static_cast<std::int64_t>(pace_ms_ * 1e6 * place_.world_size)};
  const PaceSchedule nominal = pace_schedule(of_all, split.work, pipeline_.micro_batches);
  optimizer_time_ = nominal.optimizer / place_.world_size;
  std::map<std::int32_t, PacedStage> stages;
  std::vector<at::Tensor> parameters;
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
    for (const auto& parameter : blocks->parameters()) parameters.push_back(parameter);
  }
  optimizer_ = make_optimizer(std::move(parameters), options_.optimizer);
  std::unique_ptr<PipelineLinks> links;
  if (groups_) {
    links = std::make_unique<PipelineLinks>(pipeline_, place_.rank, *groups_, split.shapes, torch_type(options_.dtype));
  }
  run_ = std::make_unique<PipelineRun>(pipeline_, place_.rank, std::move(stages), std::move(links), pacer_);
}

Result<void> StageWorker::prepare() {
  const ModelOptions model_options = deep_enough(options_.model, pipeline_.stages());
  RS_TRY(const auto model, build_model(model_options, setting_.source.shape(), options_.dtype, options_.seed));
  const Inputs inputs = first_samples(setting_.source, samples_of_micro_batch(), options_.dtype);
  RS_TRY(SplitModel split, split_model(*model, pipeline_, options_, place_.rank, inputs.data));
  RS_TRY(pace_ms_, nominal_pace(setting_, place_.local_world_size, [&] {
           return cpu_time_of_step(*model, inputs) * pipeline_.micro_batches / place_.world_size;
         }));
  build_stages(split);
  sizes_ = split.sizes;
  parameters_ = std::move(split.parameters);
  parameter_count_ = split.parameter_count;
  if (needs_samples()) feed_.emplace(setting_.source, setting_.plan.loading, options_);
  return {};
}

std::vector<Inputs> StageWorker::load(nanoseconds delay) {
  if (!feed_) return {};
  return cut_batch(feed_->next(delay), pipeline_.micro_batches);
}

Result<void> StageWorker::gradients(std::int64_t, const StepDelays& delays) {
  const std::vector<Inputs> inputs = load(delays.data);
  return run_->step(inputs, delays.comm);
}

Result<void> StageWorker::update() {
  {
    annotate::Span span{Kind::optimizer, "optimizer"};
    pacer_.begin();
    optimizer_->step();
    optimizer_->zero_grad();
    pacer_.part_done(optimizer_time_);
  }
  return run_->finish_step();
}

Result<std::vector<NamedTensor>> StageWorker::all_gradients() {
  std::map<std::string, at::Tensor> own;
  for (auto& [stage, paced] : run_->stages()) {
    for (const auto& [name, gradient] : gradients_of(paced.stage.blocks())) own[name] = gradient;
  }
  std::vector<NamedTensor> all;
  for (const Parameter& parameter : parameters_) {
    const bool is_own = parameter.rank == place_.rank;
    const at::Tensor gradient =
        is_own ? own.at(parameter.name).clone() : at::empty(parameter.shape, torch_type(options_.dtype));
    if (setting_.everybody != nullptr) {
      RS_TRY_VOID(setting_.everybody->broadcast(gradient, parameter.rank, "gradient to dump").wait());
    }
    all.push_back({parameter.name, gradient});
  }
  return all;
}

std::string joined(const std::vector<std::size_t>& numbers) {
  std::string text;
  for (const std::size_t number : numbers) text += format("{}{}", text.empty() ? "" : ",", number);
  return text;
}

WorkerDescription StageWorker::describe() const {
  note("schedule", pipeline_.schedule);
  note("micro_batches", std::to_string(pipeline_.micro_batches));
  note("stages", std::to_string(pipeline_.stages()));
  note("split", joined(sizes_));
  note("pp_rank", std::to_string(place_.rank));
  return {.parameters = parameter_count_,
          .pace_ms = pace_ms_,
          .batch = format("{} micro-batches of {}; schedule {}, {} stages with {} blocks", pipeline_.micro_batches,
                          samples_of_micro_batch(), pipeline_.schedule, pipeline_.stages(), joined(sizes_))};
}

}  // namespace

Result<std::unique_ptr<Worker>> make_stage_worker(const WorkerPlan& plan, std::optional<PipelineGroups> groups) {
  auto worker = std::make_unique<StageWorker>(plan, groups);
  RS_TRY_VOID(worker->prepare());
  return worker;
}

}  // namespace rankscope::trainer
