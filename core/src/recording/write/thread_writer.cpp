// The hot path of recording. An event whose names and chunk are at hand needs no lock, no system call and no
// allocation. A name's first use allocates; a new chunk may take a mutex and grow the file (next_chunk).
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "rankscope/core/recording/segment_writer.h"
#include "recording/format/record_bytes.h"
#include "recording/write/chunk_space.h"

namespace rankscope::recording {
namespace {

constexpr std::uint32_t most_names = 1U << 16;
constexpr std::uint32_t deepest = 1000;  // its pops must fit into one chunk beside the longest name

/// Of an attribute record: ranges and communication are named by a handle.
constexpr std::uint32_t words_for(Owner owner) { return owner.kind >= Owner::Kind::range ? 3 : 2; }

// Eight bytes at a time, multiplied and folded; only used to find a slot, names are compared in full.
std::uint64_t hash_of(std::string_view text) {
  constexpr std::uint64_t factor = 0x9E3779B97F4A7C15ULL;
  std::uint64_t hash = text.size() * factor;
  const char* data = text.data();
  std::size_t left = text.size();
  const auto mix = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * factor;
    hash ^= hash >> 32;
  };
  for (; left >= 8; left -= 8, data += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, data, 8);
    mix(word);
  }
  if (left >= 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, data, 4);
    mix(word);
    data += 4;
    left -= 4;
  }
  std::uint32_t rest = 0;
  for (; left > 0; --left, ++data) rest = (rest << 8) | static_cast<std::uint8_t>(*data);
  mix(rest);
  return hash | 1;  // 0 marks a free slot
}

/// A name whose last part is replaced by a number made of all of it: names of templates often differ only there.
std::string_view shortened(std::string_view text, std::array<char, longest_string>& room) {
  constexpr std::string_view mark = "… #";
  constexpr std::string_view digits = "0123456789abcdef";
  constexpr std::size_t kept = longest_string - mark.size() - 2 * sizeof(std::uint64_t);
  std::size_t whole = kept;
  while (whole > 0 && (static_cast<std::uint8_t>(text[whole]) & 0xC0U) == 0x80U) --whole;  // no half of a character
  room.fill(' ');
  text.copy(room.data(), whole);
  mark.copy(room.data() + kept, mark.size());
  std::uint64_t hash = hash_of(text);
  for (std::size_t at = kept + mark.size(); at < room.size(); ++at, hash <<= 4U) room[at] = digits[hash >> 60U];
  return {room.data(), room.size()};
}

std::uint64_t word_at(const char* data) {
  std::uint64_t word = 0;
  std::memcpy(&word, data, 8);
  return word;
}

// memcmp without the call: names are short, and most are the same as last time.
bool same(const char* a, const char* b, std::size_t size) {
  if (size < 8) {
    for (std::size_t i = 0; i < size; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }
  for (std::size_t i = 0; i + 8 < size; i += 8)
    if (word_at(a + i) != word_at(b + i)) return false;
  return word_at(a + size - 8) == word_at(b + size - 8);
}

}  // namespace

struct ThreadWriter::Name {
  std::uint64_t hash = 0;
  std::uint32_t chunk = 0xFFFFFFFF;  // sequence of the chunk in which `id` is defined
  std::uint32_t id = 0;
  std::unique_ptr<char[]> text;
  std::size_t length = 0;
};

ThreadWriter::ThreadWriter(SegmentWriter& segment, std::uint32_t ordinal)
    : segment_(segment), clock_(segment.clock()), ordinal_(ordinal), names_(new Name[256]), name_mask_(255) {}

ThreadWriter::~ThreadWriter() {
  if (chunk_ != nullptr) segment_.chunks_->hand_on(*chunk_, used_);
}

void ThreadWriter::drop(std::uint64_t events) {
  segment_.header().events_dropped.fetch_add(events, std::memory_order_relaxed);
}

// `keep_free` bytes stay free behind the record, so that every open span can still be closed in this chunk.
std::uint8_t* ThreadWriter::reserve(std::uint32_t bytes, std::uint32_t keep_free) {
  if (used_ + bytes + keep_free > capacity_ && !next_chunk(bytes + keep_free)) return nullptr;
  return reinterpret_cast<std::uint8_t*>(chunk_ + 1) + used_;
}

// Room for a record and for the definitions of all its names, which take `names` bytes at most.
std::uint8_t* ThreadWriter::reserve_with_names(std::uint32_t bytes, std::uint32_t names, std::uint32_t keep_free) {
  constexpr std::uint32_t largest = chunk_bytes - chunk_header_bytes;
  return reserve(std::min(bytes + names, largest - keep_free), keep_free);
}

