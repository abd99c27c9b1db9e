#include "engine/training.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <thread>

#include "engine/computation.h"
#include "engine/module_scope.h"
#include "engine/observers.h"
#include "engine/progress.h"
#include "engine/stage.h"
#include "engine/step_parts.h"
#include "engine/sync.h"
#include "rankscope/collectors/annotate.h"
#include "rankscope/core/format.h"
#include "rankscope/trainer/run_plan.h"
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

class Training {
 public:
  Training(const TrainingJob& job, std::unique_ptr<SampleSource> source, RunPlan plan, std::shared_ptr<Model> model)
      : options_(job.options),
        place_(job.place),
        comm_(job.comm),
        devices_(job.devices),
        source_(std::move(source)),
        plan_(plan),
        model_(std::move(model)),
        faults_(job.options.faults, job.place.rank),
        optimizer_(make_optimizer(model_->parameters(), job.options.optimizer)),
        loader_(*source_, plan_.loading, job.options.data.workers) {}

  Result<void> run(const MemoryObserver* memory);

 private:
  Result<void> prepare();
  Result<double> pace_milliseconds();
  Result<std::vector<std::shared_ptr<Model>>> parts_on_devices() const;
  Result<std::unique_ptr<Computation>> make_computation(const PaceSchedule& schedule,
                                                        const std::vector<std::shared_ptr<Model>>& parts);
  Result<void> step(std::int64_t index);
  Result<void> micro_step(std::int64_t index, int micro);
  Inputs load(std::chrono::nanoseconds delay);
  void update();
  void inject_end(std::int64_t index) const;
  Result<void> report(std::int64_t index);
  void describe_run(double pace) const;

  const TrainOptions& options_;
  const Placement& place_;
  Comm* comm_;
  DeviceUse devices_;
  std::unique_ptr<SampleSource> source_;
  RunPlan plan_;
  std::shared_ptr<Model> model_;
  FaultPlan faults_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  std::optional<Pacer> pacer_;
  std::unique_ptr<Computation> computation_;
  std::unique_ptr<GradientSync> sync_;
  std::unique_ptr<GradientDump> dump_;
  Totals totals_;  // of this rank since the last report
  Progress progress_;
  Loader loader_;
};

// Measured before step 0 on all ranks at once, since they disturb one another; the slowest decides for all.
Result<double> Training::pace_milliseconds() {
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const int busy = place_.local_world_size * (devices_ == DeviceUse::replicas ? options_.devices : 1);
  double mine = 0;
  switch (effective_pace(options_.pace, busy, cores)) {
    case PaceMode::off:
      break;
    case PaceMode::fixed:
      mine = options_.pace.milliseconds;
      break;
    case PaceMode::automatic: {
      Batch batch;
      for (std::int64_t i = 0; i < plan_.batch.per_device; ++i) source_->append(i, batch);
      const auto used = cpu_time_of_step(*model_, inputs_of(batch, source_->shape(), options_.dtype));
      mine = static_cast<double>(automatic_pace(used * options_.accumulate, busy, cores).count());
      break;
    }
  }
  if (comm_ == nullptr) return mine;
  std::vector<at::Tensor> all;
  for (int i = 0; i < comm_->group().size(); ++i) all.push_back(at::empty({1}, at::kDouble));
  RS_TRY_VOID(comm_->allgather(all, at::full({1}, mine, at::kDouble), "pace").wait());
  for (const auto& value : all) mine = std::max(mine, value.item<double>());
  return mine;
}

// The blocks of each device; the model itself where it is not spread.
Result<std::vector<std::shared_ptr<Model>>> Training::parts_on_devices() const {
  if (devices_ != DeviceUse::chain) return std::vector<std::shared_ptr<Model>>{model_};
  std::vector<double> work;
  for (const auto& block : model_->blocks()) work.push_back(block->work);
  RS_TRY(const auto sizes,
         split_blocks(options_.pipeline.split, block_shares(work), static_cast<std::size_t>(options_.devices),
                      {name_of(options_.model.kind), "devices", "--devices"}));
  return parts_of(*model_, sizes);
}

Result<std::unique_ptr<Computation>> Training::make_computation(const PaceSchedule& schedule,
                                                                const std::vector<std::shared_ptr<Model>>& parts) {
  const ComputationPlan plan{*model_, *pacer_, schedule, options_.accumulate};
  switch (devices_) {
    case DeviceUse::one:
      return compute_here(plan);
    case DeviceUse::chain:
      return compute_in_chain(plan, parts, place_.rank);
    case DeviceUse::replicas:
      break;
  }
  std::vector<std::shared_ptr<Model>> replicas;
  for (int device = 1; device < options_.devices; ++device) {
    RS_TRY(auto replica, build_model(options_.model, source_->shape(), options_.dtype, options_.seed));
    replicas.push_back(std::move(replica));
  }
  return compute_in_replicas(plan, std::move(replicas), place_.rank);
}

