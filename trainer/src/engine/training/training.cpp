#include "engine/training/training.h"

#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "engine/note.h"
#include "engine/step/devices.h"
#include "engine/step/sample_feed.h"
#include "engine/training/checkpoints.h"
#include "engine/training/observers.h"
#include "engine/worker/worker.h"
#include "rankscope/collectors/annotate.h"
#include "rankscope/core/format.h"
#include "rankscope/trainer/launch/cpu_features.h"
#include "rankscope/trainer/launch/log.h"
#include "rankscope/trainer/plan/device_use.h"

namespace rankscope::trainer {
namespace {

// Loss and accuracy over samples that are not trained on.

class Validation {
 public:
  /// Null where the options ask for none. The samples are those behind the ones trained on where they are generated,
  /// else the test part of the data set.
  [[nodiscard]] static Result<std::unique_ptr<Validation>> plan(const WorkerPlan& plan);

  /// A pass over all samples where one is due after so many steps; all ranks call it. The means are those over the
  /// samples of all ranks, however they are shared.
  [[nodiscard]] Result<void> after_step(std::int64_t done, Worker& worker);

 private:
  Validation(const WorkerPlan& plan, std::unique_ptr<SampleSource> source, std::int64_t samples);

  struct Part {
    Inputs inputs;
    std::int64_t counted = 0;  ///< of the first samples; the others only fill the batch
  };
  [[nodiscard]] std::int64_t parts() const;
  [[nodiscard]] Part part(std::int64_t index) const;

