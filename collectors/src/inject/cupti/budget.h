// Whether the records of calls make the program's steps longer than the user allows.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace rankscope::inject::cupti {

/// The thread that makes a call pays for its record. What it pays makes a step longer only if it does not wait for the
/// GPU as long anyway. Judged by the thread that loses most, once a second.
class Budget {
 public:
  /// What the record of a call costs its thread: on an H200 with CUPTI 13.0 Update 1, a launch took 0.5 to 2.6 us
  /// longer.
  static constexpr std::int64_t call_costs_ns = 1'000;
  /// A call that takes longer waits: for the GPU, or for room among what is queued.
  static constexpr std::int64_t waits_from_ns = 50'000;
  /// Only so much of a wait counts: times of damaged records must not overflow their sum.
  static constexpr std::int64_t longest_wait_ns = 600'000'000'000;

  /// A program may start with many short calls, and its steps come later.
  static constexpr int usual_seconds = 10;

  /// `share` of the time, 0.01 for one hundredth. 0: nothing is too much. Of so many `seconds`, one behind the other,
  /// each must cost more.
  void begin(double share, int seconds, std::int64_t now_ns);
  /// Any number of threads: a call of `thread` was recorded. Damaged records may have any times.
  void called(std::int64_t thread, std::int64_t begin_ns, std::int64_t end_ns);
  /// Of one thread. True once.
  [[nodiscard]] bool is_exceeded(std::int64_t now_ns);
  /// How much longer the last judged second became: 0.25 for a quarter.
  [[nodiscard]] double last_share() const { return last_share_; }

 private:
  static constexpr std::int64_t period_ns = 1'000'000'000;
  /// The first threads that call; those beyond are not judged.
  struct Thread {
    std::atomic<std::int64_t> id{0};
    std::atomic<std::int64_t> calls{0}, waited_ns{0};
  };
  [[nodiscard]] double most_lost(std::int64_t elapsed_ns);

  std::array<Thread, 32> threads_{};
  double share_ = 0;
  int seconds_ = usual_seconds;
  double last_share_ = 0;
  std::int64_t begun_ns_ = 0;
  int periods_above_ = 0;
  bool exceeded_ = false;
};

}  // namespace rankscope::inject::cupti
