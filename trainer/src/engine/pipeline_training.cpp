#include "engine/pipeline_training.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <numeric>
#include <thread>

#include "engine/module_scope.h"
#include "engine/observers.h"
#include "engine/pipeline_run.h"
#include "rankscope/collectors/annotate.h"
#include "rankscope/core/format.h"
#include "rankscope/trainer/loader.h"
#include "rankscope/trainer/run_plan.h"
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

// The batch of one micro-batch, for measuring and for the shapes between stages.
Inputs first_micro_batch(const SampleSource& source, const TrainOptions& options, std::int64_t samples) {
  Batch batch;
  for (std::int64_t i = 0; i < samples; ++i) source.append(i, batch);
  return inputs_of(batch, source.shape(), options.dtype);
}

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
  for (const auto& block : model.blocks()) split.work.push_back(block->work);
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

class PipelineTraining {
 public:
  PipelineTraining(const PipelineJob& job, const SampleSource& source, const RunPlan& plan)
      : options_(job.options),
        place_(job.place),
        job_(job),
        source_(source),
        plan_(plan),
        pipeline_(*plan.pipeline),
        faults_(job.options.faults, job.place.rank),
        pacer_(PaceSchedule{}) {}

  Result<void> prepare();
  Result<void> run(const MemoryObserver* memory);

 private:
  [[nodiscard]] std::int64_t samples_of_micro_batch() const { return plan_.batch.per_device / pipeline_.micro_batches; }
  [[nodiscard]] bool needs_samples() const {
    return pipeline_.rank_of_stage.front() == place_.rank || pipeline_.rank_of_stage.back() == place_.rank;
  }
  Result<double> pace_milliseconds(Model& model, const Inputs& inputs) const;
  void build_stages(const SplitModel& split, double pace);
  Result<void> step(std::int64_t index);
  std::vector<Inputs> load(nanoseconds delay);
  void update();
  Result<void> dump_gradients(std::int64_t index);
  Result<void> report(std::int64_t index);
  void describe_run(const SplitModel& split, double pace) const;

  const TrainOptions& options_;
  const Placement& place_;
  const PipelineJob& job_;
  const SampleSource& source_;
  const RunPlan& plan_;
  const PipelinePlan& pipeline_;
  FaultPlan faults_;
  Pacer pacer_;
  nanoseconds optimizer_time_{0};
  std::unique_ptr<PipelineRun> run_;
  std::vector<Parameter> parameters_;  // of the whole model
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  std::unique_ptr<GradientDump> dump_;
  Progress progress_;
  std::optional<Loader> loader_;  // of ranks that need samples
};

// Measured before step 0 on all ranks at once, since they disturb one another; the slowest decides for all.
Result<double> PipelineTraining::pace_milliseconds(Model& model, const Inputs& inputs) const {
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  double mine = 0;
  switch (effective_pace(options_.pace, place_.local_world_size, cores)) {
    case PaceMode::off:
      break;
    case PaceMode::fixed:
      mine = options_.pace.milliseconds;
      break;
    case PaceMode::automatic: {
      const nanoseconds of_rank = cpu_time_of_step(model, inputs) * pipeline_.micro_batches / place_.world_size;
      mine = static_cast<double>(automatic_pace(of_rank, place_.local_world_size, cores).count());
      break;
    }
  }
  if (job_.all == nullptr) return mine;
  std::vector<at::Tensor> all;
  for (int i = 0; i < place_.world_size; ++i) all.push_back(at::empty({1}, at::kDouble));
  RS_TRY_VOID(job_.all->allgather(all, at::full({1}, mine, at::kDouble), "pace").wait());
  for (const auto& value : all) mine = std::max(mine, value.item<double>());
  return mine;
}

// The nominal time of a step is that of a rank: all ranks together have it as often as there are ranks.
void PipelineTraining::build_stages(const SplitModel& split, double pace) {
  const nanoseconds of_all{static_cast<std::int64_t>(pace * 1e6 * place_.world_size)};
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
  if (job_.forward != nullptr) {
    links = std::make_unique<PipelineLinks>(pipeline_, place_.rank, PipelineGroups{*job_.forward, *job_.backward},
                                            split.shapes, options_.dtype == DataType::f64 ? at::kDouble : at::kFloat);
  }
  run_ = std::make_unique<PipelineRun>(pipeline_, place_.rank, std::move(stages), std::move(links), pacer_);
}

Result<void> PipelineTraining::prepare() {
  const ModelOptions model_options = deep_enough(options_.model, pipeline_.stages());
  RS_TRY(const auto model, build_model(model_options, source_.shape(), options_.dtype, options_.seed));
  const Inputs inputs = first_micro_batch(source_, options_, samples_of_micro_batch());
  RS_TRY(SplitModel split, split_model(*model, pipeline_, options_, place_.rank, inputs.data));
  if (!options_.dump_gradients.empty() && place_.rank == 0) {
    RS_TRY(dump_, GradientDump::open(options_.dump_gradients));
  }
  RS_TRY(const double pace, pace_milliseconds(*model, inputs));
  build_stages(split, pace);
  describe_run(split, pace);
  parameters_ = std::move(split.parameters);
  if (needs_samples()) loader_.emplace(source_, plan_.loading, options_.data.workers);
  return {};
}

