// What accelerators did, and which host call put it there -> spans on streams and threads, joined by their numbers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "rankscope/core/model/run_builder.h"
#include "recording/format/segment_clock.h"
#include "recording/format/segment_file.h"

namespace rankscope::recording {

/// The kind that a record's code stands for; one of a newer version is a plain range.
inline SpanKind kind_of(std::uint8_t code) {
  return code < span_kind_count ? static_cast<SpanKind>(code) : SpanKind::user;
}

/// A name of the chunk that a record lies in.
inline StringId name_in(std::span<const StringId> names, std::uint64_t id) {
  return id < names.size() ? names[id] : StringId::none();
}

/// Decodes activities, calls, moments and devices of one process. Their order in the segment does not matter.
class DeviceDecoder {
 public:
  DeviceDecoder(RunBuilder& builder, const SegmentFile& segment, const SegmentClock& clock, std::uint32_t process);

  /// What ended before is left out, since only sums of that time are used. Before the first record.
  void leave_out_before(std::optional<RunTime> time) { full_since_ = time; }
  /// Names of the chunk that a record lies in.
  using Names = std::span<const StringId>;
  void activity(const Record& record, Names names);
  void call(const Record& record, Names names);
  void moment(const Record& record, Names names);
  void device(const Record& record, Names names);
  /// The lane of a host thread, made when it is first asked for.
  LaneId thread_lane(std::int64_t os_thread);
  /// Joins launches with what they launched, and waits with the events they waited for.
  void finish();

  /// A communication kernel.
  struct Work {
    std::uint32_t ticket = 0;
    TimeRange time{};
    LaneId lane{};
  };
  /// What the last launch of a thread in a stretch of time put on a stream, if it communicates. After finish().
  [[nodiscard]] std::optional<Work> comm_launched_last(std::int64_t os_thread, TimeRange time) const;
  /// What the first launch of a thread in a stretch of time put on a stream, if it communicates and began no earlier
  /// than `reported`, but for the error between the clocks. After finish().
  [[nodiscard]] std::optional<Work> comm_launched_in(std::int64_t os_thread, TimeRange time, RunTime reported) const;
  /// Times of the accelerator's own timer; nothing without anchors.
  [[nodiscard]] std::optional<TimeRange> on_globaltimer(std::int64_t begin, std::int64_t end) const;
  [[nodiscard]] std::uint64_t added() const { return added_; }
  /// First to last moment that was added, if any.
  [[nodiscard]] std::optional<TimeRange> seen() const { return seen_; }

 private:
  /// A clock of ns that anchors tie to the host's.
  struct Clock {
    TickMap host_ns;
    std::int64_t first_ns = 0;
    std::int64_t last_ns = 0;
  };
  struct Launched {
    std::uint32_t correlation = 0;
    bool communicates = false;
    Work work;
  };
  struct Launch {
    std::uint32_t correlation = 0;
    std::uint32_t ticket = 0;
    RunTime begin{};
  };
  /// An event that was recorded on a stream, or a wait for one.
  struct Event {
    std::int64_t sync_id = -1;
    std::int64_t id = -1;
    std::uint32_t context = 0;
    std::uint32_t correlation = 0;
    std::int64_t stream = -1;
    std::uint32_t ticket = 0;  ///< of a wait
  };

  static std::optional<Clock> clock_of(const SegmentFile& segment, const SegmentClock& clock, ForeignClock which);
  [[nodiscard]] std::optional<RunTime> run_time(const std::optional<Clock>& clock, std::int64_t ns) const;
  std::optional<TimeRange> time_range(std::int64_t begin, std::int64_t end);
  LaneId stream_lane(std::uint32_t device, std::uint32_t stream);
  std::vector<Attribute> items_of(const Record& record, std::size_t first_word, Names names);
  [[nodiscard]] std::int64_t number_among(std::span<const Attribute> attributes, StringId key) const;
  void note(TimeRange time);
  [[nodiscard]] std::optional<Work> comm_of(const Launch& launch) const;
  void name_streams();
  void link_launches();
  void pair_waits();
  [[nodiscard]] const Event* waited_for(const Event& wait, const std::map<std::int64_t, const Event*>& by_sync) const;

  RunBuilder& builder_;
  std::int64_t pid_;
  std::uint32_t process_;
  nanoseconds run_minus_host_;
  std::optional<Clock> activities_;
  std::optional<Clock> globaltimer_;
  std::map<std::int64_t, LaneId> threads_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, LaneId> streams_;  // by device and stream
  std::vector<Launched> launched_;
  std::vector<Launch> launches_;
  std::map<std::int64_t, std::vector<Launch>> kernel_launches_;  // of each thread
  std::vector<Event> events_;
  std::vector<Event> waits_;
  std::optional<RunTime> full_since_;
  std::optional<TimeRange> seen_;
  std::uint64_t added_ = 0;
};

}  // namespace rankscope::recording
