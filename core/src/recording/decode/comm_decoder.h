// Communication as it was enqueued, started and finished -> collectives and their spans.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankscope/core/id.h"
#include "rankscope/core/model/run_builder.h"
#include "recording/decode/call_times.h"
#include "recording/decode/comm_join.h"
#include "recording/decode/device_decoder.h"
#include "recording/format/segment_clock.h"
#include "recording/format/segment_file.h"

namespace rankscope::recording {

/// Who is which rank of a communicator. Filled from all segments before the first is decoded.
class Communicators {
 public:
  void add(const SegmentFile& segment, RankId rank);
  /// True if some process joined it.
  [[nodiscard]] bool knows(std::string_view name) const { return known_.contains(name); }
  /// Ranks of the job that are known to have joined, in the communicator's order; ascending if nobody knows his place.
  [[nodiscard]] std::vector<RankId> members(std::string_view name) const;
  /// True if it has one rank only: nothing is communicated in it.
  [[nodiscard]] bool is_single(std::string_view name) const;
  /// The rank of the job, or none.
  [[nodiscard]] RankId rank_of(std::string_view name, std::int64_t place) const;

 private:
  struct Known {
    std::uint32_t ranks = 0;
    std::map<std::int32_t, RankId> by_place;
    std::vector<RankId> without_place;
  };
  std::map<std::string, Known, std::less<>> known_;
};

/// Enqueued on one thread, executed on another or by an accelerator: put together when all threads have been read. What
/// both the program and its communication library reported is one operation (comm_join.h).
class CommDecoder {
 public:
  CommDecoder(RunBuilder& builder, const SegmentClock& clock, const Communicators& communicators, RankId rank)
      : builder_(builder), clock_(clock), communicators_(communicators), rank_(rank) {}

  /// The thread that wrote a record, and the names of its chunk.
  struct Where {
    LaneId lane;
    std::int64_t os_thread = 0;
    DeviceDecoder::Names names;
  };
  void enqueued(const Record& record, const Where& where);
  void started(const Record& record, const Where& where);
  void finished(const Record& record, const Where& where);
  void returned(const Record& record);
  void device_times(const Record& record);
  void attribute(std::uint64_t uid, StringId key, AttributeValue value);

  /// What a process is and did when nothing more follows.
  struct Ending {
    std::uint32_t process = 0;
    std::uint64_t last_ticks = 0;
    bool was_switched_off = false;  ///< the recorder stored only a part of the process's time
    bool begins_missing = false;    ///< on purpose: it did, or old events were thinned out
  };
  void finish(const DeviceDecoder& devices, const Ending& ending);
  [[nodiscard]] std::uint64_t added() const { return added_; }

 private:
  struct Open {
    bool is_enqueued = false, is_started = false, is_finished = false;
    CommEnqueued enqueued{};
    StringId op, dtype, group_name;
    GroupId group;
    bool in_communicator = false;  ///< its members and peer are ranks of the communicator, not of the job
    LaneId enqueued_on, lane;
    std::int64_t os_thread = 0, started_on = 0, finished_on = 0;
    std::int64_t called_on = 0,
                 called_ago_ns = 0;  ///< of a library's: 0 = it was called by the thread that reported it
    std::uint64_t started = 0, finished = 0, returned = 0;
    std::int64_t device_begin = 0, device_end = 0;  ///< on the accelerator's timer; 0 = not known
    std::vector<Attribute> attributes;
  };
  /// When a library's operation ran, and where.
  struct Ran {
    TimeRange time{};
    LaneId lane{};
    std::uint32_t ticket = no_span;  ///< none: the kernel is the span of another operation
  };
  /// What the rows of a process are made with.
  struct Sources {
    const DeviceDecoder& devices;
    const Ending& ending;
  };
  static constexpr std::uint32_t no_span = NewCollective{}.span_ticket;

  GroupId group_of(StringId name, StringId members);
  GroupId group_of_communicator(StringId name);
  [[nodiscard]] RunTime called_at(const Open& open) const;
  LaneId lane_of(const Open& open, std::uint32_t process);
  LaneId library_lane(StringId group, std::uint32_t process);
  LaneId lane_named(std::string_view name, std::uint32_t process);
  [[nodiscard]] std::int64_t peer_in_job(const Open& open) const;
  [[nodiscard]] CommJoin join_reports() const;
  [[nodiscard]] Fit fit(GroupId group, StringId communicator) const;
  void count_unjoined(const CommJoin& join);
  [[nodiscard]] NewCollective row_of(const Open& open) const;
  void add(const Open& open, const Sources& from);
  void add_announced(const Open& open, const Sources& from);
  void add_joined(const Open& open, const CommJoin::Parts& parts, const Sources& from);
  void add_of_library(const Open& open, const Sources& from);
  void add_not_seen(const Open& open, const Sources& from);
  [[nodiscard]] std::optional<Ran> ran(const Open& open, const Sources& from);
  [[nodiscard]] std::optional<DeviceDecoder::Work> kernel_of_caller(const Open& open, RunTime reported,
                                                                    const DeviceDecoder& devices) const;
  void add_call(const Open& open, const Sources& from);
  [[nodiscard]] std::optional<TimeRange> carried_out(const Open& open, const DeviceDecoder& devices) const;
  void describe(std::uint32_t ticket, const Open& open);

  RunBuilder& builder_;
  const SegmentClock& clock_;
  const Communicators& communicators_;
  RankId rank_;
  std::map<std::uint64_t, Open> open_;                       // by uid
  std::map<std::pair<StringId, StringId>, GroupId> groups_;  // by name and members
  std::map<GroupId, std::vector<RankId>> members_;           // of announced groups, ascending
  std::map<std::string, LaneId> lanes_;                      // by name, that belong to no thread
  std::map<std::uint32_t, StringId> owned_;                  // kernels that a collective has as its span, and its group
  CallTimes calls_, reports_;
  std::vector<const Open*> not_seen_;            // to have run, of a library
  RunTime last_seen_enqueued_ = RunTime::min();  // of those that were
  bool program_reported_ = false, library_reported_ = false;
  std::uint64_t added_ = 0;
};

}  // namespace rankscope::recording