// With room for so many bytes. The chunks of a thread grow with what it has written: of many threads that write little
// each has a small one. Where the housekeeping has no room ready, take() locks, allocates blocks of the file and maps
// them.
bool ThreadWriter::next_chunk(std::uint32_t payload) {
  const std::uint64_t quarter = (filled_ + used_) / 4 / first_chunk_bytes * first_chunk_bytes;
  const auto wish = std::clamp<std::uint64_t>(quarter, first_chunk_bytes, chunk_bytes);
  const Rests rests = chunk_ == nullptr ? Rests::allowed : Rests::not_allowed;
  ChunkHeader* next = segment_.chunks_->take(payload, static_cast<std::uint32_t>(wish), rests);
  if (next == nullptr) return false;
  if (chunk_ != nullptr) chunk_->state.store(static_cast<std::uint32_t>(ChunkState::full), std::memory_order_release);
  next->sequence = sequence_++;
  next->os_thread = syscall(SYS_gettid);  // once per chunk
  next->committed.store(0, std::memory_order_relaxed);
  std::atomic_ref{next->thread}.store(ordinal_, std::memory_order_release);
  chunk_ = next;
  filled_ += used_;
  used_ = 0;
  capacity_ = next->capacity;
  next_name_ = 0;
  return true;
}

ThreadWriter::Name* ThreadWriter::slot_of(std::uint64_t hash, std::string_view text) {
  std::uint32_t at = static_cast<std::uint32_t>(hash >> 20) & name_mask_;
  for (;; at = (at + 1) & name_mask_) {
    Name& name = names_[at];
    if (name.hash == 0) return &name;
    if (name.hash == hash && name.length == text.size() && same(name.text.get(), text.data(), text.size()))
      return &name;
  }
}

void ThreadWriter::grow() {
  // A program that makes up names for ever must not fill the memory: start again.
  const bool forget = name_count_ >= most_names;
  const std::uint32_t size = forget ? 256 : (name_mask_ + 1) * 2;
  std::unique_ptr<Name[]> old{std::exchange(names_, std::make_unique<Name[]>(size))};
  const std::uint32_t old_size = name_mask_ + 1;
  name_mask_ = size - 1;
  if (forget) {
    name_count_ = 0;
    return;
  }
  for (std::uint32_t i = 0; i < old_size; ++i)
    if (old[i].hash != 0) *slot_of(old[i].hash, {old[i].text.get(), old[i].length}) = std::move(old[i]);
}

std::uint32_t ThreadWriter::intern_shortened(std::string_view text, std::uint32_t keep_free) {
  std::array<char, longest_string> room{};
  segment_.header().names_truncated.fetch_add(1, std::memory_order_relaxed);
  return intern(shortened(text, room), keep_free);
}

// Defines the name in the current chunk unless it is; no_name if there is no room. May move to the next chunk.
std::uint32_t ThreadWriter::intern(std::string_view text, std::uint32_t keep_free) {
  if (text.size() > longest_string) return intern_shortened(text, keep_free);
  const std::uint64_t hash = hash_of(text);
  Name* name = slot_of(hash, text);
  if (name->hash != 0 && name->chunk + 1 == sequence_) return name->id;
  if (name->hash == 0 && (name_count_ + 1) * 2 > name_mask_) {
    grow();
    name = slot_of(hash, text);
  }
  const std::uint32_t bytes = bytes_of_name(text);
  const std::uint32_t padded = bytes - 16;
  std::uint8_t* at = reserve(bytes, keep_free);
  if (at == nullptr) return no_name;
  if (name->hash == 0) {
    name->text = std::make_unique<char[]>(text.size() + 1);
    text.copy(name->text.get(), text.size());  // also where it is empty and has no data
    name->length = text.size();
    name->hash = hash;
    ++name_count_;
  }
  name->chunk = sequence_ - 1;
  name->id = next_name_++;
  at = put_head(at, RecordType::string, 0, bytes / 8, name->id);
  at = put(at, text.size());
  if (padded > 0) std::memset(at + padded - 8, 0, 8);
  text.copy(reinterpret_cast<char*>(at), text.size());  // an empty one may have no data
  commit(bytes);
  return name->id;
}

