#include "synthetic/segment_image.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "rankscope/core/format.h"
#include "rankscope/core/recording/records.h"
#include "recording/format/crc32c.h"

namespace rankscope::synthetic {
namespace {

using recording::RecordType;

constexpr std::size_t chunk_words = (recording::chunk_bytes - recording::chunk_header_bytes) / 8;
constexpr std::int64_t unix_at_start_ns = 1'700'000'000'000'000'000;

template <std::size_t n>
void copy_text(std::array<char, n>& to, std::string_view from) {
  std::memcpy(to.data(), from.data(), std::min(from.size(), n - 1));
}

void write_chunk(std::ofstream& out, const std::vector<std::uint64_t>& payload, recording::ChunkHeader& header) {
  const auto bytes = static_cast<std::uint32_t>(payload.size() * 8);
  header.magic = recording::chunk_magic;
  header.capacity = bytes;
  header.committed.store(bytes, std::memory_order_relaxed);
  header.state.store(static_cast<std::uint32_t>(recording::ChunkState::sealed), std::memory_order_relaxed);
  header.payload_crc = recording::crc32c(payload.data(), bytes);
  header.header_crc =
      recording::crc32c(&bytes, sizeof bytes, recording::crc32c(&header, offsetof(recording::ChunkHeader, committed)));
  out.write(reinterpret_cast<const char*>(&header), sizeof header);
  out.write(reinterpret_cast<const char*>(payload.data()), bytes);
}

recording::SegmentStatic describe(const ProcessImage& process) {
  recording::SegmentStatic fixed;
  fixed.pid = process.threads.front().os_thread();
  fixed.parent_pid = 1;
  fixed.start_ticks_of_boot = static_cast<std::uint64_t>(fixed.pid);
  fixed.rank = process.rank;
  fixed.world_size = process.world_size;
  fixed.local_rank = process.local_rank;
  copy_text(fixed.boot_id, format("boot of {}", process.host));
  copy_text(fixed.host, process.host);
  copy_text(fixed.program, "rankscope-train");
  copy_text(fixed.rank_source, "RANK");
  fixed.first_pair = process.clock.pair(0);
  return fixed;
}

}  // namespace

recording::ClockPair HostClock::pair(std::int64_t true_ns) const {
  const std::int64_t shown = monotonic(true_ns);
  return {static_cast<std::uint64_t>(shown), shown, shown - boot_ns + unix_at_start_ns + skew_ns};
}

void ThreadImage::push(SpanKind kind, std::string_view name, std::int64_t time) {
  record(RecordType::push, static_cast<std::uint8_t>(kind), id(name), {ticks(time)});
}

void ThreadImage::pop(std::int64_t time) { record(RecordType::pop, 0, 0, {ticks(time)}); }

void ThreadImage::attribute(std::string_view key, std::int64_t value) {
  record(RecordType::attribute_int, 0, id(key), {static_cast<std::uint64_t>(value)});
}

void ThreadImage::attribute(std::string_view key, std::string_view value) {
  room(2 * (2 + recording::longest_string / 8));
  const std::uint32_t name = id(key);
  record(RecordType::attribute_text, 0, name, {id(value)});
}

void ThreadImage::enqueued(const Enqueued& operation, std::int64_t time) {
  room(4 * (3 + recording::longest_string / 8) + 8);  // ids are good for one chunk only
  recording::CommEnqueued fields{};
  fields.ticks = ticks(time);
  fields.uid = operation.uid;
  fields.sequence = operation.sequence;
  fields.bytes = operation.bytes;
  fields.group = id(operation.group);
  fields.dtype = id(operation.bytes > 0 ? "f32" : "");
  fields.members = id(operation.members);
  fields.peer = operation.peer;
  const auto words = std::bit_cast<std::array<std::uint64_t, 6>>(fields);
  record(RecordType::comm_enqueued, 0, id(operation.op), {words[0], words[1], words[2], words[3], words[4], words[5]});
}

void ThreadImage::started(std::uint64_t uid, std::int64_t time) {
  record(RecordType::comm_started, 0, 0, {ticks(time), uid});
}

void ThreadImage::finished(std::uint64_t uid, std::int64_t time) {
  record(RecordType::comm_finished, 0, 0, {ticks(time), uid});
}

void ThreadImage::communicator(std::string_view name, std::uint32_t ranks, std::int32_t rank) {
  record(RecordType::communicator, 0, id(name), {std::uint64_t{static_cast<std::uint32_t>(rank)} << 32 | ranks});
}

void ThreadImage::kernel(const Kernel& kernel) {
  const auto shown = [this](std::int64_t time) { return clock_.pair(time).realtime_ns; };
  constexpr std::int64_t takes_ns = 1'000;
  const recording::CallFields call{shown(kernel.launched), shown(kernel.launched + takes_ns), os_thread_,
                                   kernel.correlation, 0};
  const recording::ActivityFields activity{shown(kernel.begin), shown(kernel.end), 0, 1, 7, kernel.correlation};
  const auto as_words = [](const auto& fields) { return std::bit_cast<std::array<std::uint64_t, 4>>(fields); };
  const auto of_call = as_words(call);
  const auto of_activity = as_words(activity);
  record(RecordType::call, static_cast<std::uint8_t>(SpanKind::runtime), id("cudaLaunchKernelExC"),
         {of_call[0], of_call[1], of_call[2], of_call[3]});
  record(RecordType::activity, static_cast<std::uint8_t>(kernel.kind), id(kernel.name),
         {of_activity[0], of_activity[1], of_activity[2], of_activity[3]});
}

void ThreadImage::counter(std::string_view name, std::int64_t time, double value) {
  record(RecordType::counter, 0, id(name), {ticks(time), std::bit_cast<std::uint64_t>(value)});
}

void ThreadImage::thread_name(std::string_view name, std::int64_t time) {
  record(RecordType::thread_name, name.starts_with("comm ") ? 1 : 0, id(name), {ticks(time)});
}

void ThreadImage::metadata(std::string_view key, std::string_view value) {
  room(2 * (3 + recording::longest_string / 8));
  const std::uint32_t name = id(key);
  record(RecordType::metadata, 0, name, {id(value)});
}

void ThreadImage::clock_pair(std::int64_t time) {
  room(8);
  const recording::ClockPair pair = clock_.pair(time);
  record(RecordType::clock_pair, 0, 0,
         {pair.ticks, static_cast<std::uint64_t>(pair.monotonic_ns), static_cast<std::uint64_t>(pair.realtime_ns)});
}

void ThreadImage::record(RecordType type, std::uint8_t code, std::uint32_t name,
                         std::initializer_list<std::uint64_t> words) {
  auto& chunk = chunks_.back();
  const recording::RecordHead head{static_cast<std::uint8_t>(type), code, static_cast<std::uint16_t>(1 + words.size()),
                                   name};
  chunk.push_back(std::bit_cast<std::uint64_t>(head));
  chunk.insert(chunk.end(), words);
}

/// A record and its texts stand in one chunk.
void ThreadImage::room(std::size_t words) {
  if (!chunks_.empty() && chunks_.back().size() + words <= chunk_words) return;
  chunks_.emplace_back();
  ids_.clear();
}

std::uint32_t ThreadImage::id(std::string_view text) {
  text = text.substr(0, recording::longest_string);
  room(16 + text.size() / 8);
  const auto [known, added] = ids_.try_emplace(std::string{text}, static_cast<std::uint32_t>(ids_.size()));
  if (!added) return known->second;
  auto& chunk = chunks_.back();
  const std::size_t words = (text.size() + 7) / 8;
  const recording::RecordHead head{static_cast<std::uint8_t>(RecordType::string), 0,
                                   static_cast<std::uint16_t>(2 + words), known->second};
  chunk.push_back(std::bit_cast<std::uint64_t>(head));
  chunk.push_back(text.size());
  const std::size_t at = chunk.size();
  chunk.resize(at + words);
  std::memcpy(chunk.data() + at, text.data(), text.size());
  return known->second;
}

void write_segment(const ProcessImage& process, const std::filesystem::path& path) {
  std::ofstream out{path, std::ios::binary | std::ios::trunc};
  std::uint32_t chunks = 0;
  for (const ThreadImage& thread : process.threads) chunks += static_cast<std::uint32_t>(thread.chunks().size());
  recording::SegmentHeader header{};
  header.fixed = describe(process);
  header.static_crc = recording::crc32c(&header.fixed, sizeof header.fixed);
  header.packed_chunks = chunks;
  header.end.store(static_cast<std::uint32_t>(recording::ProcessEnd::exited));
  header.end_ticks.store(static_cast<std::uint64_t>(process.clock.monotonic(process.end_ns)));
  header.threads.store(static_cast<std::uint32_t>(process.threads.size()));
  std::array<char, recording::segment_header_bytes> page{};
  std::memcpy(page.data(), static_cast<const void*>(&header), sizeof header);
  out.write(page.data(), page.size());
  for (std::uint32_t ordinal = 0; ordinal < process.threads.size(); ++ordinal) {
    const ThreadImage& thread = process.threads[ordinal];
    for (std::uint32_t sequence = 0; sequence < thread.chunks().size(); ++sequence) {
      recording::ChunkHeader chunk{};
      chunk.thread = ordinal;
      chunk.sequence = sequence;
      chunk.os_thread = thread.os_thread();
      write_chunk(out, thread.chunks()[sequence], chunk);
    }
  }
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace rankscope::synthetic
