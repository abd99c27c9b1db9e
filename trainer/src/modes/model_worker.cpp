#include "modes/model_worker.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "engine/data_parallel/sync.h"
#include "engine/data_parallel/tensor_gradients.h"
#include "engine/data_parallel/zero.h"
#include "engine/layers/batch_norm.h"
#include "engine/layers/module_scope.h"
#include "engine/models/image_layers.h"
#include "engine/note.h"
#include "engine/pipeline/stage.h"
#include "engine/step/computation.h"
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

BucketCaps caps_of(const TrainOptions& options) {
  return bucket_caps(options.ddp.bucket_mb, options.model.scale == Scale::tiny);
}

/// Statistics that all ranks take together are the same everywhere.
bool broadcasts_buffers(const TrainOptions& options, const ModelSharing& sharing) {
  return options.ddp.broadcast_buffers && sharing.norms == nullptr && sharing.tiles == nullptr;
}

Result<std::unique_ptr<GradientSync>> make_sync_of(const TrainOptions& options, const ModelSharing& sharing,
                                                   const Model& model) {
  const SyncOptions sync{.caps = caps_of(options),
                         .find_unused = options.ddp.find_unused,
                         .broadcast_buffers = broadcasts_buffers(options, sharing),
                         .keep_order = !options.checkpoints.folder.empty()};
  switch (options.ddp.implementation) {
    case DdpImplementation::own:
      return make_own_sync(model, *sharing.replicas, sync);
    case DdpImplementation::c10d:
      return make_c10d_sync(model, *sharing.replicas, sync);
  }
  return nullptr;
}

/// `parts` are the models of the devices; buckets never mix devices.
Result<std::unique_ptr<GradientSync>> make_sync(const TrainOptions& options, const ModelSharing& sharing,
                                                const std::vector<std::shared_ptr<Model>>& parts) {
  if (sharing.split.is_split()) return make_tensor_sync(*parts.front(), *sharing.split.comm);
  if (sharing.replicas == nullptr) return make_no_sync();
  std::vector<std::unique_ptr<GradientSync>> of_devices;
  for (const auto& part : parts) {
    RS_TRY(auto sync, make_sync_of(options, sharing, *part));
    of_devices.push_back(std::move(sync));
  }
  if (of_devices.size() == 1) return std::move(of_devices.front());
  return make_device_sync(std::move(of_devices));
}

void describe_split(const TensorSplit& split) {
  note("tp_rank", std::to_string(split.part()));
  note("tp_size", std::to_string(split.parts()));
  note("sequence_parallel", split.splits_sequence() ? "yes" : "no");
}

class ModelWorker final : public Worker {
 public:
  ModelWorker(const WorkerPlan& plan, ModelSharing sharing, std::shared_ptr<Model> model)
      : options_(plan.options),
        setting_(plan),
        sharing_(std::move(sharing)),
        model_(std::move(model)),
        stage_(plan.options.mode->zero),
        feed_(plan.source, plan.plan.loading, plan.options, device_of(plan.place)) {}

  Result<void> prepare();

  WorkerDescription describe() const override;
  void begin_at(std::int64_t step) override { feed_.skip(step * options_.accumulate); }
  void slow_down(double factor) override;
  Result<void> gradients(std::int64_t index, const StepFaults& faults) override;
  Result<std::vector<NamedTensor>> all_gradients() override;
  Result<void> update(double rate) override;
  Result<void> begin_evaluation() override;
  Result<Totals> evaluate(const Inputs& samples, std::int64_t counted) override;
  Replicated replicated() override;
  Result<TrainingState> state() override;
  Result<void> restore(const std::vector<at::Tensor>& values, std::int64_t steps) override;
  Totals take_totals() override { return std::exchange(totals_, {}); }
  std::vector<std::chrono::nanoseconds> device_times() const override { return computation_->device_times(); }
  const Pacer& finish() override;

 private:
  Result<std::vector<std::shared_ptr<Model>>> parts_on_devices() const;
  std::vector<at::Device> devices() const;
  Result<std::unique_ptr<Computation>> make_computation(const PaceSchedule& schedule,
                                                        const std::vector<std::shared_ptr<Model>>& parts);
  Result<void> share_layers(const Inputs& samples);
  std::string batch_text() const;
  Inputs load(std::chrono::nanoseconds delay);
  double work_of(const Inputs& inputs) const;
  void set_work(double share);
  Result<void> prepare_zero(const PaceSchedule& schedule);
  Result<void> micro_step(std::int64_t index, int micro, const StepFaults& faults);

