#include "rankscope/trainer/data/loader.h"

#include "rankscope/collectors/annotate.h"
#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

constexpr std::size_t capacity = 2;  // of each worker's queue, in batches

// The order of one epoch is drawn once, not once per batch.
class EpochOrder {
 public:
  explicit EpochOrder(const DistributedSampler& sampler) : sampler_(sampler) {}
  const std::vector<std::int64_t>& of(std::int64_t epoch) {
    if (epoch != epoch_) order_ = sampler_.epoch(epoch);
    epoch_ = epoch;
    return order_;
  }

 private:
  const DistributedSampler& sampler_;
  std::int64_t epoch_ = -1;
  std::vector<std::int64_t> order_;
};

}  // namespace

Loader::Loader(const SampleSource& source, BatchPlan plan, int workers, std::int64_t first)
    : source_(source), plan_(plan), first_(first) {
  RS_CHECK(plan_.batches_per_epoch() > 0);
  for (int i = 0; i < workers; ++i) queues_.push_back(std::make_unique<Queue>());
  for (std::size_t worker = 0; worker < queues_.size(); ++worker) {
    workers_.emplace_back([this, worker](const std::stop_token& stop) { work(stop, worker); });
  }
}

Loader::~Loader() = default;

Batch Loader::next() {
  Queue& queue = *queues_[taken_++ % queues_.size()];
  std::unique_lock lock{queue.mutex};
  queue.changed.wait(lock, [&] { return !queue.batches.empty(); });
  Batch batch = std::move(queue.batches.front());
  queue.batches.pop_front();
  queue.changed.notify_one();
  return batch;
}

void Loader::work(const std::stop_token& stop, std::size_t worker) {
  annotate::name_thread(format("loader {}", worker).c_str());
  EpochOrder order{plan_.sampler};
  Queue& queue = *queues_[worker];
  for (auto n = first_ + static_cast<std::int64_t>(worker);; n += static_cast<std::int64_t>(queues_.size())) {
    Batch batch;
    {
      annotate::Span span{annotate::Kind::loader, "load batch"};
      const auto& indices = order.of(n / plan_.batches_per_epoch());
      const std::int64_t begin = n % plan_.batches_per_epoch() * plan_.batch;
      for (std::int64_t i = 0; i < plan_.batch; ++i)
        source_.append(indices[static_cast<std::size_t>(begin + i)], batch);
    }
    std::unique_lock lock{queue.mutex};
    if (!queue.changed.wait(lock, stop, [&] { return queue.batches.size() < capacity; })) return;
    queue.batches.push_back(std::move(batch));
    queue.changed.notify_one();
  }
}

}  // namespace rankscope::trainer
