#include "engine/training.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <thread>

#include "engine/module_scope.h"
#include "engine/observers.h"
#include "engine/step_parts.h"
#include "engine/sync.h"
#include "rankscope/collectors/annotate.h"
#include "rankscope/core/format.h"
#include "rankscope/trainer/log.h"
#include "rankscope/trainer/run_plan.h"

namespace rankscope::trainer {
namespace {

using annotate::Kind;
using Clock = std::chrono::steady_clock;

// Sums over samples (or tokens), which can be added over steps and ranks.
struct Totals {
  double loss = 0;
  double correct = 0;
  double count = 0;
};

BucketCaps bucket_caps(const TrainOptions& options) {
  constexpr double mib = 1024.0 * 1024.0;
  const bool tiny = options.model.scale == Scale::tiny;
  const double size = options.ddp.bucket_mb > 0 ? options.ddp.bucket_mb : (tiny ? 0.5 : 25.0);
  const double first = std::min(1.0, size / 4);
  return {.first_bytes = static_cast<std::size_t>(first * mib), .bytes = static_cast<std::size_t>(size * mib)};
}

Result<std::unique_ptr<GradientSync>> make_sync(const TrainOptions& options, const Model& model, Comm* comm) {
  if (comm == nullptr) return make_no_sync();
  const SyncOptions sync{bucket_caps(options), options.ddp.find_unused, options.ddp.broadcast_buffers};
  switch (options.ddp.implementation) {
    case DdpImplementation::own:
      return make_own_sync(model, *comm, sync);
    case DdpImplementation::c10d:
      return make_c10d_sync(model, *comm, sync);
  }
  return nullptr;
}

Result<std::unique_ptr<SampleSource>> open_samples(const TrainOptions& options) {
  if (!options.data.folder.empty()) return load_dataset(options.data);
  return synthetic_samples(fitting_shape(options.model), options.data.samples, options.seed);
}

class Training {
 public:
  Training(const TrainingJob& job, std::unique_ptr<SampleSource> source, RunPlan plan, std::shared_ptr<Model> model)
      : options_(job.options),
        place_(job.place),
        comm_(job.comm),
        source_(std::move(source)),
        plan_(plan),
        model_(std::move(model)),
        faults_(job.options.faults, job.place.rank),
        optimizer_(make_optimizer(*model_, job.options.optimizer)),
        loader_(*source_, plan_.loading, job.options.data.workers) {}

  Result<void> run(const MemoryObserver* memory);

 private:
  Result<void> prepare();
  Result<double> pace_milliseconds();
  Result<void> step(std::int64_t index);
  Result<void> micro_step(std::int64_t index, int micro);
  Inputs load(std::chrono::nanoseconds delay);
  at::Tensor forward(const Inputs& inputs, std::int64_t index);
  void backward(const at::Tensor& loss);
  void update();
  void inject_end(std::int64_t index) const;
  Result<Totals> totals_of_all_ranks();
  Result<void> report(std::int64_t index);
  void describe(double pace) const;
  void describe_end(Clock::duration time) const;

