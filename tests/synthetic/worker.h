// One rank of a synthetic run: its clock, its threads, and how it communicates.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "synthetic/plan.h"
#include "synthetic/segment_image.h"

namespace rankscope::synthetic {

inline std::int64_t ns_of(double ms) { return static_cast<std::int64_t>(ms * 1e6); }

/// Numbers that depend on nothing but a seed, on every machine (SplitMix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  double uniform();  ///< 0 ... 1
  double normal();   ///< about; mean 0, deviation 1, never beyond 3.5

 private:
  std::uint64_t state_;
};

/// A communicator as one member sees it.
struct Communicator {
  std::string name;
  std::string members;
  std::int64_t next_sequence = 0;
};

/// An operation that has been enqueued and not executed yet.
struct Pending {
  std::uint64_t uid = 0;
  std::int64_t ready_ns = 0;  ///< may start then, if its thread is free
  std::size_t lane = 0;
};

class Worker {
 public:
  Worker(const Plan& plan, std::int32_t rank, const HostClock& clock);

  std::int64_t now = 0;
  std::vector<Pending> gradients{};  ///< exchanges of the step that are under way

  void begin(SpanKind kind, std::string_view name) { main().push(kind, name, now); }
  void end() { main().pop(now); }
  void attribute(std::string_view key, std::int64_t value) { main().attribute(key, value); }
  void attribute(std::string_view key, std::string_view value) { main().attribute(key, value); }
  /// Runs `operators` operators one behind the other.
  void compute(std::int64_t length_ns, std::int32_t operators);
  void load_batch(std::int64_t length_ns);
  void count_memory(std::int64_t step);
  struct Call {
    std::string_view op;
    std::string_view label;
    std::int64_t bytes = 0;
    std::int32_t peer = -1;
  };
  /// `lane` is a thread of its own, so that one kind of operation never waits for another.
  Pending enqueue(Communicator& group, const Call& call, const std::string& lane);
  [[nodiscard]] std::int64_t start_of(const Pending& pending) const;
  void execute(const Pending& pending, std::int64_t start, std::int64_t finish);
  /// Waits on the main thread; what has finished takes no time.
  void wait_until(std::int64_t finish, std::string_view what);
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] std::int32_t rank() const { return image_.rank; }
  [[nodiscard]] double slowness(std::int64_t step) const;
  [[nodiscard]] double extra_ms(FaultKind kind, std::int64_t step) const;
  [[nodiscard]] std::int64_t noisy(double ms, std::int64_t step);
  Communicator dp{}, tp{}, forward{}, backward{};
  [[nodiscard]] ProcessImage finish();

 private:
  ThreadImage& main() { return image_.threads.front(); }

  const Plan& plan_;
  ProcessImage image_;
  Random random_;
  std::vector<const Fault*> faults_;  // those of this rank
  std::map<std::string, std::size_t> lanes_;
  std::vector<std::int64_t> free_at_;  // by thread
  std::uint64_t next_uid_ = 1;
  std::size_t next_operator_ = 0;
};

/// How much longer than planned it takes between the ranks of a link that is broken; 1 where none is.
[[nodiscard]] double link_factor(const Plan& plan, std::int64_t step, std::int32_t a, std::int32_t b);

}  // namespace rankscope::synthetic
