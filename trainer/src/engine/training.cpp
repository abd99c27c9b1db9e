#include "engine/training.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <thread>

#include "engine/checkpoints.h"
#include "engine/description.h"
#include "engine/observers.h"
#include "engine/sample_feed.h"
#include "rankscope/collectors/annotate.h"

namespace rankscope::trainer {
namespace {

class Training {
 public:
  Training(const WorkerPlan& plan, Worker& worker, std::unique_ptr<GradientDump> dump)
      : options_(plan.options),
        plan_(plan.plan),
        everybody_(plan.everybody),
        worker_(worker),
        dump_(std::move(dump)),
        faults_(plan.options.faults, plan.place.rank),
        checkpoints_(plan, worker) {}

  Result<void> run(const MemoryObserver* memory);

 private:
  Result<void> step(std::int64_t index);
  void inject_end(std::int64_t index) const;
  Result<void> dump_gradients(std::int64_t index);
  Result<void> report(std::int64_t index);

  const TrainOptions& options_;
  const RunPlan& plan_;
  Comm* everybody_;
  Worker& worker_;
  std::unique_ptr<GradientDump> dump_;  // of rank 0
  FaultPlan faults_;
  Checkpoints checkpoints_;
  Progress progress_;
};

// Nothing is cleaned up: a lost rank does not say goodbye either.
void Training::inject_end(std::int64_t index) const {
  if (faults_.exits(index)) _exit(3);
  if (faults_.kills(index)) kill(getpid(), SIGKILL);
}

Result<void> Training::step(std::int64_t index) {
  annotate::Span span{annotate::Kind::step, "step"};
  span.with("index", index);
  inject_end(index);
  // Outside of all classified spans, as a garbage collection would be.
  if (const auto pause = faults_.pause(index); pause.count() > 0) std::this_thread::sleep_for(pause);
  worker_.slow_down(faults_.compute_factor(index));
  RS_TRY_VOID(worker_.gradients(index, {.data = faults_.data_delay(index), .comm = faults_.comm_delay(index)}));
  const bool dumps = !options_.dump_gradients.empty();
  if (dumps) RS_TRY_VOID(dump_gradients(index));
  RS_TRY_VOID(worker_.update(rate_factor(options_.optimizer.rate, index, plan_.steps)));
  if (dumps || (index + 1) % options_.log_every == 0 || index + 1 == plan_.steps) return report(index);
  return {};
}

Result<void> Training::dump_gradients(std::int64_t index) {
  RS_TRY(const auto all, worker_.all_gradients());
  return dump_ ? dump_->gradients(index, all) : Result<void>{};
}

Result<void> Training::report(std::int64_t index) {
  RS_TRY(const Totals totals, totals_of_all(everybody_, worker_.take_totals()));
  if (dump_) RS_TRY_VOID(dump_->loss(totals.loss / totals.count));
  progress_.report(index, totals, plan_.batch.global);
  return {};
}

Result<void> Training::run(const MemoryObserver* memory) {
  RS_TRY(const std::int64_t first, checkpoints_.resume());
  worker_.begin_at(first);
  if (everybody_ != nullptr) RS_TRY_VOID(everybody_->barrier("start").wait());
  progress_.begin(first);
  for (std::int64_t index = first; index < plan_.steps; ++index) {
    RS_TRY_VOID(step(index));
    RS_TRY_VOID(checkpoints_.after_step(index + 1));
    if (memory == nullptr) continue;
    annotate::counter("allocated_bytes", static_cast<double>(memory->allocated_bytes()));
    annotate::counter("peak_allocated_bytes", static_cast<double>(memory->peak_bytes()));
  }
  progress_.end(std::max<std::int64_t>(0, plan_.steps - first), worker_.finish());
  // Rank 0 serves the store and stays until nobody needs it.
  if (everybody_ != nullptr) return everybody_->barrier("end").wait();
  return {};
}

}  // namespace

Result<void> train(const TrainingJob& job, const MakeWorker& make_worker) {
  std::optional<MemoryObserver> memory;  // before the model, whose parameters count, too
  if (annotate::detail::api() != nullptr) memory.emplace();
  RS_TRY(const auto source, open_samples(job.options));
  RS_TRY(const RunPlan plan, plan_run(job.options, job.place, source->samples()));
  std::unique_ptr<GradientDump> dump;
  if (!job.options.dump_gradients.empty() && job.place.rank == 0) {
    RS_TRY(dump, GradientDump::open(job.options.dump_gradients));
  }
  const WorkerPlan worker_plan{job.options, job.place, *source, plan, job.everybody};
  RS_TRY(const auto worker, make_worker(worker_plan));
  describe(worker_plan, worker->describe());
  return Training{worker_plan, *worker, std::move(dump)}.run(memory ? &*memory : nullptr);
}

}  // namespace rankscope::trainer
