#include "cupti/records.h"

#include <algorithm>
#include <array>

#include "cupti/uuid_text.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/comm_kernels.h"

namespace rankscope::collectors::cupti {
namespace {

using recording::ActivityFields;

// Bytes of each record that are read for any library from CUDA 12.4 on. The structures of 12.x are prefixes of those of
// 13.0 (measured with offsetof), so that their sizes decide nothing.
constexpr std::size_t kernel_bytes = 188;
constexpr std::size_t copy_bytes = 76;
constexpr std::size_t peer_copy_bytes = 84;
constexpr std::size_t set_bytes = 76;
constexpr std::size_t call_bytes = 40;
constexpr std::size_t device_bytes = 145;
constexpr std::size_t divided_device_bytes = 176;
constexpr std::size_t context_bytes = 12;
constexpr std::size_t overhead_bytes = 40;
constexpr std::size_t event_bytes = 24;
constexpr std::size_t numbered_event_bytes = 56;
constexpr std::size_t sync_bytes = 40;
constexpr std::size_t numbered_sync_bytes = 56;
constexpr std::size_t memory_bytes = 76;
constexpr std::size_t pool_bytes = 64;
constexpr std::size_t graph_bytes = 40;

// In Kineto's words.
constexpr std::array<std::string_view, 11> copy_words{"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                                      "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
constexpr std::array<std::string_view, 8> memory_words{"Unknown", "Pageable", "Pinned",        "Device",
                                                       "Array",   "Managed",  "Device Static", "Managed Static"};
constexpr std::array<std::string_view, 5> sync_words{"Unknown Sync", "Event Sync", "Stream Wait Event", "Stream Sync",
                                                     "Context Sync"};
constexpr std::array<std::string_view, 4> pool_words{"invalid", "created", "destroyed", "trimmed"};
constexpr std::array<std::string_view, 9> overhead_words{"Unknown",
                                                         "Buffer Flush",
                                                         "Instrumentation",
                                                         "Resource",
                                                         "Runtime Triggered Module Loading",
                                                         "Lazy Function Loading",
                                                         "Command Buffer Full",
                                                         "Activity Buffer Request",
                                                         "UVM Activity Init"};

template <std::size_t n>
std::string_view word(const std::array<std::string_view, n>& words, std::size_t number) {
  return words[number < n ? number : 0];
}

// The compiler's has a number of its own; CUPTI's are multiples of 65536.
std::string_view overhead_word(std::uint32_t kind) {
  return kind == 1 ? std::string_view{"Driver Compiler"} : word(overhead_words, kind >> 16);
}

constexpr std::uint32_t object_is_thread = 2;
constexpr std::uint32_t no_value = 0xFFFFFFFF;
constexpr std::uint32_t device_memory = 3;
constexpr std::uint32_t static_device_memory = 6;
constexpr std::uint32_t releases = 2;

std::int64_t as_signed(std::uint64_t value) { return static_cast<std::int64_t>(value); }

}  // namespace

void Contexts::learn(std::uint32_t context, std::uint32_t device) {
  const std::uint64_t entry = std::uint64_t{context} | (std::uint64_t{device} + 1) << 32;
  for (auto& slot : known_) {
    std::uint64_t before = slot.load(std::memory_order_relaxed);
    if (before == 0 && slot.compare_exchange_strong(before, entry, std::memory_order_relaxed)) return;
    if (static_cast<std::uint32_t>(before) != context) continue;
    if (before != entry) slot.store(entry, std::memory_order_relaxed);  // its number was used again
    return;
  }
}

std::uint32_t Contexts::device_of(std::uint32_t context) const {
  for (const auto& slot : known_) {
    const std::uint64_t entry = slot.load(std::memory_order_relaxed);
    if (entry == 0) return 0;
    if (static_cast<std::uint32_t>(entry) == context) return static_cast<std::uint32_t>(entry >> 32) - 1;
  }
  return 0;
}

void RecordDecoder::add(const recording::Item& item) {
  if (decoded_.item_count < decoded_.all_items.size()) decoded_.all_items[decoded_.item_count++] = item;
}

void RecordDecoder::triple(std::string_view key, std::size_t offset, std::string& text) {
  text = format("[{},{},{}]", at<std::int32_t>(offset), at<std::int32_t>(offset + 4), at<std::int32_t>(offset + 8));
  add({.key = key, .text = text, .is_json = true});
}

const Decoded& RecordDecoder::decode(std::span<const std::byte> record) {
  record_ = record;
  decoded_ = {};
  if (!has(sizeof(std::uint32_t))) return decoded_;
  switch (static_cast<Kind>(at<std::uint32_t>(0))) {
    case Kind::concurrent_kernel:
      kernel();
      break;
    case Kind::memcpy:
      copy();
      break;
    case Kind::memcpy_peer:
      copy_between_devices();
      break;
    case Kind::memset:
      set();
      break;
    case Kind::driver:
      call(CallDomain::driver);
      break;
    case Kind::runtime:
      call(CallDomain::runtime);
      break;
    case Kind::device:
      device();
      break;
    case Kind::overhead:
      overhead();
      break;
    case Kind::cuda_event:
      event();
      break;
    case Kind::synchronization:
      synchronization();
      break;
    case Kind::memory:
      memory();
      break;
    case Kind::memory_pool:
      memory_pool();
      break;
    case Kind::graph_trace:
      graph();
      break;
    case Kind::context:
      context();
      break;
    case Kind::stream:
    case Kind::external_correlation:
      decoded_.shape = Decoded::Shape::left_out;
      break;
  }
  return decoded_;
}

void RecordDecoder::activity(SpanKind kind, std::string_view name) {
  decoded_.shape = Decoded::Shape::activity;
  decoded_.kind = kind;
  decoded_.name = name;
}

void RecordDecoder::context() {
  if (!has(context_bytes)) return;
  contexts_.learn(at<std::uint32_t>(4), at<std::uint32_t>(8));
  decoded_.shape = Decoded::Shape::left_out;
}

void RecordDecoder::take_graph(std::size_t node, std::size_t graph) {
  if (const auto id = at<std::uint64_t>(node); id != 0) item("graph node id", as_signed(id));
  if (const auto id = at<std::uint32_t>(graph); id != 0) item("graph id", id);
}

void RecordDecoder::kernel() {
  if (!has(kernel_bytes)) return;
  const std::string_view name = texts_.kernel(texts_.who, at<std::uint64_t>(104));
  activity(is_comm_kernel(name) ? SpanKind::comm : SpanKind::compute, name);
  decoded_.activity = {at<std::int64_t>(16),  at<std::int64_t>(24),  at<std::uint32_t>(40),
                       at<std::uint32_t>(44), at<std::uint32_t>(48), at<std::uint32_t>(92)};
  contexts_.learn(decoded_.activity.context, decoded_.activity.device);
  triple("grid", 52, first_);
  triple("block", 64, second_);
  item("registers per thread", at<std::uint16_t>(6));
  item("shared memory", std::int64_t{at<std::int32_t>(76)} + at<std::int32_t>(80));
  take_graph(144, 156);
  if (const auto channel = at<std::uint32_t>(168); channel != 0 && channel != no_value) item("channel", channel);
  if (at<std::uint32_t>(176) > 1 || at<std::uint32_t>(180) > 1 || at<std::uint32_t>(184) > 1) {
    name_ = format("[{},{},{}]", at<std::uint32_t>(176), at<std::uint32_t>(180), at<std::uint32_t>(184));
    add({.key = "cluster", .text = name_, .is_json = true});
  }
}

void RecordDecoder::copy() {
  if (!has(copy_bytes)) return;
  name_ = format("Memcpy {} ({} -> {})", word(copy_words, at<std::uint8_t>(4)), word(memory_words, at<std::uint8_t>(5)),
                 word(memory_words, at<std::uint8_t>(6)));
  activity(SpanKind::memory, name_);
  decoded_.activity = {at<std::int64_t>(16),  at<std::int64_t>(24),  at<std::uint32_t>(32),
                       at<std::uint32_t>(36), at<std::uint32_t>(40), at<std::uint32_t>(44)};
  item("bytes", as_signed(at<std::uint64_t>(8)));
  take_graph(64, 72);
}

void RecordDecoder::copy_between_devices() {
  if (!has(peer_copy_bytes)) return;
  name_ = format("Memcpy {} ({} -> {})", word(copy_words, at<std::uint8_t>(4)), word(memory_words, at<std::uint8_t>(5)),
                 word(memory_words, at<std::uint8_t>(6)));
  activity(SpanKind::memory, name_);
  decoded_.activity = {at<std::int64_t>(16),  at<std::int64_t>(24),  at<std::uint32_t>(32),
                       at<std::uint32_t>(36), at<std::uint32_t>(40), at<std::uint32_t>(60)};
  item("bytes", as_signed(at<std::uint64_t>(8)));
  item("fromDevice", at<std::uint32_t>(44));
  item("toDevice", at<std::uint32_t>(52));
  take_graph(72, 80);
}

void RecordDecoder::set() {
  if (!has(set_bytes)) return;
  name_ = format("Memset ({})", word(memory_words, at<std::uint16_t>(50)));
  activity(SpanKind::memory, name_);
  decoded_.activity = {at<std::int64_t>(16),  at<std::int64_t>(24),  at<std::uint32_t>(32),
                       at<std::uint32_t>(36), at<std::uint32_t>(40), at<std::uint32_t>(44)};
  item("bytes", as_signed(at<std::uint64_t>(8)));
  take_graph(64, 72);
}

void RecordDecoder::call(CallDomain domain) {
  if (!has(call_bytes)) return;
  decoded_.shape = Decoded::Shape::call;
  decoded_.kind = SpanKind::runtime;
  decoded_.name = texts_.call(texts_.who, domain, at<std::uint32_t>(4));
  decoded_.call = {at<std::int64_t>(8), at<std::int64_t>(16), std::int64_t{at<std::uint32_t>(28)},
                   at<std::uint32_t>(32), 0};
  if (domain == CallDomain::driver) text_item("cat", "cuda_driver");
  if (const auto result = at<std::uint32_t>(36); result != 0) item("return value", result);
}

void RecordDecoder::device() {
  if (!has(device_bytes)) return;
  decoded_.shape = Decoded::Shape::device;
  decoded_.name = texts_.text(texts_.who, at<std::uint64_t>(136));
  decoded_.ordinal = at<std::uint32_t>(112);
  const bool divided = has(divided_device_bytes) && at<std::uint8_t>(145) != 0;
  using Uuid = std::array<std::uint8_t, 16>;
  const Uuid gpu = at<Uuid>(120), part = divided ? at<Uuid>(160) : Uuid{};
  name_ = divided ? uuid_text("MIG-", part) : std::string{};
  // CUPTI may put the identity of the part in the place of that of the GPU. Not verified: it was seen with no release.
  first_ = uuid_text(divided && gpu == part ? "MIG-" : "GPU-", gpu);
  decoded_.uuid = first_;
  second_ = format("{}.{}", at<std::uint32_t>(104), at<std::uint32_t>(108));
  text_item("computeCapability", second_);
  item("numSms", at<std::uint32_t>(44));
  item("totalGlobalMem", as_signed(at<std::uint64_t>(16)));
  item("memoryBandwidthKBps", as_signed(at<std::uint64_t>(8)));
  item("coreClockKHz", at<std::uint32_t>(36));
  item("warpSize", at<std::uint32_t>(32));
  item("eccEnabled", at<std::uint32_t>(116));
  if (at<std::uint8_t>(144) == 0) item("cudaVisible", 0);  // CUDA_VISIBLE_DEVICES leaves it out
  if (!divided) return;
  text_item("mig", name_);
  item("gpuInstance", at<std::uint32_t>(152));
  item("computeInstance", at<std::uint32_t>(156));
}

void RecordDecoder::overhead() {
  if (!has(overhead_bytes)) return;
  const std::uint32_t kind = at<std::uint32_t>(4);
  decoded_.shape = Decoded::Shape::call;
  decoded_.kind = SpanKind::overhead;
  decoded_.name = overhead_word(kind);
  const bool of_thread = at<std::uint32_t>(8) == object_is_thread;
  decoded_.call = {at<std::int64_t>(24), at<std::int64_t>(32),
                   of_thread ? std::int64_t{at<std::uint32_t>(16)} : process_, 0, 0};
}

void RecordDecoder::event() {
  if (!has(event_bytes)) return;
  decoded_.shape = Decoded::Shape::moment;
  decoded_.name = "cudaEvent";
  const auto context = at<std::uint32_t>(8);
  decoded_.activity = {0, 0, contexts_.device_of(context), context, at<std::uint32_t>(12), at<std::uint32_t>(4)};
  item("event_id", at<std::uint32_t>(16));
  if (version_ < version::v12_8 || !has(numbered_event_bytes)) return;
  item("event_sync_id", as_signed(at<std::uint64_t>(48)));
  if (version_ >= version::v13_0) decoded_.activity.begin = decoded_.activity.end = at<std::int64_t>(40);
}

void RecordDecoder::synchronization() {
  if (!has(sync_bytes)) return;
  activity(SpanKind::sync, word(sync_words, at<std::uint32_t>(4)));
  const auto context = at<std::uint32_t>(28);
  decoded_.activity = {at<std::int64_t>(8),   at<std::int64_t>(16), contexts_.device_of(context), context,
                       at<std::uint32_t>(32), at<std::uint32_t>(24)};
  if (const auto id = at<std::uint32_t>(36); id != no_value && id != 0) item("wait_on_cuda_event_id", id);
  if (version_ < version::v12_8 || !has(numbered_sync_bytes)) return;
  const auto id = as_signed(at<std::uint64_t>(40));
  if (id > 0 && id != std::int64_t{no_value}) item("event_sync_id", id);
  if (const auto result = at<std::uint32_t>(48); version_ >= version::v13_0 && result != 0)
    item("return value", result);
}

void RecordDecoder::memory() {
  if (!has(memory_bytes)) return;
  const std::uint32_t kind = at<std::uint32_t>(8);
  const bool on_device = kind == device_memory || kind == static_device_memory;
  const auto bytes = as_signed(std::min<std::uint64_t>(at<std::uint64_t>(24), INT64_MAX));
  const auto time = at<std::int64_t>(32);
  decoded_.shape = Decoded::Shape::moment;
  decoded_.place = recording::MomentPlace::main_thread;
  decoded_.name = "[memory]";
  decoded_.activity = {
      time, time, at<std::uint32_t>(52), at<std::uint32_t>(56), at<std::uint32_t>(60), at<std::uint32_t>(12)};
  item("Device Type", on_device ? 1 : 0);
  item("Device Id", on_device ? std::int64_t{at<std::uint32_t>(52)} : -1);
  item("Addr", as_signed(at<std::uint64_t>(16)));
  item("Bytes", at<std::uint32_t>(4) == releases ? -bytes : bytes);
  text_item("memory kind", word(memory_words, kind));
  if (at<std::uint32_t>(72) != 0) item("async", 1);
}

void RecordDecoder::memory_pool() {
  if (!has(pool_bytes)) return;
  const auto time = at<std::int64_t>(56);
  decoded_.shape = Decoded::Shape::moment;
  decoded_.place = recording::MomentPlace::main_thread;
  decoded_.name = "[memory pool]";
  decoded_.activity = {time, time, at<std::uint32_t>(20), 0, ActivityFields::no_stream, at<std::uint32_t>(12)};
  text_item("operation", word(pool_words, at<std::uint32_t>(4)));
  item("Device Id", at<std::uint32_t>(20));
  item("Addr", as_signed(at<std::uint64_t>(32)));
  item("pool bytes", as_signed(at<std::uint64_t>(40)));
  item("release threshold", as_signed(at<std::uint64_t>(48)));
}

void RecordDecoder::graph() {
  if (!has(graph_bytes)) return;
  name_ = format("CUDA graph {}", at<std::uint32_t>(28));
  activity(SpanKind::graph, name_);
  decoded_.activity = {at<std::int64_t>(8),   at<std::int64_t>(16),  at<std::uint32_t>(24),
                       at<std::uint32_t>(32), at<std::uint32_t>(36), at<std::uint32_t>(4)};
  item("graph id", at<std::uint32_t>(28));
}

bool write(recording::ThreadWriter& pen, const Decoded& decoded) {
  switch (decoded.shape) {
    case Decoded::Shape::activity:
      pen.activity(decoded.kind, decoded.name, decoded.activity, decoded.items());
      return true;
    case Decoded::Shape::call:
      pen.call(decoded.kind, decoded.name, decoded.call, decoded.items());
      return true;
    case Decoded::Shape::moment:
      pen.moment(decoded.place, decoded.name, decoded.activity, decoded.items());
      return true;
    case Decoded::Shape::device:
      pen.device(decoded.name, decoded.ordinal, decoded.uuid, decoded.items());
      return true;
    case Decoded::Shape::left_out:
    case Decoded::Shape::unknown:
      return false;
  }
  return false;
}

}  // namespace rankscope::collectors::cupti
