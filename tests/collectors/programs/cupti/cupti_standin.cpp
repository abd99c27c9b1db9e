// A test double of libcupti: it fills the buffers of its client with records that a test hands to it, and behaves as a
// given version does. STANDIN_CUPTI_VERSION is that version, STANDIN_CUPTI_HOLDER names a profiler that came first,
// STANDIN_CUPTI_AHEAD_NS is what its clock is ahead of CLOCK_REALTIME, STANDIN_CUDA_VERSION is the newest CUDA that the
// driver runs. With STANDIN_CUPTI_REPLAY it is the library that
// wrote that file of RANKSCOPE_CUPTI_DUMP, and its records are those of the file.
#include <sched.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "cupti_builder.h"
#include "cupti_replay.h"
#include "cupti_standin_buffers.h"

namespace {

using rankscope::testing::InCallback;
using rankscope::testing::Replay;
using rankscope::testing::require_zeroed;
using rankscope::testing::StandInBuffers;

constexpr int success = 0, invalid = 1, end_of_buffer = 12, not_compatible = 14, not_initialized = 15,
              several_subscribers = 39, unknown = 999;

using Callback = void (*)(void*, int, std::uint32_t, const void*);
using Request = StandInBuffers::Request;
using Complete = StandInBuffers::Complete;

struct State {
  std::recursive_mutex mutex;
  Request request = nullptr;
  Complete complete = nullptr;
  StandInBuffers buffers;
  std::size_t dropped = 0;
  std::set<std::uint32_t> enabled;
  std::set<std::pair<std::uint32_t, std::uint32_t>> thinned;  ///< kind and number of calls
  unsigned flushes = 0;
  bool unfinished = false;                           ///< the buffers that are being filled hold unfinished records
  bool finalized = false;                            ///< by another profiler
  std::set<std::pair<int, std::uint32_t>> listened;  ///< domain and number of calls
  Callback callback = nullptr;
  std::atomic<bool> subscribed{false};
  bool zeroed = false, system_threads = false, pinned = false;
  int refusals = 0;    ///< of a kind that is refused at first
  bool by_v2 = false;  ///< whoever subscribed used cuptiSubscribe_v2
};
std::atomic<bool> flush_held{false};  ///< by a test: a flush does not end
std::atomic<bool> flush_waiting{false};

State& state() {
  static State* const only = new State;
  return *only;
}

std::atomic<unsigned> asked{0};  ///< for its version

std::int64_t number_in(const char* variable, std::int64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::stoll(text);
}
std::uint32_t own_version() {
  if (const Replay* const replay = Replay::asked_for()) return replay->version();
#ifdef STANDIN_CUPTI_OWN_VERSION
  return STANDIN_CUPTI_OWN_VERSION;
#else
  return static_cast<std::uint32_t>(number_in("STANDIN_CUPTI_VERSION", 130001));
#endif
}

std::uint64_t realtime() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec);
}

/// From the clock of this machine to that of the one where records were dumped, whose last buffer came just now.
std::uint64_t ahead() {
  static const std::uint64_t replayed =
      Replay::asked_for() == nullptr ? 0 : Replay::asked_for()->last_clock() - realtime();
  return replayed + static_cast<std::uint64_t>(number_in("STANDIN_CUPTI_AHEAD_NS", 0));
}