std::vector<Inputs> PipelineTraining::load(nanoseconds delay) {
  if (!loader_) return {};
  annotate::Span span{Kind::data, "data"};
  const Batch batch = loader_->next();
  if (delay.count() > 0) std::this_thread::sleep_for(delay);
  return cut_batch(inputs_of(batch, source_.shape(), options_.dtype), pipeline_.micro_batches);
}

void PipelineTraining::update() {
  annotate::Span span{Kind::optimizer, "optimizer"};
  pacer_.begin();
  optimizer_->step();
  optimizer_->zero_grad();
  pacer_.part_done(optimizer_time_);
}

Result<void> PipelineTraining::step(std::int64_t index) {
  annotate::Span span{Kind::step, "step"};
  span.with("index", index);
  // Nothing is cleaned up: a lost rank does not say goodbye either.
  if (faults_.exits(index)) _exit(3);
  if (faults_.kills(index)) kill(getpid(), SIGKILL);
  // Outside of all classified spans, as a garbage collection would be.
  if (const auto pause = faults_.pause(index); pause.count() > 0) std::this_thread::sleep_for(pause);
  pacer_.slow_down(faults_.compute_factor(index));
  const std::vector<Inputs> inputs = load(faults_.data_delay(index));
  RS_TRY_VOID(run_->step(inputs, faults_.comm_delay(index)));
  if (!options_.dump_gradients.empty()) RS_TRY_VOID(dump_gradients(index));
  update();
  RS_TRY_VOID(run_->finish_step());
  const bool all_losses = !options_.dump_gradients.empty();
  if (all_losses || (index + 1) % options_.log_every == 0 || index + 1 == plan_.steps) return report(index);
  return {};
}

// Rank 0 writes them all, so that the file is that of one process.
Result<void> PipelineTraining::dump_gradients(std::int64_t index) {
  std::map<std::string, at::Tensor> own;
  for (auto& [stage, paced] : run_->stages())
    for (const auto& parameter : paced.stage.blocks().named_parameters())
      own[parameter.key()] = parameter.value().grad();
  const auto type = options_.dtype == DataType::f64 ? at::kDouble : at::kFloat;
  std::vector<NamedTensor> all;
  for (const Parameter& parameter : parameters_) {
    const bool is_own = parameter.rank == place_.rank;
    const at::Tensor gradient = is_own ? own.at(parameter.name).clone() : at::empty(parameter.shape, type);
    if (job_.all != nullptr) RS_TRY_VOID(job_.all->broadcast(gradient, parameter.rank, "gradient to dump").wait());
    all.push_back({parameter.name, gradient});
  }
  return dump_ ? dump_->gradients(index, all) : Result<void>{};
}

Result<void> PipelineTraining::report(std::int64_t index) {
  RS_TRY(const Totals totals, totals_of_all(job_.all, run_->take_totals()));
  if (dump_) RS_TRY_VOID(dump_->loss(totals.loss / totals.count));
  progress_.report(index, totals, plan_.batch.global);
  return {};
}

std::string joined(const std::vector<std::size_t>& numbers) {
  std::string text;
  for (const std::size_t number : numbers) text += format("{}{}", text.empty() ? "" : ",", number);
  return text;
}

void PipelineTraining::describe_run(const SplitModel& split, double pace) const {
  note("schedule", pipeline_.schedule);
  note("micro_batches", std::to_string(pipeline_.micro_batches));
  note("stages", std::to_string(pipeline_.stages()));
  note("split", joined(split.sizes));
  note("pp_rank", std::to_string(place_.rank));
  describe({.options = options_,
            .place = place_,
            .plan = plan_,
            .source = source_,
            .parameters = split.parameter_count,
            .pace_ms = pace,
            .batch = format("{} micro-batches of {}; schedule {}, {} stages with {} blocks", pipeline_.micro_batches,
                            samples_of_micro_batch(), pipeline_.schedule, pipeline_.stages(), joined(split.sizes))});
}

Result<void> PipelineTraining::run(const MemoryObserver* memory) {
  if (job_.all != nullptr) RS_TRY_VOID(job_.all->barrier("start").wait());
  progress_.begin();
  for (std::int64_t index = 0; index < plan_.steps; ++index) {
    RS_TRY_VOID(step(index));
    if (memory == nullptr) continue;
    annotate::counter("allocated_bytes", static_cast<double>(memory->allocated_bytes()));
    annotate::counter("peak_allocated_bytes", static_cast<double>(memory->peak_bytes()));
  }
  progress_.end(plan_.steps, pacer_);
  // Rank 0 serves the store and stays until nobody needs it.
  if (job_.all != nullptr) return job_.all->barrier("end").wait();
  return {};
}

}  // namespace

Result<void> train_pipeline(const PipelineJob& job) {
  std::optional<MemoryObserver> memory;  // before the model, whose parameters count, too
  if (annotate::detail::api() != nullptr) memory.emplace();
  RS_TRY(const auto source, open_samples(job.options));
  RS_TRY(const RunPlan plan, plan_run(job.options, job.place, source->samples()));
  PipelineTraining training{job, *source, plan};
  RS_TRY_VOID(training.prepare());
  return training.run(memory ? &*memory : nullptr);
}

}  // namespace rankscope::trainer
