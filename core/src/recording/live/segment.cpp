#include "recording/live/segment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "rankscope/core/regular_file.h"
#include "recording/format/read_fully.h"

namespace rankscope::recording {
namespace {

constexpr auto open_state = static_cast<std::uint32_t>(ChunkState::open);
constexpr std::uint64_t done = 0;  // offset of a chunk that was read to its end: none begins there

}  // namespace

LiveSegment::LiveSegment(LiveSegment&& other) noexcept
    : path_(std::move(other.path_)),
      follower_(other.follower_),
      file_(std::exchange(other.file_, -1)),
      fixed_(other.fixed_),
      counters_(other.counters_),
      chunks_(std::move(other.chunks_)),
      found_(std::move(other.found_)),
      next_sequence_(std::move(other.next_sequence_)),
      missing_(std::move(other.missing_)),
      runs_(other.runs_),
      reused_(other.reused_),
      ended_(std::move(other.ended_)),
      next_chunk_(other.next_chunk_),
      taken_(other.taken_),
      behind_(other.behind_),
      waiting_(std::move(other.waiting_)),
      lost_(other.lost_),
      looks_everywhere_(other.looks_everywhere_),
      polls_(other.polls_),
      damaged_(other.damaged_),
      buffer_(std::move(other.buffer_)) {}

LiveSegment::~LiveSegment() { close_file(); }

void LiveSegment::close_file() {
  if (file_ >= 0) close(std::exchange(file_, -1));
}

bool LiveSegment::open_file() {
  if (file_ < 0) file_ = open_regular_file(path_).value_or(-1);
  return file_ >= 0;
}

bool LiveSegment::read(std::uint64_t offset, std::span<std::byte> into) const {
  return read_fully(file_, offset, into);
}

bool LiveSegment::read_page() {
  std::array<std::byte, segment_header_bytes> page;
  if (!read(0, page)) return false;
  if (!fixed_) {
    const auto fixed = read_fixed(page);
    if (!fixed) return false;  // perhaps it is just being made
    fixed_ = *fixed;
    next_chunk_ = fixed->header_bytes;
  }
  counters_ = read_counters(page);
  std::memcpy(runs_.data(), page.data() + offsetof(SegmentHeader, runs), sizeof runs_);
  return true;
}

/// Something else stands where a chunk has to be. A recorder that thins chunks out may have moved it; otherwise it is
/// damage.
void LiveSegment::lose_track() {
  constexpr int most_lost = 20;  // polls, one behind the other
  looks_everywhere_ = true;
  damaged_ = damaged_ || !is_thinned_out() || ++lost_ > most_lost;
}

bool LiveSegment::is_thinned_out() const {
  std::error_code error;
  return counters_.handed_back > 0 || std::filesystem::exists(sums_of(path_), error);
}

/// Room that no chunk is made of yet. Or the middle of what was thinned out meanwhile: that is found out now and then.
void LiveSegment::look_around() {
  constexpr std::uint64_t polls_apart = 64;
  const bool is_time = follower_ == Follower::anybody && polls_ % polls_apart == 0;
  looks_everywhere_ = looks_everywhere_ || (is_time && is_thinned_out());
}

void LiveSegment::find_chunks() {
  while (!damaged_) {
    Followed chunk{.offset = next_chunk_};
    if (!read(chunk.offset, std::as_writable_bytes(std::span{&chunk.header, 1}))) return;
    if (chunk.header.magic == 0 || chunk.header.capacity == 0) return look_around();
    if (!plausible(chunk.header)) return lose_track();
    next_chunk_ += chunk_header_bytes + chunk.header.capacity;
    chunks_.push_back(chunk);
  }
}

/// From the first chunk on, whole chunks stand one behind the other at any time.
void LiveSegment::find_everywhere() {
  if (!std::exchange(looks_everywhere_, false) || damaged_) return;
  const auto [end, is_clean] = find_chunks_in({fixed_->header_bytes, std::numeric_limits<std::uint64_t>::max() / 2});
  if (!is_clean) return lose_track();
  next_chunk_ = std::max(end, next_chunk_);
  lost_ = 0;
}

/// Of a run of chunks whose events were thinned out, and in which the process writes others now.
LiveSegment::Found LiveSegment::find_chunks_in(PageRun run) {
  std::set<std::uint64_t> known;
  for (const Followed& chunk : chunks_) known.insert(chunk.offset);
  std::uint64_t at = run.begin;
  while (at < run.begin + run.bytes) {
    Followed chunk{.offset = at};
    if (!read(at, std::as_writable_bytes(std::span{&chunk.header, 1}))) break;
    if (chunk.header.magic == 0 || chunk.header.capacity == 0) break;
    if (!plausible(chunk.header)) return {at, false};
    at += chunk_header_bytes + chunk.header.capacity;
    if (known.contains(chunk.offset)) continue;
    if (chunk.header.thread == free_thread || chunk.header.sequence >= next_sequence_[chunk.header.thread])
      chunks_.push_back(chunk);
  }
  return {at, true};
}

/// Where too many runs were reused since the last poll to know them all, every chunk is looked at.
void LiveSegment::find_reused() {
  if (counters_.taken_back == reused_) return;
  const bool all_known = counters_.handed_back - reused_ < most_handed_back;
  for (std::uint64_t run = reused_; all_known && run < counters_.taken_back; ++run)
    static_cast<void>(find_chunks_in(unpacked_run(runs_[run % most_handed_back])));
  looks_everywhere_ = looks_everywhere_ || !all_known;
  reused_ = counters_.taken_back;
}

/// A thread that ends leaves the rest of its chunk to others: it becomes chunks of its own.
void LiveSegment::find_rest(std::uint64_t begin, std::uint64_t end) {
  while (begin < end) {
    Followed chunk{.offset = begin};
    if (!read(chunk.offset, std::as_writable_bytes(std::span{&chunk.header, 1}))) return;
    begin += chunk_header_bytes + chunk.header.capacity;
    if (!plausible(chunk.header) || begin > end) return lose_track();
    found_.push_back(chunk);
  }
}

bool LiveSegment::read_header(Followed& chunk, RawChunk& header) {
  if (!read(chunk.offset, std::as_writable_bytes(std::span{&header, 1}))) return false;
  const bool is_same = chunk.header.thread == free_thread ||
                       (header.thread == chunk.header.thread && header.sequence == chunk.header.sequence);
  const bool goes_on = header.committed >= chunk.taken && header.capacity <= chunk.header.capacity;
  const bool is_there = plausible(header) && is_same && goes_on;
  chunk.is_gone = !is_there && is_thinned_out();
  damaged_ = damaged_ || (!is_there && !chunk.is_gone);
  return is_there;
}

/// The last words of a chunk are written before its state changes: only what is read after that is all of it.
void LiveSegment::refresh(Followed& chunk) {
  RawChunk header{};
  for (int look = 0; look < 2; ++look) {
    if (!read_header(chunk, header)) return;
    const std::uint64_t payload = chunk.offset + chunk_header_bytes;
    find_rest(payload + header.capacity, payload + chunk.header.capacity);
    const bool is_final = chunk.header.state != open_state;
    chunk.header = header;
    if (is_final || header.state == open_state) return;
  }
}

void LiveSegment::refresh_all() {
  for (Followed& chunk : chunks_) refresh(chunk);
  while (!found_.empty()) {
    Followed chunk = found_.back();
    found_.pop_back();
    refresh(chunk);
    chunks_.push_back(chunk);
  }
}

/// A thread that writes much does not hold up the others: sums need all of them.
LiveSegment::Budget LiveSegment::shared(std::uint64_t budget, const std::vector<Followed*>& chunks) {
  std::set<std::uint32_t> threads;
  for (const Followed* chunk : chunks)
    if (chunk->header.committed > chunk->taken) threads.insert(chunk->header.thread);
  return {.all = budget, .of_each_thread = budget / std::max<std::uint64_t>(threads.size(), 1)};
}

bool LiveSegment::follow(Followed& chunk, Budget& budget, const std::function<void(const LivePiece&)>& take) {
  const std::uint32_t fresh = chunk.header.committed - chunk.taken;
  std::uint64_t& of_thread = budget.taken[chunk.header.thread];
  const bool is_too_much =
      (taken_ > 0 && taken_ + fresh > budget.all) || (of_thread > 0 && of_thread + fresh > budget.of_each_thread);
  if (fresh > 0 && is_too_much) {
    behind_ += fresh;
    return false;
  }
  if (fresh > 0) {
    buffer_.resize(fresh);
    if (!read(chunk.offset + chunk_header_bytes + chunk.taken, buffer_)) return false;
    take({chunk.header.thread, chunk.taken == 0, buffer_, chunk.header.os_thread});
    chunk.taken += fresh;
    taken_ += fresh;
    of_thread += fresh;
  }
  return chunk.header.state != open_state;
}

/// Those that came to their end are done then.
void LiveSegment::follow_all(std::span<Followed* const> taken, Budget& budget,
                             const std::function<void(const LivePiece&)>& take) {
  behind_ = 0;
  waiting_.clear();
  for (Followed* const chunk : taken) {
    if (chunk->offset == done) continue;
    std::uint32_t& next = next_sequence_[chunk->header.thread];
    if (chunk->header.sequence != next) {
      behind_ += chunk->header.committed;  // the one before it has not been read to its end
    } else if (follow(*chunk, budget, take)) {
      ++next;
      ended_.push_back(
          {chunk->offset, chunk_header_bytes + chunk->header.capacity, chunk->header.thread, chunk->header.sequence});
      chunk->offset = done;
    }
    if (chunk->offset != done && chunk->header.committed > chunk->taken) waiting_.insert(chunk->header.thread);
  }
}

/// Of a thread whose next chunk was found in neither of two polls, although the process made it before those that were
/// found: its events have been thinned out.
void LiveSegment::skip_thinned(const std::vector<Followed*>& taken) {
  std::map<std::uint32_t, std::uint32_t> missing;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const RawChunk& first = taken[i]->header;
    if (i > 0 && taken[i - 1]->header.thread == first.thread) continue;
    std::uint32_t& next = next_sequence_[first.thread];
    if (first.sequence <= next || !is_thinned_out()) continue;
    const auto before = missing_.find(first.thread);
    if (before != missing_.end() && before->second == next)
      next = first.sequence;
    else
      missing[first.thread] = next;
  }
  missing_ = std::move(missing);
}