  const TrainOptions& options_;
  const WorkerPlan& setting_;
  ModelSharing sharing_;
  std::shared_ptr<Model> model_;
  std::optional<FlatOptimizer> optimizer_;  // of stage none
  ZeroStage stage_;
  ZeroSync* zero_ = nullptr;  // sync_, of the other stages
  double pace_ms_ = 0;
  std::optional<Pacer> pacer_;
  std::unique_ptr<GradientSync> sync_;
  std::unique_ptr<Computation> computation_;  // may use sync_
  Totals totals_;
  SampleFeed feed_;
};

// The blocks of each device; the model itself where it is not spread.
Result<std::vector<std::shared_ptr<Model>>> ModelWorker::parts_on_devices() const {
  if (sharing_.devices != DeviceUse::chain) return std::vector<std::shared_ptr<Model>>{model_};
  RS_TRY(const auto sizes, split_blocks(options_.pipeline.split, block_shares(work_of_blocks(*model_)),
                                        static_cast<std::size_t>(options_.devices),
                                        {name_of(options_.model.kind), "devices", "--devices"}));
  auto parts = parts_of(*model_, sizes);
  if (!setting_.place.gpu) return parts;
  std::vector<at::Device> of_blocks;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const at::Device device = device_of(setting_.place, static_cast<int>(i));
    move_to(*parts[i], device);
    of_blocks.insert(of_blocks.end(), sizes[i], device);
  }
  model_->spread(std::move(of_blocks));
  return parts;
}

std::vector<at::Device> ModelWorker::devices() const {
  std::vector<at::Device> all;
  for (int i = 0; i < options_.devices; ++i) all.push_back(device_of(setting_.place, i));
  return all;
}

Result<std::unique_ptr<Computation>> ModelWorker::make_computation(const PaceSchedule& schedule,
                                                                   const std::vector<std::shared_ptr<Model>>& parts) {
  const ComputationPlan plan{*model_, *pacer_, schedule, options_.accumulate, devices()};
  switch (sharing_.devices) {
    case DeviceUse::one:
      return compute_here(plan);
    case DeviceUse::chain:
      return compute_in_chain(plan, parts, setting_.place.rank);
    case DeviceUse::replicas:
      break;
  }
  std::vector<std::shared_ptr<Model>> replicas;
  for (int device = 1; device < options_.devices; ++device) {
    RS_TRY(auto replica, build_model(options_.model, setting_.source.shape(), options_.dtype, options_.seed));
    move_to(*replica, device_of(setting_.place, device));
    replicas.push_back(std::move(replica));
  }
  return compute_in_replicas(plan, replicas, setting_.place.rank);
}

Result<void> ModelWorker::prepare() {
  const int busy = setting_.place.local_world_size * (sharing_.devices == DeviceUse::replicas ? options_.devices : 1);
  const Inputs samples = on_device(device_of(setting_.place),
                                   first_samples(setting_.source, setting_.plan.batch.per_device, options_.dtype));
  const int parts_of_batch = sharing_.tiles ? sharing_.tiles->group().group().size() : 1;
  RS_TRY(pace_ms_, nominal_pace(setting_, busy, [&] {
           const auto used = cpu_time_of_step(*model_, samples) * options_.accumulate / parts_of_batch;
           return stage_ == ZeroStage::parameters ? used * 4 / 3 : used;  // backward computes forward again
         }));
  RS_TRY_VOID(share_layers(samples));
  const auto nominal = std::chrono::nanoseconds{static_cast<std::int64_t>(pace_ms_ * 1e6)};
  const PaceSchedule schedule = pace_schedule(nominal, work_of_blocks(*model_), options_.accumulate);
  // What a thread waits for others within its part of the work; the devices of a chain share one pacer over threads.
  const bool shares_layers = sharing_.split.is_split() || sharing_.tiles || sharing_.norms != nullptr;
  const bool waits_in_layers = sharing_.devices == DeviceUse::one && (shares_layers || stage_ == ZeroStage::gradients);
  pacer_.emplace(schedule, waits_in_layers ? time_waited : nullptr, paced_device());
  if (stage_ != ZeroStage::none) return prepare_zero(schedule);
  RS_TRY(const auto parts, parts_on_devices());
  RS_TRY(computation_, make_computation(schedule, parts));  // its hooks run before those of the synchronization
  RS_TRY(sync_, make_sync(options_, sharing_, parts));
  optimizer_.emplace(model_->parameters(), options_.optimizer);
  return {};
}