Result<void> Training::prepare() {
  RS_TRY(const double pace, pace_milliseconds());
  std::vector<double> work;
  for (const auto& block : model_->blocks()) work.push_back(block->work);
  const auto nominal = std::chrono::nanoseconds{static_cast<std::int64_t>(pace * 1e6)};
  const PaceSchedule schedule = pace_schedule(nominal, work, options_.accumulate);
  pacer_.emplace(schedule);
  RS_TRY(const auto parts, parts_on_devices());
  RS_TRY(computation_, make_computation(schedule, parts));  // its hooks run before those of the synchronization
  RS_TRY(sync_, make_sync(options_, parts, comm_));
  if (!options_.dump_gradients.empty() && place_.rank == 0) {
    RS_TRY(dump_, GradientDump::open(options_.dump_gradients));
  }
  describe_run(pace);
  return {};
}

Inputs Training::load(std::chrono::nanoseconds delay) {
  annotate::Span span{Kind::data, "data"};
  const Batch batch = loader_.next();
  if (delay.count() > 0) std::this_thread::sleep_for(delay);
  return inputs_of(batch, source_->shape(), options_.dtype);
}

void Training::update() {
  computation_->update([this] {
    annotate::Span span{Kind::optimizer, "optimizer"};
    pacer_->begin_optimizer();
    optimizer_->step();
    optimizer_->zero_grad();
    pacer_->optimizer_done();
  });
}

Result<void> Training::micro_step(std::int64_t index, int micro) {
  const Inputs inputs = load(micro == 0 ? faults_.data_delay(index) : std::chrono::nanoseconds{0});
  RS_TRY_VOID(sync_->before_forward(micro + 1 == options_.accumulate ? Reduction::now : Reduction::later));
  const Forward result = computation_->forward(inputs, index % 2 == 0);
  totals_.add(result, inputs.labels);
  RS_TRY_VOID(sync_->before_backward(result.loss));
  computation_->backward(result);
  return sync_->after_backward();
}

// Nothing is cleaned up: a lost rank does not say goodbye either.
void Training::inject_end(std::int64_t index) const {
  if (faults_.exits(index)) _exit(3);
  if (faults_.kills(index)) kill(getpid(), SIGKILL);
}

Result<void> Training::step(std::int64_t index) {
  annotate::Span span{Kind::step, "step"};
  span.with("index", index);
  inject_end(index);
  // Outside of all classified spans, as a garbage collection would be.
  if (const auto pause = faults_.pause(index); pause.count() > 0) std::this_thread::sleep_for(pause);
  pacer_->slow_down(faults_.compute_factor(index));
  computation_->slow_down(faults_.compute_factor(index));
  sync_->delay_last(faults_.comm_delay(index));
  for (int micro = 0; micro < options_.accumulate; ++micro) RS_TRY_VOID(micro_step(index, micro));
  if (dump_) RS_TRY_VOID(dump_->gradients(index, *model_));
  update();
  const bool all_losses = !options_.dump_gradients.empty();
  if (all_losses || (index + 1) % options_.log_every == 0 || index + 1 == plan_.steps) return report(index);
  return {};
}

Result<void> Training::report(std::int64_t index) {
  RS_TRY(const Totals totals, totals_of_all(comm_, std::exchange(totals_, {})));
  if (dump_) RS_TRY_VOID(dump_->loss(totals.loss / totals.count));
  progress_.report(index, totals, plan_.batch.global);
  return {};
}

void Training::describe_run(double pace) const {
  if (comm_ != nullptr) note("ddp_impl", options_.ddp.implementation == DdpImplementation::own ? "own" : "c10d");
  describe({.options = options_,
            .place = place_,
            .plan = plan_,
            .source = *source_,
            .parameters = model_->parameter_count(),
            .pace_ms = pace,
            .batch = format("{} per device x {} x {}", plan_.batch.per_device, counted(plan_.shares, "device"),
                            counted(options_.accumulate, "micro-step"))});
}

Result<void> Training::run(const MemoryObserver* memory) {
  RS_TRY_VOID(prepare());
  if (comm_ != nullptr) RS_TRY_VOID(comm_->barrier("start").wait());
  progress_.begin();
  for (std::int64_t index = 0; index < plan_.steps; ++index) {
    RS_TRY_VOID(step(index));
    if (memory == nullptr) continue;
    annotate::counter("allocated_bytes", static_cast<double>(memory->allocated_bytes()));
    annotate::counter("peak_allocated_bytes", static_cast<double>(memory->peak_bytes()));
  }
  computation_->finish();
  progress_.end(plan_.steps, *pacer_);
  // Rank 0 serves the store and stays until nobody needs it.
  if (comm_ != nullptr) return comm_->barrier("end").wait();
  return {};
}

}  // namespace

Result<void> train(const TrainingJob& job) {
  std::optional<MemoryObserver> memory;  // before the model, whose parameters count, too
  if (annotate::detail::api() != nullptr) memory.emplace();
  RS_TRY(auto source, open_samples(job.options));
  RS_TRY(const RunPlan plan, plan_run(job.options, job.place, source->samples()));
  const bool spread = job.devices == DeviceUse::chain;
  const ModelOptions wanted = spread ? deep_enough(job.options.model, job.options.devices) : job.options.model;
  RS_TRY(auto model, build_model(wanted, source->shape(), job.options.dtype, job.options.seed));
  name_modules(*model);
  return Training{job, std::move(source), plan, std::move(model)}.run(memory ? &*memory : nullptr);
}

}  // namespace rankscope::trainer
