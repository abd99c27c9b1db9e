#include "engine/model_worker.h"

#include <algorithm>
#include <optional>

#include "engine/computation.h"
#include "engine/module_scope.h"
#include "engine/nominal_pace.h"
#include "engine/sample_feed.h"
#include "engine/stage.h"
#include "engine/sync.h"
#include "engine/zero.h"
#include "rankscope/collectors/annotate.h"
#include "rankscope/core/format.h"
#include "rankscope/trainer/stage_split.h"

namespace rankscope::trainer {
namespace {

using annotate::Kind;

BucketCaps bucket_caps(const TrainOptions& options) {
  constexpr double mib = 1024.0 * 1024.0;
  const bool tiny = options.model.scale == Scale::tiny;
  const double size = options.ddp.bucket_mb > 0 ? options.ddp.bucket_mb : (tiny ? 0.5 : 25.0);
  const double first = std::min(1.0, size / 4);
  return {.first_bytes = static_cast<std::size_t>(first * mib), .bytes = static_cast<std::size_t>(size * mib)};
}

Result<std::unique_ptr<GradientSync>> make_sync_of(const TrainOptions& options, const Model& model, Comm& comm) {
  const SyncOptions sync{bucket_caps(options), options.ddp.find_unused, options.ddp.broadcast_buffers};
  switch (options.ddp.implementation) {
    case DdpImplementation::own:
      return make_own_sync(model, comm, sync);
    case DdpImplementation::c10d:
      return make_c10d_sync(model, comm, sync);
  }
  return nullptr;
}

/// `parts` are the models of the devices; buckets never mix devices.
Result<std::unique_ptr<GradientSync>> make_sync(const TrainOptions& options,
                                                const std::vector<std::shared_ptr<Model>>& parts, Comm* comm) {
  if (comm == nullptr) return make_no_sync();
  std::vector<std::unique_ptr<GradientSync>> of_devices;
  for (const auto& part : parts) {
    RS_TRY(auto sync, make_sync_of(options, *part, *comm));
    of_devices.push_back(std::move(sync));
  }
  if (of_devices.size() == 1) return std::move(of_devices.front());
  return make_device_sync(std::move(of_devices));
}

class ModelWorker final : public Worker {
 public:
  ModelWorker(const WorkerPlan& plan, Comm* replicas, DeviceUse devices, std::shared_ptr<Model> model)
      : options_(plan.options),
        setting_(plan),
        replicas_(replicas),
        devices_(devices),
        model_(std::move(model)),
        optimizer_(make_optimizer(model_->parameters(), plan.options.optimizer)),
        stage_(zero_stage(plan.options.mode)),
        feed_(plan.source, plan.plan.loading, plan.options) {}

  Result<void> prepare();

  WorkerDescription describe() const override;
  void slow_down(double factor) override;
  Result<void> gradients(std::int64_t index, const StepDelays& delays) override;
  Result<std::vector<NamedTensor>> all_gradients() override;
  Result<void> update() override;
  Totals take_totals() override { return std::exchange(totals_, {}); }
  const Pacer& finish() override;

 private:
  Result<std::vector<std::shared_ptr<Model>>> parts_on_devices() const;
  Result<std::unique_ptr<Computation>> make_computation(const PaceSchedule& schedule,
                                                        const std::vector<std::shared_ptr<Model>>& parts);
  Result<void> prepare_zero(const PaceSchedule& schedule);
  Result<void> micro_step(std::int64_t index, int micro, std::chrono::nanoseconds data_delay);

