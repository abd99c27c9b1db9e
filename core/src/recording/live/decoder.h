// What one process has reported so far, in a few numbers.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
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

class LiveDecoder {
 public:
  LiveDecoder(const SegmentStatic& fixed, const LiveLimits& limits);

  void take(const LivePiece& piece);
  /// Accounts for the steps about which nothing more will be reported. After each round of pieces.
  void settle();
  [[nodiscard]] LiveProcess process(const SegmentCounters& counters) const;

 private:
  struct Open {
    SpanKind kind = SpanKind::user;
    bool is_step = false;
    HostTime begin{};
    std::int64_t index = 0;
  };
  struct Thread {
    std::vector<std::string> names;  // of the current chunk
    std::vector<Open> open;
    HostTime now{};  // up to here its time is accounted for
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
  void end_step(const Open& step, HostTime end);
  void account(std::uint32_t number, HostTime until);
  void add(LiveLayer layer, HostTime begin, HostTime end);
  void comm_ended(std::uint64_t uid, HostTime end);
  void activity(const Record& record);
  void counter(const Thread& thread, const Record& record);
  void drop_old(HostTime oldest);
  [[nodiscard]] HostTime saw(std::uint64_t ticks);

  SegmentStatic fixed_;
  LiveLimits limits_;
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
  std::deque<LiveStep> steps_;
  std::size_t unsettled_ = 0;  // of these, at their end
  std::uint64_t step_count_ = 0;
  std::map<std::string, LiveSeries, std::less<>> memory_;
  std::uint64_t events_ = 0;
  std::uint64_t marks_ = 0;
  HostTime latest_{};
};

}  // namespace rankscope::recording
