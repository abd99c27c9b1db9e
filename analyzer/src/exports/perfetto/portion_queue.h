// Portions of output on their way from the thread that makes them to the one that writes them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

namespace rankscope::analyzer {

struct Portion {
  std::string bytes;
  std::uint64_t events = 0;
};

/// Bounded, one producer, one consumer; hands emptied buffers back, so that memory is mapped once.
class PortionQueue {
 public:
  explicit PortionQueue(std::size_t capacity) : capacity_(capacity) {}

  /// Waits for room; false if the consumer wants no more.
  [[nodiscard]] bool push(Portion portion);
  /// After the last portion.
  void close();
  /// Waits; nothing after the last portion.
  [[nodiscard]] std::optional<Portion> pop();
  /// The consumer wants no more.
  void cancel();

  /// An empty buffer, one that was used before if there is any.
  [[nodiscard]] std::string buffer();
  void give_back(std::string buffer);

 private:
  std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Portion> waiting_;
  std::deque<std::string> empty_;
  bool closed_ = false;
  bool cancelled_ = false;
};

}  // namespace rankscope::analyzer