  const TrainOptions& options_;
  const WorkerPlan& setting_;
  Comm* replicas_;
  DeviceUse devices_;
  std::shared_ptr<Model> model_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;  // of stage none
  ZeroStage stage_;
  ZeroSync* zero_ = nullptr;  // sync_, of the other stages
  double pace_ms_ = 0;
  std::optional<Pacer> pacer_;
  std::unique_ptr<Computation> computation_;
  std::unique_ptr<GradientSync> sync_;
  Totals totals_;
  SampleFeed feed_;
};

// The blocks of each device; the model itself where it is not spread.
Result<std::vector<std::shared_ptr<Model>>> ModelWorker::parts_on_devices() const {
  if (devices_ != DeviceUse::chain) return std::vector<std::shared_ptr<Model>>{model_};
  RS_TRY(const auto sizes, split_blocks(options_.pipeline.split, block_shares(work_of_blocks(*model_)),
                                        static_cast<std::size_t>(options_.devices),
                                        {name_of(options_.model.kind), "devices", "--devices"}));
  return parts_of(*model_, sizes);
}

Result<std::unique_ptr<Computation>> ModelWorker::make_computation(const PaceSchedule& schedule,
                                                                   const std::vector<std::shared_ptr<Model>>& parts) {
  const ComputationPlan plan{*model_, *pacer_, schedule, options_.accumulate};
  switch (devices_) {
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
    replicas.push_back(std::move(replica));
  }
  return compute_in_replicas(plan, std::move(replicas), setting_.place.rank);
}

Result<void> ModelWorker::prepare() {
  const int busy = setting_.place.local_world_size * (devices_ == DeviceUse::replicas ? options_.devices : 1);
  RS_TRY(pace_ms_, nominal_pace(setting_, busy, [&] {
           const Inputs inputs = first_samples(setting_.source, setting_.plan.batch.per_device, options_.dtype);
           const auto used = cpu_time_of_step(*model_, inputs) * options_.accumulate;
           return stage_ == ZeroStage::parameters ? used * 4 / 3 : used;  // backward computes forward again
         }));
  const auto nominal = std::chrono::nanoseconds{static_cast<std::int64_t>(pace_ms_ * 1e6)};
  const PaceSchedule schedule = pace_schedule(nominal, work_of_blocks(*model_), options_.accumulate);
  pacer_.emplace(schedule);
  if (stage_ != ZeroStage::none) return prepare_zero(schedule);
  RS_TRY(const auto parts, parts_on_devices());
  RS_TRY(computation_, make_computation(schedule, parts));  // its hooks run before those of the synchronization
  RS_TRY(sync_, make_sync(options_, parts, replicas_));
  return {};
}

Result<void> ModelWorker::prepare_zero(const PaceSchedule& schedule) {
  RS_TRY(Zero zero, make_zero({*model_, *pacer_, schedule, options_.accumulate}, replicas_,
                              {.stage = stage_,
                               .caps = bucket_caps(options_),
                               .broadcast_buffers = options_.ddp.broadcast_buffers,
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

Result<void> ModelWorker::micro_step(std::int64_t index, int micro, std::chrono::nanoseconds data_delay) {
  const Inputs inputs = feed_.next(data_delay);
  RS_TRY_VOID(sync_->before_forward(micro + 1 == options_.accumulate ? Reduction::now : Reduction::later));
  const Forward result = computation_->forward(inputs, index % 2 == 0);
  totals_.add(result, inputs.labels);
  RS_TRY_VOID(sync_->before_backward(result.loss));
  computation_->backward(result);
  return sync_->after_backward();
}

Result<void> ModelWorker::gradients(std::int64_t index, const StepDelays& delays) {
  sync_->delay_last(delays.comm);
  for (int micro = 0; micro < options_.accumulate; ++micro) {
    RS_TRY_VOID(micro_step(index, micro, micro == 0 ? delays.data : std::chrono::nanoseconds{0}));
  }
  return {};
}

Result<std::vector<NamedTensor>> ModelWorker::all_gradients() {
  return zero_ != nullptr ? zero_->gradients() : gradients_of(*model_);
}

Result<void> ModelWorker::update() {
  if (zero_ != nullptr) return zero_->update(*pacer_);
  computation_->update([this] {
    annotate::Span span{Kind::optimizer, "optimizer"};
    pacer_->begin_optimizer();
    optimizer_->step();
    optimizer_->zero_grad();
    pacer_->optimizer_done();
  });
  return {};
}

WorkerDescription ModelWorker::describe() const {
  if (zero_ != nullptr)
    note("zero_stage", std::to_string(static_cast<int>(stage_)));
  else if (replicas_ != nullptr)
    note("ddp_impl", options_.ddp.implementation == DdpImplementation::own ? "own" : "c10d");
  return {.parameters = model_->parameter_count(),
          .pace_ms = pace_ms_,
          .batch = format("{} per device x {} x {}", setting_.plan.batch.per_device,
                          counted(setting_.plan.shares, "device"), counted(options_.accumulate, "micro-step"))};
}

const Pacer& ModelWorker::finish() {
  computation_->finish();
  return *pacer_;
}

}  // namespace

Result<std::unique_ptr<Worker>> make_model_worker(const WorkerPlan& plan, Comm* replicas, DeviceUse devices) {
  const TrainOptions& options = plan.options;
  const bool spread = devices == DeviceUse::chain;
  const ModelOptions wanted = spread ? deep_enough(options.model, options.devices) : options.model;
  RS_TRY(auto model, build_model(wanted, plan.source.shape(), options.dtype, options.seed));
  name_modules(*model);
  auto worker = std::make_unique<ModelWorker>(plan, replicas, devices, std::move(model));
  RS_TRY_VOID(worker->prepare());
  return worker;
}

}  // namespace rankscope::trainer
