// The pen with which one thread writes its events into a segment file (segment_writer.h). An event whose names the
// thread has used in its current chunk, and which has room in it, takes no lock, makes no system call and allocates
// nothing. A new name allocates; a new chunk may take a lock and make the file grow.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "rankscope/core/model/span.h"
#include "rankscope/core/recording/format.h"
#include "rankscope/core/recording/tick_clock.h"

namespace rankscope::recording {

class SegmentWriter;

/// Whom an attribute describes.
struct Owner {
  /// How `handle` is to be read.
  enum class Kind : std::uint8_t {
    span,   ///< the innermost open span of the thread
    mark,   ///< the latest mark of the thread
    range,  ///< the range of that handle, started by any thread
    comm,   ///< the communication with that uid, enqueued by any thread
  };
  Kind kind = Kind::span;
  std::uint64_t handle = 0;

  static constexpr Owner latest_mark() { return {Kind::mark, 0}; }
  static constexpr Owner range(std::uint64_t handle) { return {Kind::range, handle}; }
  static constexpr Owner comm(std::uint64_t uid) { return {Kind::comm, uid}; }
};

/// An attribute that is stored together with what it describes.
struct Item {
  std::string_view key;
  std::int64_t number = 0;  ///< if there is no text
  std::string_view text{};
  bool is_json = false;  ///< the text is JSON
};

/// The pen of one thread; only that thread may use it. Every call stores the event or counts it as dropped.
class ThreadWriter {
 public:
  ThreadWriter(SegmentWriter& segment, std::uint32_t ordinal);
  ThreadWriter(const ThreadWriter&) = delete;
  ThreadWriter& operator=(const ThreadWriter&) = delete;
  ~ThreadWriter();

  void push(SpanKind kind, std::string_view name);
  void pop();
  /// False: the start was dropped; its end and its attributes have to be left out.
  bool range_start(SpanKind kind, std::string_view name, std::uint64_t handle);
  void range_end(std::uint64_t handle);
  void mark(std::string_view name);
  /// Of a span or mark that was dropped: dropped, too.
  void attribute(std::string_view key, std::int64_t value, Owner owner = {});
  void attribute(std::string_view key, std::string_view value, Owner owner = {});
  /// JSON in its own words, of the innermost open span.
  void attribute_json(std::string_view key, std::string_view json);
  void counter(std::string_view name, double value) { counter(name, value, clock_.now()); }
  /// Sampled at a time of the segment's clock, which may be earlier than what was written last.
  void counter(std::string_view name, double value, std::uint64_t ticks);
  /// What is known of a communication when it is enqueued; -1 and empty texts stand for what is not.
  struct Collective {
    std::uint64_t uid = 0;
    std::int64_t sequence = -1;
    std::int64_t bytes = -1;
    std::string_view group;
    std::string_view op;
    std::string_view dtype;
    std::string_view members;  ///< "0,1,2"
    std::int32_t peer = -1;
  };
  void comm_enqueued(const Collective& collective) { comm_enqueued(collective, clock_.now()); }
  void comm_started(std::uint64_t uid);
  void comm_finished(std::uint64_t uid);
  /// The call that enqueued it has returned.
  void comm_returned(std::uint64_t uid);
  /// One channel carried it out, in ns of ForeignClock::globaltimer.
  void comm_device_times(std::uint64_t uid, std::int64_t begin, std::int64_t end);
  /// 0 ranks or rank -1: not known.
  void communicator(std::string_view name, std::uint32_t ranks, std::int32_t rank);
  /// What is reported afterwards, by a foreign clock. Of more than most_items items the rest counts as dropped.
  void activity(SpanKind kind, std::string_view name, const ActivityFields& fields, std::span<const Item> items = {});
  void call(SpanKind kind, std::string_view name, const CallFields& fields, std::span<const Item> items = {});
  void moment(MomentPlace place, std::string_view name, const ActivityFields& fields, std::span<const Item> items);
  void device(std::string_view name, std::uint32_t ordinal, std::string_view uuid, std::span<const Item> items = {});
  /// The foreign clock showed `ns` at `ticks` of the segment's clock.
  void anchor(ForeignClock clock, std::uint64_t ticks, std::int64_t ns);
  void thread_name(std::string_view name);
  void metadata(std::string_view key, std::string_view value);
  void clock_pair() { clock_pair(clock_.pair()); }
  // What stands for chunks that were thinned out.
  void clock_pair(const ClockPair& pair);
  void step_sums(SpanKind kind, std::string_view name, const StepSumsFields& fields);
  void thinned(const ThinnedFields& fields);
  void comm_enqueued(const Collective& collective, std::uint64_t ticks);
  /// comm_started, comm_finished (of a uid), range_end (of a handle) or the name of a thread, as another one wrote it.
  void happened(RecordType type, std::uint64_t number, std::uint64_t ticks);
  void thread_name(std::string_view name, std::uint8_t code, std::int64_t os_thread);
  /// Spans pushed and not yet popped on this thread (dropped ones included).
  [[nodiscard]] std::uint32_t depth() const { return depth_ + dropped_depth_; }

 private:
  struct Name;
  std::uint8_t* reserve(std::uint32_t bytes, std::uint32_t keep_free);
  void commit(std::uint32_t bytes) {
    used_ += bytes;
    chunk_->committed.store(used_, std::memory_order_release);
  }
  std::uint8_t* reserve_with_names(std::uint32_t bytes, std::uint32_t names, std::uint32_t keep_free);
  bool next_chunk(std::uint32_t payload);
  void push_slowly(SpanKind kind, std::string_view name, std::uint64_t ticks);
  [[nodiscard]] std::uint32_t known_id(std::string_view text) const;
  std::uint32_t intern(std::string_view text, std::uint32_t keep_free);
  std::uint32_t intern_shortened(std::string_view text, std::uint32_t keep_free);
  Name* slot_of(std::uint64_t hash, std::string_view text);
  void grow();
  void drop(std::uint64_t events = 1);
  [[nodiscard]] bool owner_was_dropped(Owner owner) const;
  void two_names(RecordType type, std::uint8_t code, std::string_view key, std::string_view value, std::uint64_t handle,
                 std::uint32_t words);
  struct Described;
  void described(const Described& record);
  void happened(RecordType type, std::uint64_t number) { happened(type, number, clock_.now()); }
  bool plain(RecordType type, std::uint8_t code, std::string_view name, std::uint64_t a, std::uint64_t b,
             std::uint32_t words);

  static constexpr std::uint32_t no_name = 0xFFFFFFFF;
  SegmentWriter& segment_;
  TickClock clock_;
  ChunkHeader* chunk_ = nullptr;
  std::uint32_t used_ = 0;
  std::uint32_t capacity_ = 0;
  std::uint64_t filled_ = 0;  // bytes of the chunks before this one
  std::uint32_t ordinal_;
  std::uint32_t sequence_ = 0;
  std::uint32_t next_name_ = 0;  // ids are per chunk, so that each chunk can be read alone
  std::uint32_t depth_ = 0;
  std::uint32_t dropped_depth_ = 0;  // pushes that were dropped: their pops are dropped, too
  bool mark_dropped_ = false;        // the latest one
  std::unique_ptr<Name[]> names_;
  std::uint32_t name_mask_ = 0;
  std::uint32_t name_count_ = 0;
};

}  // namespace rankscope::recording