/// A record of an enabled kind. `open`: it has no end yet, and this number.
bool push(const void* record, std::size_t bytes, std::uint64_t open) {
  State& own = state();
  const std::lock_guard lock(own.mutex);
  std::uint32_t kind = 0, number = 0;
  std::memcpy(&kind, record, sizeof kind);
  std::memcpy(&number, static_cast<const char*>(record) + 4, sizeof number);
  if (!own.enabled.contains(kind) || own.thinned.contains({kind, number})) return false;
  // What CUPTI would do before 12.9 with no buffer at all: crash.
  std::uint8_t* const place = own.buffers.place_for(
      bytes, open, {.crashes_without = own_version() < 27, .keeps = number_in("STANDIN_CUPTI_KEEPS", 0) != 0});
  if (place == nullptr) {
    ++own.dropped;
    return false;
  }
  std::memcpy(place, record, bytes);
  constexpr std::uint32_t cuda_event = 36;
  if (kind == cuda_event && own_version() >= 130000) std::memset(place + 40, 0, 8);  // its time on request
  return true;
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

// For the program that plays the GPU.
EXPORTED bool standin_push(const void* record, std::size_t bytes) { return push(record, bytes, 0); }
/// A kernel that still runs.
EXPORTED bool standin_push_open(const void* record, std::size_t bytes, std::uint64_t open) {
  return push(record, bytes, open);
}
EXPORTED bool standin_finish(std::uint64_t open, std::uint64_t end) {
  const std::lock_guard lock(state().mutex);
  return state().buffers.finish(open, end);
}
/// As another profiler that calls cuptiFinalize.
EXPORTED void standin_finalize() {
  const std::lock_guard lock(state().mutex);
  state().buffers.forget();
  state().enabled.clear();
  state().finalized = true;
}
/// A buffer of its own, of these bytes; from any thread.
EXPORTED void standin_hand_over(const void* bytes, std::size_t count) {
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0, most = 0;
  state().request(&buffer, &size, &most);
  if (buffer == nullptr || size < count) std::abort();
  require_zeroed(buffer, size, 1);
  if (count > 0) std::memcpy(buffer, bytes, count);
  state().complete(nullptr, 0, buffer, size, count);
}
EXPORTED std::uint64_t standin_now() { return realtime() + ahead(); }
/// Hands back all buffers of the dump.
EXPORTED bool standin_replay() {
  State& own = state();
  const std::lock_guard lock(own.mutex);
  Replay* const replay = Replay::asked_for();
  if (replay == nullptr || !own.subscribed) return false;
  own.buffers.flush(true);
  for (Replay::Block& block : replay->blocks()) {
    std::uint8_t* buffer = nullptr;
    std::size_t size = 0, most = 0;
    own.request(&buffer, &size, &most);
    if (buffer == nullptr || size < block.content.size()) return false;
    std::memcpy(buffer, block.content.data(), block.content.size());
    replay->being_read = &block;
    own.complete(nullptr, 0, buffer, size, block.content.size());
    replay->being_read = nullptr;
  }
  return true;
}
EXPORTED bool standin_is_subscribed() { return state().subscribed; }
EXPORTED std::size_t standin_enabled_kinds() { return state().enabled.size(); }
EXPORTED bool standin_is_enabled(std::uint32_t kind) {
  const std::lock_guard lock(state().mutex);
  return state().enabled.contains(kind);
}
EXPORTED unsigned standin_flushes() {
  const std::lock_guard lock(state().mutex);
  return state().flushes;
}
/// As while the GPU is always busy: a flush returns no buffer, unless it is forced. Full ones are returned.
EXPORTED void standin_keep_unfinished(bool unfinished) {
  const std::lock_guard lock(state().mutex);
  state().unfinished = unfinished;
}
EXPORTED bool standin_is_set_up() {
  return state().zeroed && state().system_threads && state().pinned == (own_version() < 130001);
}

EXPORTED unsigned standin_asked() { return asked; }

#ifdef STANDIN_CUPTI_CALLS_DRIVER
/// As from 13.2 on; 13.2 crashes without a driver.
EXPORTED int cuptiActivityRegisterCallbacks_v2(void*, void*, void*) { return not_compatible; }
static void call_driver() {
  if (std::getenv("STANDIN_CUDA_WORKS") == nullptr) std::abort();
}
#else
static void call_driver() {}
#endif

EXPORTED int cuptiGetVersion(std::uint32_t* version) {
  call_driver();
  ++asked;
  *version = own_version();
  return success;
}
EXPORTED int cuptiGetTimestamp(std::uint64_t* time) {
  *time = standin_now();
  return success;
}
struct Params {
  std::size_t size;
  const char* name;
  char* other;
  std::size_t other_size;
};
static int subscribe(void** subscriber, void* callback, Params* params) {
  // Of CUDA 13, on a driver for CUDA 12.
  if (own_version() >= 130000 && number_in("STANDIN_CUDA_VERSION", 13'000) < 13'000) return not_initialized;
  if (const char* const holder = std::getenv("STANDIN_CUPTI_HOLDER")) {
    if (params != nullptr && params->size == sizeof(Params) && params->other != nullptr)
      std::snprintf(params->other, params->other_size, "CUPTI for %s", holder);
    return several_subscribers;
  }
  state().callback = reinterpret_cast<Callback>(callback);
  state().subscribed = true;
  *subscriber = &state();
  return success;
}
EXPORTED int cuptiSubscribe_v2(void** subscriber, void* callback, void*, Params* params) {
  state().by_v2 = true;
  return subscribe(subscriber, callback, params);
}
EXPORTED int cuptiSubscribe(void** subscriber, void* callback, void*) {
  state().by_v2 = false;
  return subscribe(subscriber, callback, nullptr);
}
/// From 13.2 on, each function of the activity interface exists twice, and what has subscribed decides which may be
/// used.
static bool may_use_first_interface() { return !state().by_v2 || own_version() < 130200; }
EXPORTED int cuptiEnableCallback(std::uint32_t enable, void*, int domain, std::uint32_t number) {
  if (enable == 0) return invalid;
  state().listened.insert({domain, number});
  return success;
}
/// A call of the program, to who listens.
EXPORTED void standin_call(int domain, std::uint32_t number) {
  if (state().subscribed && state().listened.contains({domain, number}))
    state().callback(nullptr, domain, number, nullptr);
}
EXPORTED int cuptiUnsubscribe(void*) {
  InCallback::refuse();
  state().subscribed = false;
  return success;
}
EXPORTED int cuptiSetThreadIdType(int type) {
  state().system_threads = type == 1;
  return success;
}
EXPORTED int cuptiActivitySetAttribute(int attribute, std::size_t* size, void* value) {
  if (attribute == 5 && *size == 1) state().zeroed = *static_cast<std::uint8_t*>(value) == 1;
  if (attribute == 8 && *size == 1) state().pinned = *static_cast<std::uint8_t*>(value) == 1;
  if (attribute != 9) return success;
  if (own_version() < 130000) return invalid;
  const std::lock_guard lock(state().mutex);
  state().buffers.set_per_thread(*static_cast<std::uint8_t*>(value) != 0);
  return success;
}
EXPORTED int cuptiActivityRegisterCallbacks(Request request, Complete complete) {
  InCallback::refuse();
  if (!may_use_first_interface()) return not_compatible;
  const std::lock_guard lock(state().mutex);  // the buffer in use goes to who registers now, as on an H200 (13.0.1)
  state().request = request;
  state().complete = complete;
  state().buffers.register_client(request, complete);
  return success;
}
EXPORTED int cuptiActivityEnable(std::uint32_t kind) {
  InCallback::refuse();
  if (state().finalized) return not_initialized;
  if (!may_use_first_interface()) return not_compatible;
  if (static_cast<std::uint32_t>(number_in("STANDIN_CUPTI_REFUSES", 0)) == kind) return unknown;
  if (static_cast<std::uint32_t>(number_in("STANDIN_CUPTI_REFUSES_AT_FIRST", 0)) == kind && state().refusals++ < 2)
    return not_initialized;
  const std::lock_guard lock(state().mutex);
  state().enabled.insert(kind);
  std::erase_if(state().thinned, [kind](const auto& one) { return one.first == kind; });
  return success;
}
EXPORTED int cuptiActivityEnableAndDump(std::uint32_t kind) { return cuptiActivityEnable(kind); }
EXPORTED int cuptiActivityDisable(std::uint32_t kind) {
  InCallback::refuse();
  const std::lock_guard lock(state().mutex);
  state().enabled.erase(kind);
  return success;
}
#if !defined(STANDIN_CUPTI_OWN_VERSION) || STANDIN_CUPTI_OWN_VERSION >= 23  // not before 12.5
static int thin(std::uint32_t kind, std::uint32_t number, std::uint8_t enable) {
  const std::lock_guard lock(state().mutex);
  if (enable == 0) state().thinned.insert({kind, number});
  return success;
}
EXPORTED int cuptiActivityEnableRuntimeApi(std::uint32_t number, std::uint8_t enable) {
  return thin(5, number, enable);
}
EXPORTED int cuptiActivityEnableDriverApi(std::uint32_t number, std::uint8_t enable) { return thin(4, number, enable); }
#endif
/// Holds the next flush back until this is called with false.
EXPORTED void standin_hold_flush(bool hold) { flush_held = hold; }
EXPORTED bool standin_is_flushing() { return flush_waiting; }
EXPORTED int cuptiActivityFlushAll(std::uint32_t flags) {
  InCallback::refuse();
  while (flush_held) {
    flush_waiting = true;
    sched_yield();
  }
  State& own = state();
  const std::lock_guard lock(own.mutex);
  ++own.flushes;
  if (own.finalized) return not_initialized;
  if (!own.unfinished || flags != 0) own.buffers.flush(flags != 0);
  return success;
}
EXPORTED int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, void** record) {
  std::size_t offset = 0;
  if (const Replay* const replay = Replay::asked_for(); replay != nullptr && replay->being_read != nullptr)
    return replay->being_read->step(buffer, record) ? success : end_of_buffer;
  if (*record != nullptr) {
    offset = static_cast<std::size_t>(static_cast<std::uint8_t*>(*record) - buffer);
    std::uint32_t kind = 0;
    std::memcpy(&kind, buffer + offset, sizeof kind);
    offset += rankscope::testing::activity_bytes(kind, own_version());
  }
  if (offset + 4 > valid) return end_of_buffer;
  *record = buffer + offset;
  return success;
}
EXPORTED int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
  const std::lock_guard lock(state().mutex);
  *dropped = state().dropped;
  state().dropped = 0;  // as CUPTI does
  return success;
}
EXPORTED int cuptiGetCallbackName(int domain, std::uint32_t number, const char** name) {
  if (const Replay* const replay = Replay::asked_for()) {
    *name = replay->call_name(domain, number);
    return *name == nullptr ? invalid : success;
  }
  *name = domain == 2 && number == 211   ? "cudaLaunchKernel_v7000"
          : domain == 2 && number == 41  ? "cudaMemcpyAsync_v3020"
          : domain == 1 && number == 307 ? "cuLaunchKernel"
                                         : nullptr;
  return *name == nullptr ? invalid : success;
}
EXPORTED int cuptiGetResultString(int result, const char** text) {
  *text = result == unknown           ? "CUPTI_ERROR_UNKNOWN"
          : result == not_initialized ? "CUPTI_ERROR_NOT_INITIALIZED"
          : result == not_compatible  ? "CUPTI_ERROR_NOT_COMPATIBLE"
                                      : "CUPTI_ERROR_INVALID_PARAMETER";
  return success;
}
EXPORTED int cuptiActivityEnableAllSyncRecords(std::uint8_t) { return success; }
EXPORTED int cuptiFinalize() { std::abort(); }  // it stops all threads of a program; nobody may call it
EXPORTED int cuptiActivityRegisterTimestampCallback(void*) { std::abort(); }               // it corrupts kernel records
EXPORTED int cuptiActivityEnableCudaEventDeviceTimestamps(std::uint8_t) { std::abort(); }  // it makes each event dearer
EXPORTED int cuptiActivityEnableLatencyTimestamps(std::uint8_t) { std::abort(); }
EXPORTED int cuptiActivityEnableHWTrace(std::uint8_t) { std::abort(); }
