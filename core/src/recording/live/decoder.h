// What one process has reported so far, in a few numbers.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rankscope/core/model/span.h"
#include "rankscope/core/recording/live.h"
#include "recording/format/tick_map.h"
#include "recording/live/segment.h"

namespace rankscope::recording {

/// In the order in which they count; `step` is no part of itself.
enum class LiveLayer : std::uint8_t { compute, communication, copies, data, wait };
inline constexpr std::size_t live_layer_count = 5;

struct LiveStretch {
  HostTime begin{};
  HostTime end{};
  LiveLayer layer{};
  std::uint32_t thread = 0;  ///< of one that the host told
};

/// Splits steps that do not overlap, in ascending order; stretches may overlap and are in any order.
void split_steps(std::span<LiveStep> steps, std::span<const LiveStretch> stretches);

/// The largest value of each of a bounded number of stretches of time, all as long.
class LiveSeries {
 public:
  explicit LiveSeries(std::size_t most) : most_(most) {}
  void add(HostTime time, double value);
  [[nodiscard]] const std::vector<LiveValue>& values() const { return values_; }

 private:
  void halve();
  std::size_t most_;
  nanoseconds stretch_{100'000'000};
  std::vector<LiveValue> values_;
};

/// What a step lasts: its span, or up to the next step if that has the next number.
enum class StepLength : std::uint8_t { span, to_the_next };

/// A step that was accounted for, as it is stored in place of its events.
struct SettledStep {
  bool has_sums = true;  ///< false: it could not be split, and only its times are known
  StepSums sums;
  HostTime begin{};
  HostTime end{};  ///< of its window
};

class LiveDecoder {
 public:
  LiveDecoder(const SegmentStatic& fixed, const LiveLimits& limits, StepLength length = StepLength::span);

  void take(const LivePiece& piece);
  /// Accounts for the steps about which nothing more will be reported. After each round of pieces. `waiting`: threads
  /// of which something is not taken yet; steps beyond that wait for it.
  void settle(const std::set<std::uint32_t>& waiting = {});
  /// The same where all threads are known to have been taken up to a time.
  void settle_until(HostTime told);
  /// The same of a step that none has followed yet: what comes behind it is none of its window.
  void settle_last(const std::set<std::uint32_t>& waiting);
  /// True if a step that began before is not settled.
  [[nodiscard]] bool has_unsettled(HostTime before) const;
  [[nodiscard]] LiveProcess process(const SegmentCounters& counters) const;
  /// Steps to the next that were settled since the last call, in their order.
  [[nodiscard]] std::vector<SettledStep> take_settled();
  /// On the clock of the process.
  [[nodiscard]] HostTime time_at(std::uint64_t ticks) const { return clock_.host_time(ticks); }
  /// True if something marked a step.
  [[nodiscard]] bool has_steps() const { return source_ != Steps::none; }
  /// False if a communication library reported another operation of this communicator after that time.
  [[nodiscard]] bool is_last_of_library(std::string_view communicator, std::uint64_t ticks) const;

 private:
  struct Open {
    SpanKind kind = SpanKind::user;
    bool is_step = false;
    HostTime begin{};
    std::int64_t index = 0;
    std::uint64_t ticks = 0;
    std::string name{};  ///< of a step
  };
  /// An ended step with what take_settled() returns of it.
  struct Ended {
    LiveStep step;
    StepSums sums{};
    bool is_followed = false;  ///< by the step with the next number
  };
  struct Enqueued {
    HostTime time{};
    std::int64_t bytes = 0;
    bool is_announced = false;  ///< by the program, not by a communication library
  };
  struct Thread {
    std::int64_t os_thread = 0;
    std::vector<std::string> names;  // of the current chunk
    std::vector<Open> open;
    HostTime now{};   // up to here its time is accounted for
    HostTime seen{};  // of the latest record
    bool in_step = false;
  };
  /// What marks steps, best last.
  enum class Steps : std::uint8_t { none, named_ranges, spans };

  void take_record(std::uint32_t number, const Record& record);
  void take_name(Thread& thread, const Record& record);
  void push(std::uint32_t number, const Record& record);
  void pop(std::uint32_t number, std::uint64_t ticks);
  void number_step(Thread& thread, const Record& record);
  /// Whether a span of this thread is a step, and with which number.
  [[nodiscard]] std::optional<std::int64_t> step_number(std::uint32_t number, SpanKind kind, std::string_view name);
  void end_step(const Thread& thread, const Open& step, std::uint64_t end_ticks);
  void enqueued(const Thread& thread, const Record& record);
  void settle_sums(Ended& ended);
  void settle_without_sums(const Ended& ended);
  void give_up_unsettled();
  [[nodiscard]] HostTime known_until(const std::set<std::uint32_t>& waiting) const;
  [[nodiscard]] bool is_over(const Ended& ended, HostTime told) const;
  void account(std::uint32_t number, HostTime until);
  void add(const LiveStretch& stretch);
  void comm_ended(std::uint64_t uid, HostTime end);
  void activity(Thread& thread, const Record& record);
  void counter(const Thread& thread, const Record& record);
  [[nodiscard]] std::vector<LiveStretch> stretches_in(HostTime begin, HostTime end) const;
  void drop_old(HostTime oldest);
  [[nodiscard]] HostTime saw(std::uint64_t ticks);

  SegmentStatic fixed_;
  LiveLimits limits_;
  StepLength length_;
  TickMap clock_;
  ClockPair last_pair_;
  std::optional<Anchor> anchor_;  // of the activities' clock
  std::map<std::uint32_t, Thread> threads_;
  std::unordered_map<std::uint64_t, HostTime> comm_;  // started, by uid
  std::vector<LiveStretch> device_;
  std::vector<LiveStretch> host_;
  bool has_device_ = false;
  bool too_many_ = false;      // stretches were left out
  HostTime complete_since_{};  // of stretches before that some were left out
  Steps source_ = Steps::none;
  std::uint32_t step_thread_ = 0;
  std::deque<Ended> steps_;
  std::vector<SettledStep> settled_;
  std::deque<Enqueued> enqueued_;
  std::map<std::string, std::uint64_t, std::less<>> last_of_library_;  // ticks, by communicator
  std::size_t unsettled_ = 0;                                          // of these, at their end
  std::uint64_t step_count_ = 0;
  std::map<std::string, LiveSeries, std::less<>> memory_;
  std::uint64_t events_ = 0;
  std::uint64_t marks_ = 0;
  HostTime latest_{};
};

}  // namespace rankscope::recording
