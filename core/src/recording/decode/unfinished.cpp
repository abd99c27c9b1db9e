#include "recording/decode/unfinished.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope::recording {
namespace {

class Search {
 public:
  explicit Search(const SegmentFile& segment) : segment_(segment) {
    for (const Joined& joined : segment.joined) communicators_.insert(joined.communicator);
  }

  void look_at(std::span<const Chunk> thread) {
    open_.clear();
    std::uint32_t expected = 0;
    for (const Chunk& chunk : thread) {
      if (chunk.sequence != expected) open_.clear();  // their ends may have been in what is missing
      expected = chunk.sequence + 1;
      names_.clear();
      RecordWalk walk{chunk.payload};
      for (Record record{}; walk.next(record);) take(record);
    }
    constexpr std::uint32_t last = std::numeric_limits<std::uint32_t>::max();
    if (thinned_among(segment_, thread.front().thread, expected, last) == 0)
      found_.pushes.insert(open_.begin(), open_.end());
  }

  [[nodiscard]] Unfinished result() {
    for (const auto& [communicator, last] : last_of_library_)
      if (!finished_.contains(last.uid)) found_.operations.insert(last.uid);
    return std::move(found_);
  }

 private:
  using Numbers = std::set<std::uint64_t>;
  /// The end may be met before the begin, on another thread.
  static void begun(std::uint64_t number, Numbers& open, Numbers& early) {
    if (early.erase(number) == 0) open.insert(number);
  }
  static void ended(std::uint64_t number, Numbers& open, Numbers& early) {
    if (open.erase(number) == 0) early.insert(number);
  }

  void take_name(const Record& record) {
    if (record.head.name != names_.size() || record.body.size() < 8) return;
    const auto bytes = record.body.subspan(8);
    names_.emplace_back(reinterpret_cast<const char*>(bytes.data()),
                        std::min<std::size_t>(record.word(0), bytes.size()));
  }

  /// Of most operations of a communication library no end is recorded: of each communicator only the last one may be
  /// what the process hangs in.
  void enqueued(const Record& record) {
    CommEnqueued fields{};
    std::memcpy(&fields, record.body.data(), std::min(sizeof fields, record.body.size()));
    const bool is_announced = fields.members >= names_.size() || !names_[fields.members].empty();
    if (is_announced || fields.group >= names_.size() || !communicators_.contains(names_[fields.group]))
      return begun(fields.uid, found_.operations, finished_);
    CommEnqueued& last = last_of_library_.try_emplace(names_[fields.group], fields).first->second;
    if (last.ticks <= fields.ticks) last = fields;
  }

  void take(const Record& record) {
    switch (static_cast<RecordType>(record.head.type)) {
      case RecordType::push:
        open_.push_back(record.body.data());
        return;
      case RecordType::pop:
        if (!open_.empty()) open_.pop_back();
        return;
      case RecordType::string:
        take_name(record);
        return;
      case RecordType::comm_enqueued:
        enqueued(record);
        return;
      case RecordType::comm_device_times:
        ended(record.word(0), found_.operations, finished_);
        return;
      case RecordType::comm_finished:
        ended(record.word(1), found_.operations, finished_);
        return;
      case RecordType::range_start:
        begun(record.word(1), found_.ranges, ended_);
        return;
      case RecordType::range_end:
        ended(record.word(1), found_.ranges, ended_);
        return;
      default:
        return;
    }
  }

  const SegmentFile& segment_;
  Unfinished found_;
  std::set<std::string_view> communicators_;
  std::vector<const std::byte*> open_;
  std::vector<std::string_view> names_;                       // of the current chunk
  std::map<std::string_view, CommEnqueued> last_of_library_;  // by communicator
  Numbers finished_;                                          // operations whose begin was not met yet
  Numbers ended_;                                             // the same of ranges
};

}  // namespace

Unfinished find_unfinished(const SegmentFile& segment) {
  Search search{segment};
  const std::span<const Chunk> chunks = segment.chunks;
  for (std::size_t first = 0, last = 0; first < chunks.size(); first = last) {
    while (last < chunks.size() && chunks[last].thread == chunks[first].thread) ++last;
    search.look_at(chunks.subspan(first, last - first));
  }
  return search.result();
}

}  // namespace rankscope::recording