  const TrainOptions& options_;
  const Placement& place_;
  Comm* comm_;
  std::unique_ptr<SampleSource> source_;
  RunPlan plan_;
  std::shared_ptr<Model> model_;
  FaultPlan faults_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  std::optional<Pacer> pacer_;
  std::optional<BackwardPace> backward_pace_;
  std::unique_ptr<GradientSync> sync_;
  std::unique_ptr<GradientDump> dump_;
  Totals totals_;  // of this rank since the last report
  Clock::time_point reported_;
  std::int64_t steps_reported_ = 0;
  Loader loader_;
};

// Measured before step 0 on all ranks at once, since they disturb one another; the slowest decides for all.
Result<double> Training::pace_milliseconds() {
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  double mine = 0;
  switch (effective_pace(options_.pace, place_.local_world_size, cores)) {
    case PaceMode::off:
      break;
    case PaceMode::fixed:
      mine = options_.pace.milliseconds;
      break;
    case PaceMode::automatic: {
      Batch batch;
      for (std::int64_t i = 0; i < plan_.batch.per_device; ++i) source_->append(i, batch);
      const auto used = cpu_time_of_step(*model_, inputs_of(batch, source_->shape(), options_.dtype));
      mine = static_cast<double>(automatic_pace(used * options_.accumulate, place_.local_world_size, cores).count());
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

Result<void> Training::prepare() {
  RS_TRY(const double pace, pace_milliseconds());
  std::vector<double> work;
  for (const auto& block : model_->blocks()) work.push_back(block->work);
  const auto nominal = std::chrono::nanoseconds{static_cast<std::int64_t>(pace * 1e6)};
  pacer_.emplace(pace_schedule(nominal, work, options_.accumulate));
  backward_pace_.emplace(*model_, *pacer_);
  RS_TRY(sync_, make_sync(options_, *model_, comm_));
  if (!options_.dump_gradients.empty() && place_.rank == 0) {
    RS_TRY(dump_, GradientDump::open(options_.dump_gradients));
  }
  describe(pace);
  return {};
}

Inputs Training::load(std::chrono::nanoseconds delay) {
  annotate::Span span{Kind::data, "data"};
  const Batch batch = loader_.next();
  if (delay.count() > 0) std::this_thread::sleep_for(delay);
  return inputs_of(batch, source_->shape(), options_.dtype);
}

at::Tensor Training::forward(const Inputs& inputs, std::int64_t index) {
  annotate::Span span{Kind::forward, "forward"};
  pacer_->begin_forward();
  const bool with_auxiliary = index % 2 == 0;
  Forward result =
      run_forward(*model_, inputs, with_auxiliary, [this](std::size_t block) { pacer_->forward_done(block); });
  const torch::NoGradGuard no_grad;
  const auto count = static_cast<double>(inputs.labels.numel());
  totals_.loss += result.loss.item<double>() * count;
  totals_.correct += result.logits.argmax(1).eq(inputs.labels).sum().item<double>();
  totals_.count += count;
  return result.loss;
}

void Training::backward(const at::Tensor& loss) {
  annotate::Span span{Kind::backward, "backward"};
  backward_pace_->begin();
  (loss / options_.accumulate).backward();
}

void Training::update() {
  annotate::Span span{Kind::optimizer, "optimizer"};
  pacer_->begin_optimizer();
  optimizer_->step();
  optimizer_->zero_grad();
  pacer_->optimizer_done();
}

Result<void> Training::micro_step(std::int64_t index, int micro) {
  const Inputs inputs = load(micro == 0 ? faults_.data_delay(index) : std::chrono::nanoseconds{0});
  RS_TRY_VOID(sync_->before_forward(micro + 1 == options_.accumulate ? Reduction::now : Reduction::later));
  const at::Tensor loss = forward(inputs, index);
  RS_TRY_VOID(sync_->before_backward(loss));
  backward(loss);
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
  sync_->delay_last(faults_.comm_delay(index));
  for (int micro = 0; micro < options_.accumulate; ++micro) RS_TRY_VOID(micro_step(index, micro));
  if (dump_) RS_TRY_VOID(dump_->gradients(index, *model_));
  update();
  const bool all_losses = !options_.dump_gradients.empty();
  if (all_losses || (index + 1) % options_.log_every == 0 || index + 1 == plan_.steps) return report(index);
  return {};
}

Result<Totals> Training::totals_of_all_ranks() {
  const Totals mine = std::exchange(totals_, {});
  if (comm_ == nullptr) return mine;
  const at::Tensor sums = at::tensor({mine.loss, mine.correct, mine.count}, at::kDouble);
  RS_TRY_VOID(comm_->allreduce(sums, "loss").wait());
  const auto* const data = sums.data_ptr<double>();
  return Totals{data[0], data[1], data[2]};
}

Result<void> Training::report(std::int64_t index) {
  RS_TRY(const Totals totals, totals_of_all_ranks());
  if (dump_) RS_TRY_VOID(dump_->loss(totals.loss / totals.count));
  const auto now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - reported_).count();
  const auto steps = static_cast<double>(index + 1 - steps_reported_);
  log_progress(format("step {:>5}  loss {:.4f}  accuracy {:5.1f} %  {:.1f} ms/step  {:.0f} samples/s", index + 1,
                      totals.loss / totals.count, 100 * totals.correct / totals.count, 1000 * seconds / steps,
                      steps * static_cast<double>(plan_.batch.global) / seconds));
  reported_ = now;
  steps_reported_ = index + 1;
  return {};
}

void note(const char* key, const std::string& value) { annotate::metadata(key, value.c_str()); }

void Training::describe(double pace) const {
  const std::string faults = all_fault_texts(options_.faults);
  note("role", "trainer");
  note("parallel", options_.mode);
  if (comm_ != nullptr) note("ddp_impl", options_.ddp.implementation == DdpImplementation::own ? "own" : "c10d");
  note("model", name_of(options_.model.kind));
  note("parameters", std::to_string(model_->parameter_count()));
  note("global_batch", std::to_string(plan_.batch.global));
  note("batch_per_device", std::to_string(plan_.batch.per_device));
  note("accumulate", std::to_string(options_.accumulate));
  note("dtype", name_of(options_.dtype));
  note("data", source_->name());
  note("steps", std::to_string(plan_.steps));
  note("torch_version", RANKSCOPE_TORCH_VERSION);
  note("pace_ms", format("{}", pace));
  if (!faults.empty()) note("injected_faults", faults);
  log_progress(format("{} on {}: {} with {} parameters ({}), {} data of {} samples", options_.mode,
                      counted(place_.world_size, "rank"), name_of(options_.model.kind), model_->parameter_count(),
                      name_of(options_.dtype), source_->name(), source_->samples()));
  log_progress(format("global batch {} = {} per device x {} x {}; {}; {}", plan_.batch.global, plan_.batch.per_device,
                      counted(place_.world_size, "device"), counted(options_.accumulate, "micro-step"),
                      counted(plan_.steps, "step"),
                      pace > 0 ? format("paced: {} ms nominal compute per step", pace) : "unpaced"));
  if (!faults.empty()) log_progress(format("injected faults: {}", faults));
}

void Training::describe_end(Clock::duration time) const {
  note("pace_overruns", std::to_string(pacer_->overruns()));
  note("pace_longest_overrun_ns", std::to_string(pacer_->longest_overrun().count()));
  log_progress(format("done: {} steps in {:.2f} s{}", plan_.steps, std::chrono::duration<double>(time).count(),
                      pacer_->overruns() > 0
                          ? format("; {} blocks took longer than their nominal time, by {:.1f} ms at most",
                                   pacer_->overruns(), static_cast<double>(pacer_->longest_overrun().count()) / 1e6)
                          : ""));
}

Result<void> Training::run(const MemoryObserver* memory) {
  RS_TRY_VOID(prepare());
  if (comm_ != nullptr) RS_TRY_VOID(comm_->barrier("start").wait());
  const auto begin = reported_ = Clock::now();
  for (std::int64_t index = 0; index < plan_.steps; ++index) {
    RS_TRY_VOID(step(index));
    if (memory == nullptr) continue;
    annotate::counter("allocated_bytes", static_cast<double>(memory->allocated_bytes()));
    annotate::counter("peak_allocated_bytes", static_cast<double>(memory->peak_bytes()));
  }
  describe_end(Clock::now() - begin);
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
  RS_TRY(auto model, build_model(job.options.model, source->shape(), job.options.dtype, job.options.seed));
  name_modules(*model);
  return Training{job, std::move(source), plan, std::move(model)}.run(memory ? &*memory : nullptr);
}

}  // namespace rankscope::trainer