  const WorkerPlan& plan_;
  std::unique_ptr<SampleSource> source_;
  std::int64_t samples_;
  std::int64_t batch_;  // samples of a part
};

constexpr std::int64_t usual_samples = 512;

Validation::Validation(const WorkerPlan& plan, std::unique_ptr<SampleSource> source, std::int64_t samples)
    : plan_(plan), source_(std::move(source)), samples_(samples), batch_(plan.plan.batch.per_device) {
  if (plan_.plan.pipeline) batch_ /= plan_.plan.pipeline->micro_batches;  // for which its stages have shapes
}

Result<std::unique_ptr<Validation>> Validation::plan(const WorkerPlan& plan) {
  const ValidationOptions& options = plan.options.validation;
  if (options.every == 0) return nullptr;
  RS_TRY(auto source, open_validation_samples(plan.options));
  if (source->shape() != plan.source.shape()) {
    return fail(ErrorKind::unreadable,
                format("{}: the shape of the images in the test set is different from that in the training set",
                       plan.source.name()));
  }
  const std::int64_t there = source->samples();
  if (options.samples > there) {
    return fail(ErrorKind::usage,
                format("--validation-samples {}: the validation set has only {}", options.samples, there));
  }
  const std::int64_t samples = options.samples > 0 ? options.samples : std::min(usual_samples, there);
  return std::unique_ptr<Validation>{new Validation{plan, std::move(source), samples}};
}

// As many for each share, so that ranks that need one another for a forward call it equally often.
std::int64_t Validation::parts() const {
  const std::int64_t at_once = batch_ * plan_.plan.loading.sampler.ranks;
  return (samples_ + at_once - 1) / at_once;
}

Validation::Part Validation::part(std::int64_t index) const {
  const DistributedSampler& share = plan_.plan.loading.sampler;
  Batch batch;
  std::int64_t counted = 0;
  for (std::int64_t i = 0; i < batch_; ++i) {
    const std::int64_t sample = (index * batch_ + i) * share.ranks + share.rank;
    source_->append(sample % samples_, batch);
    if (sample < samples_) ++counted;
  }
  return {on_device(device_of(plan_.place), inputs_of(batch, source_->shape(), plan_.options.dtype)), counted};
}

Result<void> Validation::after_step(std::int64_t done, Worker& worker) {
  if (done % plan_.options.validation.every != 0 && done != plan_.plan.steps) return {};
  annotate::Span span{annotate::Kind::user, "validation"};
  RS_TRY_VOID(worker.begin_evaluation());
  Totals totals;
  for (std::int64_t index = 0; index < parts(); ++index) {
    const Part samples = part(index);
    RS_TRY(const Totals more, worker.evaluate(samples.inputs, samples.counted));
    totals.add(more);
  }
  RS_TRY(totals, totals_of_all(plan_.everybody, totals, "validation"));
  const double loss = totals.loss / totals.count;
  const double accuracy = totals.correct / totals.count;
  annotate::counter("validation_loss", loss);
  annotate::counter("validation_accuracy", accuracy);
  log_progress(format("validation after step {:>5}  loss {:.4f}  accuracy {:5.1f} %  of {}", done, loss, 100 * accuracy,
                      counted(samples_, "sample")));
  return {};
}

// Whether ranks that should have the same parameters have them.

constexpr std::int64_t flipped_bit = 1 << 20;  // of the fraction: the value stays finite and close

at::ScalarType bits_of(const at::Tensor& tensor) { return tensor.element_size() == 8 ? at::kLong : at::kInt; }

/// Wraps around; any single flipped bit changes it.
std::int64_t checksum_of(const std::vector<at::Tensor>& tensors) {
  const torch::NoGradGuard no_grad;
  std::uint64_t sum = 0;
  for (const at::Tensor& tensor : tensors) {
    const auto own = tensor.detach().contiguous().view(bits_of(tensor)).sum(at::kLong).item<std::int64_t>();
    sum = sum * 31 + static_cast<std::uint64_t>(own);
  }
  return static_cast<std::int64_t>(sum);
}

std::string named(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i)
    text += format("{}{}", i == 0 ? "" : i + 1 == ranks.size() ? " and " : ", ", ranks[i]);
  return text;
}

/// Compares a checksum of what this rank has with those of the others of its group; all of them call it. The error
/// names the ranks that differ from the most, or all of them where there is no majority; all get it, and that of the
/// others than the first one has no text, so that it is said once. `done`: steps so far.
Result<void> check_replicas(const Replicated& own, std::int64_t done) {
  if (own.group == nullptr) return {};
  const Group& group = own.group->group();
  const at::Tensor sums = at::zeros({group.size()}, at::kLong);
  RS_TRY_VOID(own.group->allgather_flat(sums, at::full({1}, checksum_of(own.tensors), at::kLong), "checksums").wait());
  std::map<std::int64_t, std::vector<int>> ranks_of;  // by checksum
  for (int i = 0; i < group.size(); ++i)
    ranks_of[sums[i].item<std::int64_t>()].push_back(group.members[static_cast<std::size_t>(i)]);
  if (ranks_of.size() == 1) return {};
  if (group.position != 0) return fail(ErrorKind::not_computable, "");
  const auto most = std::ranges::max_element(ranks_of, {}, [](const auto& row) { return row.second.size(); });
  const bool is_majority = 2 * most->second.size() > group.members.size();
  std::vector<int> odd;
  for (const auto& row : ranks_of)
    if (!is_majority || row.first != most->first) odd.insert(odd.end(), row.second.begin(), row.second.end());
  std::ranges::sort(odd);
  const std::string which = is_majority ? format("{} differ{} from the other {} ranks", named(odd),
                                                 odd.size() == 1 ? "s" : "", most->second.size())
                                        : format("{} differ, and nothing shows which of them is right", named(odd));
  std::string message = format(
      "after {} the copies of the model are not the same: {}; memory was corrupted, or an update "
      "differed between ranks; continue from a checkpoint with --resume",
      counted(done, "step"), which);
  // For `rankscope hang`: why the ranks end.
  std::string ranks;
  for (const int rank : odd) ranks += format("{}{}", ranks.empty() ? "" : ", ", rank);
  annotate::metadata("problem", "replicas_differ");
  annotate::metadata("problem_ranks", ranks.c_str());
  annotate::metadata("problem_step", std::to_string(done - 1).c_str());
  annotate::metadata("last_words", message.c_str());
  return fail(ErrorKind::not_computable, std::move(message));
}

/// Flips one bit of the first parameter: an injected fault.
void corrupt(const Replicated& own) {
  const torch::NoGradGuard no_grad;
  RS_CHECK(!own.tensors.empty());
  const at::Tensor& tensor = own.tensors.front();
  const at::Tensor first = tensor.detach().view(bits_of(tensor)).flatten().narrow(0, 0, 1);
  first.bitwise_xor_(flipped_bit);
}

/// What a run says about itself before its first step, in the recording and in the log.
void describe(const WorkerPlan& run, const WorkerDescription& worker) {
  const TrainOptions& options = run.options;
  const std::string faults = all_fault_texts(options.faults);
  note("role", "trainer");
  note("parallel", std::string{options.mode->name});
  note("model", name_of(options.model.kind));
  note("parameters", std::to_string(worker.parameters));
  note("global_batch", std::to_string(run.plan.batch.global));
  note("batch_per_device", std::to_string(run.plan.batch.per_device));
  note("accumulate", std::to_string(options.accumulate));
  note("dtype", name_of(options.dtype));
  note("data", run.source.name());
  if (options.data.lengths.vary()) note("seq_dist", text_of(options.data.lengths));
  note("steps", std::to_string(run.plan.steps));
  note("torch_version", RANKSCOPE_TORCH_VERSION);
  note("pace_ms", format("{}", worker.pace_ms));
  if (!faults.empty()) note("injected_faults", faults);
  log_progress(format("{} on {}: {} with {} parameters ({}), {} data of {} samples", options.mode->name,
                      counted(run.place.world_size, "rank"), name_of(options.model.kind), worker.parameters,
                      name_of(options.dtype), run.source.name(), run.source.samples()));
  log_progress(
      format("global batch {} = {}; {}; {}", run.plan.batch.global, worker.batch, counted(run.plan.steps, "step"),
             worker.pace_ms > 0 ? format("paced: {} ms of nominal compute per step", worker.pace_ms) : "not paced"));
  if (options.dtype == DataType::bf16 && !run.place.gpu && !computes_bf16(cpu_features())) {
    log_progress(
        "this processor has no instructions for bf16 (avx512_bf16, amx_bf16 or Arm's bf16): this does not change the "
        "results of bf16, but steps take longer than with --dtype f32");
  }
  if (!faults.empty()) log_progress(format("injected faults: {}", faults));
}

/// How long each device of the run has computed, for the log after the last step.
class DeviceTimes {
 public:
  /// Steps begin now, on the calling thread.
  void begin();
  /// All ranks call it after their last step, on the same thread; rank 0 says what all have computed, and which
  /// devices have not.
  [[nodiscard]] Result<void> report(const WorkerPlan& plan, const Worker& worker) const;

