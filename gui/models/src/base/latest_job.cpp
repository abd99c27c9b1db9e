#include "rankscope/gui/models/base/latest_job.h"

#include <utility>

namespace rankscope::gui {

void LatestJob::start(Work work) {
  ++generation_;
  pending_ = std::move(work);
  if (running_)
    thread_.request_stop();
  else
    launch();
}

void LatestJob::cancel() {
  ++generation_;
  pending_.reset();
  thread_.request_stop();
}

void LatestJob::launch() {
  running_ = true;
  auto job = [this, generation = generation_, work = *std::exchange(pending_, {})](const std::stop_token& stop) {
    mailbox_.put([this, generation, delivery = work(stop)] { finish(generation, delivery); });
  };
  thread_ = std::jthread{std::move(job)};
}

void LatestJob::finish(std::uint64_t generation, const Delivery& delivery) {
  running_ = false;
  if (pending_) launch();
  if (generation == generation_ && delivery) delivery();
}

}  // namespace rankscope::gui