// A record of one name and up to two words. The name's definition and the record must land in the same chunk.
bool ThreadWriter::plain(RecordType type, std::uint8_t code, std::string_view name, std::uint64_t a, std::uint64_t b,
                         std::uint32_t words) {
  const std::uint32_t bytes = words * 8;
  const std::uint32_t reserved = pop_bytes * (depth_ + 1);
  const bool fits = reserve(bytes, reserved) != nullptr;  // first, so that a known name stays known
  const std::uint32_t id = fits ? intern(name, bytes + reserved) : no_name;
  if (id == no_name) {
    drop();
    return false;
  }
  std::uint8_t* at = reserve(bytes, reserved);
  at = put(put_head(at, type, code, words, id), a);
  if (words > 2) put(at, b);
  commit(bytes);
  return true;
}

// The common case: the name is defined in this chunk, and there is room. Else no_name, and nothing has changed.
inline std::uint32_t ThreadWriter::known_id(std::string_view text) const {
  const std::uint64_t hash = hash_of(text);
  const Name& name = names_[static_cast<std::uint32_t>(hash >> 20) & name_mask_];
  const bool known = name.hash == hash && name.chunk + 1 == sequence_ && name.length == text.size() &&
                     same(name.text.get(), text.data(), text.size());
  return known ? name.id : no_name;
}

void ThreadWriter::push(SpanKind kind, std::string_view name) {
  const std::uint64_t ticks = clock_.now();
  const std::uint32_t reserved = pop_bytes * (depth_ + 1);
  if (dropped_depth_ == 0 && depth_ < deepest && used_ + 16 + reserved <= capacity_) [[likely]] {
    if (const std::uint32_t id = known_id(name); id != no_name) [[likely]] {
      auto* const at = reinterpret_cast<std::uint8_t*>(chunk_ + 1) + used_;
      put(put_head(at, RecordType::push, static_cast<std::uint8_t>(kind), 2, id), ticks);
      commit(16);
      ++depth_;
      return;
    }
  }
  push_slowly(kind, name, ticks);
}

// A new name, a new chunk, or no room.
void ThreadWriter::push_slowly(SpanKind kind, std::string_view name, std::uint64_t ticks) {
  const std::uint32_t reserved = pop_bytes * (depth_ + 1);
  const bool fits = dropped_depth_ == 0 && depth_ < deepest && reserve(16, reserved) != nullptr;
  const std::uint32_t id = fits ? intern(name, 16 + reserved) : no_name;
  if (id == no_name) {
    ++dropped_depth_;
    return drop();
  }
  std::uint8_t* at = reserve(16, reserved);
  put(put_head(at, RecordType::push, static_cast<std::uint8_t>(kind), 2, id), ticks);
  commit(16);
  ++depth_;
}

void ThreadWriter::pop() {
  const std::uint64_t ticks = clock_.now();
  if (dropped_depth_ > 0) {
    --dropped_depth_;
    return drop();
  }
  std::uint8_t* at = reserve(pop_bytes, 0);
  if (at == nullptr) return drop();
  put(put_head(at, RecordType::pop, 0, 2, 0), ticks);
  commit(pop_bytes);
  if (depth_ > 0) --depth_;
}

bool ThreadWriter::range_start(SpanKind kind, std::string_view name, std::uint64_t handle) {
  return plain(RecordType::range_start, static_cast<std::uint8_t>(kind), name, clock_.now(), handle, 3);
}

void ThreadWriter::mark(std::string_view name) {
  mark_dropped_ = !plain(RecordType::mark, 0, name, clock_.now(), 0, 2);
}

bool ThreadWriter::owner_was_dropped(Owner owner) const {
  switch (owner.kind) {
    case Owner::Kind::span:
      return dropped_depth_ > 0;
    case Owner::Kind::mark:
      return mark_dropped_;
    case Owner::Kind::range:
    case Owner::Kind::comm:
      return false;  // its start said so
  }
  return false;
}

void ThreadWriter::attribute(std::string_view key, std::int64_t value, Owner owner) {
  if (owner_was_dropped(owner)) return drop();
  constexpr std::array types{RecordType::attribute_int, RecordType::mark_attribute_int, RecordType::range_attribute_int,
                             RecordType::comm_attribute_int};
  plain(types[static_cast<std::size_t>(owner.kind)], 0, key, static_cast<std::uint64_t>(value), owner.handle,
        words_for(owner));
}

void ThreadWriter::counter(std::string_view name, double value, std::uint64_t ticks) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  plain(RecordType::counter, 0, name, ticks, bits, 3);
}