 private:
  std::chrono::nanoseconds begun_{0};  // CPU time of the training thread
};

void DeviceTimes::begin() { begun_ = cpu_time_of(CLOCK_THREAD_CPUTIME_ID); }

Result<void> DeviceTimes::report(const WorkerPlan& plan, const Worker& worker) const {
  if (plan.place.gpu) return {};  // a thread's CPU time is not what its GPU has computed
  std::vector<std::chrono::nanoseconds> times = worker.device_times();
  if (times.empty()) times.push_back(cpu_time_of(CLOCK_THREAD_CPUTIME_ID) - begun_);
  std::vector<double> seconds;
  std::string noted;
  for (const auto time : times) {
    seconds.push_back(std::chrono::duration<double>(time).count());
    noted += format("{}{:.3f}", noted.empty() ? "" : ",", seconds.back());
  }
  note("device_cpu_seconds", noted);
  const auto devices = static_cast<std::int64_t>(seconds.size());
  at::Tensor all = at::tensor(seconds, at::kDouble);
  if (plan.everybody != nullptr) {
    const at::Tensor own = all;
    all = at::zeros({plan.place.world_size * devices}, at::kDouble);
    RS_TRY_VOID(plan.everybody->allgather_flat(all, own, "device times").wait());
  }
  if (plan.place.rank != 0 || all.numel() < 2) return {};
  std::vector<DeviceTime> uses;
  for (std::int64_t i = 0; i < all.numel(); ++i)
    uses.push_back({static_cast<int>(i / devices), static_cast<int>(i % devices), all[i].item<double>()});
  if (const std::string unused = unused_text(uses); !unused.empty()) {
    log_error(unused);
  } else {
    log_progress(use_text(uses));
  }
  return {};
}

class Training {
 public:
  Training(const WorkerPlan& plan, Worker& worker, std::unique_ptr<GradientDump> dump,
           std::unique_ptr<Validation> validation)
      : setting_(plan),
        options_(plan.options),
        plan_(plan.plan),
        everybody_(plan.everybody),
        worker_(worker),
        dump_(std::move(dump)),
        validation_(std::move(validation)),
        faults_(plan.options.faults, plan.place.rank),
        checkpoints_(plan, worker) {}

  Result<void> run(const MemoryObserver* memory);

 private:
  Result<void> step(std::int64_t index);
  void inject_end(std::int64_t index) const;
  Result<void> after_step(std::int64_t done);
  Result<void> dump_gradients(std::int64_t index);
  Result<void> report(std::int64_t index);

