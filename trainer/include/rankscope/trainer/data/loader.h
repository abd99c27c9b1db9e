// Loader workers: threads that prepare batches ahead of the training thread, in order, within a bounded queue.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "rankscope/trainer/data/datasets.h"
#include "rankscope/trainer/layout/sampler.h"

namespace rankscope::trainer {

/// Which samples the n-th micro-batch of a rank holds. A ragged last batch of an epoch is dropped: with it, the mean
/// over ranks would not be the mean over samples.
struct BatchPlan {
  DistributedSampler sampler;
  std::int64_t batch = 1;

  [[nodiscard]] std::int64_t batches_per_epoch() const { return sampler.per_rank() / batch; }
};

/// Prepares batches on threads of its own, in the order of the plan whatever their number.
class Loader {
 public:
  /// `source` must outlive the loader; `plan` must have at least one batch per epoch. `first` is the number of the
  /// batch to begin with.
  Loader(const SampleSource& source, BatchPlan plan, int workers, std::int64_t first = 0);
  ~Loader();

  /// The next batch; blocks until its worker has finished it.
  [[nodiscard]] Batch next();

 private:
  // Worker w prepares batches w, w + workers, ...: taking from the queues in turn keeps the order.
  struct Queue {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::deque<Batch> batches;
  };
  void work(const std::stop_token& stop, std::size_t worker);

  const SampleSource& source_;
  BatchPlan plan_;
  std::int64_t first_;
  std::vector<std::unique_ptr<Queue>> queues_;
  std::size_t taken_ = 0;
  std::vector<std::jthread> workers_;
};

}  // namespace rankscope::trainer