bool LiveSegment::poll(std::uint64_t budget, const std::function<void(const LivePiece&)>& take) {
  taken_ = behind_ = 0;
  ended_.clear();
  waiting_.clear();
  if (!open_file() || !read_page()) return false;
  find_chunks();
  refresh_all();
  std::erase_if(chunks_, [](const Followed& chunk) { return chunk.is_gone; });
  find_reused();
  find_everywhere();
  refresh_all();
  ++polls_;
  std::vector<Followed*> taken;  // by threads
  for (Followed& chunk : chunks_)
    if (chunk.header.thread != free_thread && !chunk.is_gone) taken.push_back(&chunk);
  std::ranges::sort(taken, {}, [](const Followed* chunk) {
    return std::tuple{chunk->header.thread, chunk->header.sequence};
  });
  skip_thinned(taken);
  Budget shares = shared(budget, taken);
  follow_all(taken, shares, take);
  if (behind_ > 0 && taken_ < budget) {  // some did not need all of their shares
    shares.of_each_thread = budget;
    follow_all(taken, shares, take);
  }
  std::erase_if(chunks_, [this](const Followed& chunk) {
    const bool is_unused = chunk.header.thread == free_thread && chunk.header.state != open_state;
    if (is_unused) ended_.push_back({chunk.offset, chunk_header_bytes + chunk.header.capacity, free_thread, 0});
    return chunk.offset == done || is_unused;
  });
  return true;
}

}  // namespace rankscope::recording
