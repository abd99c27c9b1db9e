#include "exports/perfetto/portion_queue.h"

#include <utility>

namespace rankscope::analyzer {

bool PortionQueue::push(Portion portion) {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return cancelled_ || waiting_.size() < capacity_; });
  if (cancelled_) return false;
  waiting_.push_back(std::move(portion));
  changed_.notify_all();
  return true;
}

void PortionQueue::close() {
  const std::lock_guard lock{mutex_};
  closed_ = true;
  changed_.notify_all();
}

std::optional<Portion> PortionQueue::pop() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
  if (waiting_.empty()) return std::nullopt;
  Portion portion = std::move(waiting_.front());
  waiting_.pop_front();
  changed_.notify_all();
  return portion;
}

void PortionQueue::cancel() {
  const std::lock_guard lock{mutex_};
  cancelled_ = true;
  changed_.notify_all();
}

std::string PortionQueue::buffer() {
  const std::lock_guard lock{mutex_};
  if (empty_.empty()) return {};
  std::string buffer = std::move(empty_.front());
  empty_.pop_front();
  return buffer;
}

void PortionQueue::give_back(std::string buffer) {
  buffer.clear();
  const std::lock_guard lock{mutex_};
  empty_.push_back(std::move(buffer));
}

}  // namespace rankscope::analyzer