// Behind the measuring of the pace: layers that are shared need the other ranks.
Result<void> ModelWorker::share_layers(const Inputs& samples) {
  if (sharing_.tiles) RS_TRY_VOID(spread_over_tiles(*model_, samples.data, sharing_.tiles));
  if (sharing_.norms != nullptr) synchronize_batch_norms(*model_, *sharing_.norms);
  return {};
}

Inputs ModelWorker::load(std::chrono::nanoseconds delay) {
  Inputs inputs = feed_.next(delay);
  if (sharing_.tiles) inputs.data = sharing_.tiles->own_part(inputs.data);
  return inputs;
}

Result<void> ModelWorker::prepare_zero(const PaceSchedule& schedule) {
  RS_TRY(Zero zero, make_zero({*model_, *pacer_, schedule, options_.accumulate}, sharing_.replicas,
                              {.stage = stage_,
                               .caps = caps_of(options_),
                               .broadcast_buffers = broadcasts_buffers(options_, sharing_),
                               .optimizer = options_.optimizer}));
  zero_ = zero.sync.get();
  sync_ = std::move(zero.sync);
  computation_ = std::move(zero.computation);
  return {};
}

void ModelWorker::slow_down(double factor) {
  pacer_->slow_down(factor);
  computation_->slow_down(factor);
}

/// Against samples of full length.
double ModelWorker::work_of(const Inputs& inputs) const {
  const SampleShape shape = setting_.source.shape();
  return shape.is_ragged ? static_cast<double>(inputs.data.size(1)) / static_cast<double>(shape.sequence) : 1;
}

void ModelWorker::set_work(double share) {
  pacer_->set_work(share);
  computation_->set_work(share);
}

Result<void> ModelWorker::micro_step(std::int64_t index, int micro, const StepFaults& faults) {
  const Inputs inputs = load(faults.data);
  set_work(work_of(inputs));
  RS_TRY_VOID(sync_->before_forward(micro + 1 == options_.accumulate ? Reduction::now : Reduction::later));
  Forward result = computation_->forward(inputs, index % 2 == 0 ? Auxiliary::computed : Auxiliary::left_out);
  if (faults.nan_loss) result.loss = result.loss * std::numeric_limits<double>::quiet_NaN();
  totals_.add(result, inputs.labels);
  RS_TRY_VOID(check_finite(totals_, index, setting_.place.rank));
  RS_TRY_VOID(sync_->before_backward(result.loss));
  computation_->backward(result);
  return sync_->after_backward();
}

Result<void> ModelWorker::gradients(std::int64_t index, const StepFaults& faults) {
  sync_->delay_last(faults.comm);
  for (int micro = 0; micro < options_.accumulate; ++micro) {
    RS_TRY_VOID(micro_step(index, micro, micro == 0 ? faults : StepFaults{}));
  }
  return {};
}

Result<std::vector<NamedTensor>> ModelWorker::all_gradients() {
  if (zero_ != nullptr) return zero_->gradients();
  std::vector<NamedTensor> all = gradients_of(*model_);
  if (!sharing_.split.is_split()) return all;
  for (auto& [name, gradient] : all) {
    RS_TRY(gradient, put_together(gradient, model_->part_of(name), *sharing_.split.comm, "gradient to dump"));
  }
  return all;
}

Result<void> ModelWorker::update(double rate) {
  set_work(1);
  if (zero_ != nullptr) {
    zero_->owned().optimizer.scale_rate(rate);
    return zero_->update(*pacer_);
  }
  optimizer_->scale_rate(rate);
  computation_->update([this] {
    annotate::Span span{Kind::optimizer, "optimizer"};
    pacer_->begin_optimizer();
    optimizer_->step_with_gradients(model_->parameters());
    pacer_->optimizer_done();
  });
  return {};
}