  const WorkerPlan& setting_;
  const TrainOptions& options_;
  const RunPlan& plan_;
  Comm* everybody_;
  Worker& worker_;
  std::unique_ptr<GradientDump> dump_;      // of rank 0
  std::unique_ptr<Validation> validation_;  // null: none
  FaultPlan faults_;
  Checkpoints checkpoints_;
  Progress progress_;
  DeviceTimes device_times_;
};

// Nothing is cleaned up: a lost rank does not say goodbye either.
void Training::inject_end(std::int64_t index) const {
  if (faults_.happens(FaultKind::exit, index)) _exit(3);
  if (faults_.happens(FaultKind::kill, index)) kill(getpid(), SIGKILL);
  while (faults_.happens(FaultKind::hang, index)) std::this_thread::sleep_for(std::chrono::hours{1});
}

Result<void> Training::step(std::int64_t index) {
  annotate::Span span{annotate::Kind::step, "step"};
  span.with("index", index);
  inject_end(index);
  // Outside of all classified spans, as a garbage collection would be.
  if (const auto pause = faults_.pause(index); pause.count() > 0) std::this_thread::sleep_for(pause);
  worker_.slow_down(faults_.compute_factor(index));
  RS_TRY_VOID(worker_.gradients(index, {.data = faults_.data_delay(index),
                                        .comm = faults_.comm_delay(index),
                                        .nan_loss = faults_.happens(FaultKind::nan, index)}));
  const bool dumps = !options_.dump_gradients.empty();
  if (dumps) RS_TRY_VOID(dump_gradients(index));
  RS_TRY_VOID(worker_.update(rate_factor(options_.optimizer.rate, index, plan_.steps)));
  if (faults_.happens(FaultKind::corrupt, index)) corrupt(worker_.replicated());
  if (dumps || (index + 1) % options_.log_every == 0 || index + 1 == plan_.steps) return report(index);
  return {};
}

Result<void> Training::dump_gradients(std::int64_t index) {
  RS_TRY(const auto all, worker_.all_gradients());
  return dump_ ? dump_->gradients(index, all) : Result<void>{};
}

Result<void> Training::report(std::int64_t index) {
  RS_TRY(const Totals totals, totals_of_all(everybody_, worker_.take_totals(), "loss"));
  if (dump_) RS_TRY_VOID(dump_->loss(totals.loss / totals.count));
  progress_.report(index, totals, plan_.batch.global);
  return {};
}

// Copies that differ are not saved: a checkpoint takes some of its tensors from each.
Result<void> Training::after_step(std::int64_t done) {
  if (validation_) RS_TRY_VOID(validation_->after_step(done, worker_));
  const bool is_due = options_.check_replicas > 0 && done % options_.check_replicas == 0;
  if (is_due || checkpoints_.is_due(done)) RS_TRY_VOID(check_replicas(worker_.replicated(), done));
  return checkpoints_.after_step(done);
}

Result<void> Training::run(const MemoryObserver* memory) {
  RS_TRY(const std::int64_t first, checkpoints_.resume());
  worker_.begin_at(first);
  if (everybody_ != nullptr) RS_TRY_VOID(everybody_->barrier("start").wait());
  progress_.begin(first);
  device_times_.begin();
  for (std::int64_t index = first; index < plan_.steps; ++index) {
    RS_TRY_VOID(step(index));
    const auto stepped = std::chrono::steady_clock::now();
    RS_TRY_VOID(after_step(index + 1));
    progress_.leave_out(std::chrono::steady_clock::now() - stepped);
    if (memory != nullptr) memory->record();
  }
  progress_.end(std::max<std::int64_t>(0, plan_.steps - first), worker_.finish());
  if (first < plan_.steps) RS_TRY_VOID(device_times_.report(setting_, worker_));
  // Rank 0 serves the store and stays until nobody needs it.
  if (everybody_ != nullptr) return everybody_->barrier("end").wait();
  return {};
}

}  // namespace

Result<void> train(const TrainingJob& job, const MakeWorker& make_worker) {
  RS_TRY(const auto source, open_samples(job.options));
  RS_TRY(const RunPlan plan, plan_run(job.options, job.place, source->samples()));
  std::optional<MemoryObserver> memory;  // before the model, whose parameters count, too
  if (annotate::detail::api() != nullptr) memory.emplace(job.place.gpu);
  std::unique_ptr<GradientDump> dump;
  if (!job.options.dump_gradients.empty() && job.place.rank == 0) {
    RS_TRY(dump, GradientDump::open(job.options.dump_gradients));
  }
  const WorkerPlan worker_plan{job.options, job.place, *source, plan, job.everybody};
  RS_TRY(const auto worker, make_worker(worker_plan));
  RS_TRY(auto validation, Validation::plan(worker_plan));
  describe(worker_plan, worker->describe());
  describe_device(job.place);
  return Training{worker_plan, *worker, std::move(dump), std::move(validation)}.run(memory ? &*memory : nullptr);
}

}  // namespace rankscope::trainer