void ThreadWriter::thread_name(std::string_view name) {
  plain(RecordType::thread_name, name.starts_with("comm") ? 1 : 0, name, clock_.now(), 0, 2);
}

// Both strings and the record must be in one chunk: if the second name opened a new one, the first is defined again, in
// a chunk that has room for all.
void ThreadWriter::two_names(RecordType type, std::uint8_t code, std::string_view key, std::string_view value,
                             std::uint64_t handle, std::uint32_t words) {
  const std::uint32_t bytes = words * 8;
  const std::uint32_t reserved = pop_bytes * (depth_ + 1);
  for (const std::uint32_t names : {0U, bytes_of_name(key) + bytes_of_name(value)}) {
    if (reserve_with_names(bytes, names, reserved) == nullptr) return drop();
    const std::uint32_t text = intern(value, bytes + reserved);
    const std::uint32_t before = sequence_;
    if (text == no_name || intern(key, bytes + reserved) == no_name) return drop();
    if (before != sequence_) continue;
    plain(type, code, key, text, handle, words);
    return;
  }
  drop();
}

void ThreadWriter::attribute(std::string_view key, std::string_view value, Owner owner) {
  if (owner_was_dropped(owner)) return drop();
  constexpr std::array types{RecordType::attribute_text, RecordType::mark_attribute_text,
                             RecordType::range_attribute_text, RecordType::comm_attribute_text};
  two_names(types[static_cast<std::size_t>(owner.kind)], 0, key, value, owner.handle, words_for(owner));
}

void ThreadWriter::attribute_json(std::string_view key, std::string_view json) {
  if (dropped_depth_ > 0) return drop();
  if (json.size() > longest_string) {  // a part of it would be no JSON
    segment_.header().names_truncated.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  two_names(RecordType::attribute_text, is_json, key, json, 0, 2);
}

void ThreadWriter::metadata(std::string_view key, std::string_view value) {
  two_names(RecordType::metadata, 0, key, value, 0, 2);
}

// A record of the time and one number.
void ThreadWriter::happened(RecordType type, std::uint64_t number, std::uint64_t ticks) {
  std::uint8_t* at = reserve(24, pop_bytes * (depth_ + 1));
  if (at == nullptr) return drop();
  put(put(put_head(at, type, 0, 3, 0), ticks), number);
  commit(24);
}

void ThreadWriter::range_end(std::uint64_t handle) { happened(RecordType::range_end, handle); }

void ThreadWriter::comm_enqueued(const Collective& from, std::uint64_t ticks) {
  const std::uint32_t bytes = sizeof(RecordHead) + sizeof(CommEnqueued);
  const std::uint32_t reserved = pop_bytes * (depth_ + 1);
  const std::uint32_t all =
      bytes_of_name(from.group) + bytes_of_name(from.op) + bytes_of_name(from.dtype) + bytes_of_name(from.members);
  for (const std::uint32_t names : {0U, all}) {
    if (reserve_with_names(bytes, names, reserved) == nullptr) return drop();
    const std::uint32_t group = intern(from.group, bytes + reserved);
    const std::uint32_t before = sequence_;
    const std::uint32_t op = intern(from.op, bytes + reserved);
    const std::uint32_t dtype = intern(from.dtype, bytes + reserved);
    const std::uint32_t members = intern(from.members, bytes + reserved);
    if (std::max({group, op, dtype, members}) == no_name) return drop();
    if (before != sequence_) continue;  // a definition opened a new chunk: once more, now they fit
    std::uint8_t* at = reserve(bytes, reserved);
    const CommEnqueued record{ticks, from.uid, from.sequence, from.bytes, group, dtype, members, from.peer};
    std::memcpy(put_head(at, RecordType::comm_enqueued, 0, bytes / 8, op), &record, sizeof record);
    return commit(bytes);
  }
  drop();
}

void ThreadWriter::comm_started(std::uint64_t uid) { happened(RecordType::comm_started, uid); }

void ThreadWriter::comm_finished(std::uint64_t uid) { happened(RecordType::comm_finished, uid); }

void ThreadWriter::clock_pair(const ClockPair& pair) {
  std::uint8_t* at = reserve(32, pop_bytes * (depth_ + 1));
  if (at == nullptr) return drop();
  at = put(put_head(at, RecordType::clock_pair, 0, 4, 0), pair.ticks);
  put(put(at, static_cast<std::uint64_t>(pair.monotonic_ns)), static_cast<std::uint64_t>(pair.realtime_ns));
  commit(32);
}

}  // namespace rankscope::recording