Result<void> ModelWorker::begin_evaluation() {
  if (sharing_.replicas == nullptr || !broadcasts_buffers(options_, sharing_)) return {};
  const bool is_on_one_device = !setting_.place.gpu || sharing_.devices != DeviceUse::chain;
  if (is_on_one_device) return broadcast_buffers(*model_, *sharing_.replicas);
  for (const auto& block : model_->blocks()) RS_TRY_VOID(broadcast_buffers(*block, *sharing_.replicas));
  return {};
}

Result<Totals> ModelWorker::evaluate(const Inputs& samples, std::int64_t counted) {
  const Predicting predicting{*model_};
  Model& model = computation_->model();
  const at::Tensor data = sharing_.tiles ? sharing_.tiles->own_part(samples.data) : samples.data;
  const Model::Output output = model.forward(data, Auxiliary::left_out, [](std::size_t) {});
  return totals_of_first(model, output.logits, samples, counted);
}

// The first two stages of ZeRO have whole parameters, too, but each update takes them from the ranks that own them.
Replicated ModelWorker::replicated() {
  if (sharing_.replicas == nullptr || zero_ != nullptr) return {};
  return {.group = sharing_.replicas, .tensors = model_->parameters()};
}

Result<TrainingState> ModelWorker::state() {
  TrainingState state;
  if (zero_ != nullptr) {
    const ZeroSync::Owned own = zero_->owned();
    const int rank = sharing_.replicas == nullptr ? 0 : sharing_.replicas->group().position;
    add_sharded(state, *model_, {own.layout, rank}, own.parameters, own.optimizer);
  } else {
    add_whole(state, *model_, *optimizer_, {});
  }
  add_buffers(state, *model_, setting_.place.rank == 0);
  return state;
}

Result<void> ModelWorker::restore(const std::vector<at::Tensor>& values, std::int64_t steps) {
  std::size_t next = 0;
  if (zero_ != nullptr) {
    const ZeroSync::Owned own = zero_->owned();
    const int rank = sharing_.replicas == nullptr ? 0 : sharing_.replicas->group().position;
    RS_TRY_VOID(restore_sharded(values, next, {own.layout, rank}, own.parameters, own.optimizer, steps));
    RS_TRY_VOID(zero_->parameters_were_set());
  } else {
    RS_TRY_VOID(restore_whole(values, next, *model_, *optimizer_, steps));
  }
  restore_buffers(values, next, *model_);
  return {};
}

std::string ModelWorker::batch_text() const {
  std::string text = format("{} ", setting_.plan.batch.per_device);
  if (sharing_.tiles) {
    text += format("(each cut into {} x {} tiles)", sharing_.tiles->count(row_dimension),
                   sharing_.tiles->count(column_dimension));
  } else if (sharing_.split.is_split()) {
    text += format("on all {} ranks", sharing_.split.parts());
  } else {
    text += format("per device x {}", counted(setting_.plan.shares, "device"));
  }
  return text + format(" x {}", counted(options_.accumulate, "micro-step"));
}

WorkerDescription ModelWorker::describe() const {
  if (sharing_.tiles) sharing_.tiles->describe();
  if (sharing_.split.is_split()) describe_split(sharing_.split);
  if (sharing_.norms != nullptr) note("sync_batch_norm", "yes");
  if (zero_ != nullptr) {
    note("zero_stage", std::to_string(static_cast<int>(stage_)));
  } else if (sharing_.replicas != nullptr) {
    note("ddp_impl", options_.ddp.implementation == DdpImplementation::own ? "own" : "c10d");
  }
  return {.parameters = model_->parameter_count(), .pace_ms = pace_ms_, .batch = batch_text()};
}

const Pacer& ModelWorker::finish() {
  computation_->finish();
  return *pacer_;
}

}  // namespace

Result<std::unique_ptr<Worker>> make_model_worker(const WorkerPlan& plan, ModelSharing sharing) {
  const TrainOptions& options = plan.options;
  const bool spread = sharing.devices == DeviceUse::chain;
  const ModelOptions wanted = spread ? deep_enough(options.model, options.devices) : options.model;
  RS_TRY(auto model, build_model(wanted, plan.source.shape(), options.dtype, options.seed, sharing.split));
  RS_TRY_VOID(note_predicted(plan, *model));
  name_modules(*model);
  if (!spread) move_to(*model, device_of(plan.place));
  auto worker = std::make_unique<ModelWorker>(plan, std::move(sharing), std::move(model));
  RS_TRY_VOID(worker->prepare());
  return worker;
}

}  // namespace rankscope::trainer
