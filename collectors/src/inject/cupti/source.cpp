#include "inject/cupti/source.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cupti/library.h"
#include "inject/cupti/budget.h"
#include "inject/cupti/buffers.h"
#include "inject/cupti/clock.h"
#include "inject/cupti/deliveries.h"
#include "inject/cupti/dump.h"
#include "inject/cupti/keep_budget.h"
#include "inject/cupti/kinds.h"
#include "inject/cupti/names.h"
#include "inject/cupti/pm_source.h"
#include "inject/cupti/subscription.h"
#include "inject/recorder/lock_within.h"
#include "inject/recorder/pace.h"
#include "inject/recorder/quiet_thread.h"
#include "inject/recorder/recorder.h"
#include "inject/recorder/thread_state.h"
#include "rankscope/core/format.h"
#include "rankscope/core/recording/manifest.h"

namespace rankscope::inject::cupti {
namespace {

using collectors::Pace;
using collectors::cupti::Contexts;
using collectors::cupti::Decoded;
using collectors::cupti::Functions;
using collectors::cupti::Kind;
using collectors::cupti::Library;
using collectors::cupti::profiler_calls;
using collectors::cupti::RecordDecoder;
using collectors::cupti::Subscriber;
namespace result = collectors::cupti::result;
namespace version = collectors::cupti::version;

constexpr std::int64_t flush_period_ns = 500'000'000;  // CUPTI's own period returns full buffers only
constexpr std::chrono::seconds patience{2};            // for a flush that is going on when the process ends
constexpr int rounds_until_delivered = 4;              // 2 s after the window nothing of it is on its way any more
constexpr std::int64_t look_period_ns = 10'000'000;    // while kinds rest
constexpr std::size_t records_between_refills = 512;
constexpr std::size_t discarded_bytes = 17 * 4096;  // of a buffer that is handed out to be thrown away, and of no other
constexpr std::uint32_t flush_forced = 1;
constexpr int threads_by_system_id = 1;
constexpr std::size_t stack_bytes = std::size_t{1} << 20;

/// CUpti_ActivityAttribute.
enum class Attribute : int { zeroed_buffers = 5, pinned_buffers = 8, buffer_per_thread = 9 };

/// What decoding one buffer needs; as many as buffers complete at a time.
struct Session {
  Session(const Library& library, Contexts& contexts)
      : names(library.call), decoder(library.version, getpid(), names.texts(), contexts) {}
  Names names;
  RecordDecoder decoder;
};

/// Lives as long as the process.
struct Source {
  Library library;
  Buffers buffers;
  Contexts contexts;
  Subscriber subscriber = nullptr;
  Kinds kinds;  ///< of whoever holds `flushing`
  Deliveries deliveries;
  Budget budget;
  std::mutex sessions_mutex;
  std::vector<std::unique_ptr<Session>> sessions;
  std::mutex flushing;  ///< never taken by a callback
  std::atomic<bool> active{false};
  std::atomic<std::int64_t> latest_call{0};  ///< when the call began that was told last
  int closed_rounds = 0;                     ///< of its thread, in which nothing was of use
  pid_t process = 0;

  /// False in the child of a fork: CUPTI is unusable there.
  [[nodiscard]] bool usable() const { return active.load() && process == getpid(); }
};

Source& source() {
  static Source* const only = new Source;
  return *only;
}

std::unique_ptr<Session> take_session(Source& from) {
  const std::lock_guard lock(from.sessions_mutex);
  if (from.sessions.empty()) return std::make_unique<Session>(from.library, from.contexts);
  auto session = std::move(from.sessions.back());
  from.sessions.pop_back();
  return session;
}

void give_back(Source& to, std::unique_ptr<Session> session) {
  const std::lock_guard lock(to.sessions_mutex);
  to.sessions.push_back(std::move(session));
}

/// What is told afterwards belongs to the window in which it happened. Events have no time: they belong to
/// that of the call which was told before them.
bool is_wanted(const Decoded& decoded, std::int64_t latest_call) {
  switch (decoded.shape) {
    case Decoded::Shape::activity:
      return window_control.was_open(decoded.activity.begin);
    case Decoded::Shape::call:
      return window_control.was_open(decoded.call.begin) && !pm::is_own_thread(decoded.call.thread);
    case Decoded::Shape::moment:
      if (decoded.activity.begin != 0) return window_control.was_open(decoded.activity.begin);
      return latest_call != 0 ? window_control.was_open(latest_call) : gate.open.load(std::memory_order_relaxed);
    case Decoded::Shape::device:
    case Decoded::Shape::left_out:
    case Decoded::Shape::unknown:
      return true;
  }
  return true;
}

void store(Source& own, RecordDecoder& decoder, std::span<std::uint8_t> buffer) {
  const Functions& call = own.library.call;
  ThreadState* const state = here();
  std::int64_t latest_call = own.latest_call.load(std::memory_order_relaxed);
  void* record = nullptr;
  std::uint64_t unknown = 0;
  std::uint64_t lost = 0;
  for (std::size_t count = 1; call.next_record(buffer.data(), buffer.size(), &record) == result::success; ++count) {
    if (state == nullptr) {
      ++lost;
      continue;
    }
    const auto offset = static_cast<std::size_t>(static_cast<std::uint8_t*>(record) - buffer.data());
    const Decoded& decoded = decoder.decode(std::as_bytes(buffer.subspan(offset)));
    if (decoded.shape == Decoded::Shape::unknown) ++unknown;
    if (decoded.shape == Decoded::Shape::call && decoded.call.begin != 0) latest_call = decoded.call.begin;
    if (decoded.shape == Decoded::Shape::call && own.deliveries.take_own(decoded.call.thread)) continue;
    if (decoded.shape == Decoded::Shape::call && decoded.kind == SpanKind::runtime)
      own.budget.called(decoded.call.thread, decoded.call.begin, decoded.call.end);
    if (is_wanted(decoded, latest_call)) write(state->pen(), decoded);
    if (count % records_between_refills == 0) ready_chunks();
  }
  own.latest_call.store(latest_call, std::memory_order_relaxed);
  if (unknown > 0) count(Trouble::activities_unknown, unknown);
  if (lost > 0) count(Trouble::activities_dropped, lost);
}

/// It resets what it tells.
void count_dropped(const Functions& call) {
  std::size_t dropped = 0;
  if (call.dropped_records(nullptr, 0, &dropped) == result::success && dropped > 0)
    count(Trouble::activities_dropped, dropped);
}

void discard(const Functions& call, std::span<std::uint8_t> buffer) {
  std::uint64_t records = 0;
  void* record = nullptr;
  while (call.next_record(buffer.data(), buffer.size(), &record) == result::success) ++records;
  count(Trouble::activities_dropped, records);
}

void buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  guarded([&] {
    Source& own = source();
    *most_records = 0;  // as many as fit
    *buffer = own.buffers.take();
    *size = *buffer == nullptr ? 0 : Buffers::bytes;
    if (*buffer != nullptr || own.library.version >= version::v12_9) return;  // CUPTI drops and counts
    // Older ones crash without a buffer.
    void* const memory = mmap(nullptr, discarded_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    *buffer = static_cast<std::uint8_t*>(memory);
    *size = discarded_bytes;
  });
}

void buffer_completed(void*, std::uint32_t, std::uint8_t* buffer, std::size_t size, std::size_t valid) {
  if (buffer == nullptr) return;
  guarded([&] {
    Source& own = source();
    own.deliveries.delivered();
    const Functions& call = own.library.call;
    const std::span<std::uint8_t> used{buffer, std::min(valid, size)};
    if (size == discarded_bytes) {
      discard(call, used);
      munmap(buffer, size);
    } else {
      if (own.process == getpid()) {
        auto session = take_session(own);
        store(own, session->decoder, used);
        give_back(own, std::move(session));
        dump_if_asked(own.library, used);
      }
      own.buffers.give_back(buffer, used.size());
    }
    count_dropped(call);
  });
}

void say_problem(const std::string& problem) {
  count_failed_source();
  if (ThreadState* const state = here()) state->pen().metadata("cupti_problem", problem);
}

void anchor(const Functions& call) {
  ThreadState* const state = here();
  const auto reading = state == nullptr ? std::nullopt : read_clock(call.get_timestamp);
  if (reading) state->pen().anchor(recording::ForeignClock::activities, reading->ticks, reading->ns);
}

/// Calls CUPTI with what one thread at a time may do. False: it is not used any more, or a flush does not end.
template <class Action>
bool with_cupti(Source& own, Action action) {
  if (!own.usable()) return false;  // in the child of a fork a flush of its parent never ends
  const std::unique_lock lock = lock_within(own.flushing, patience);
  if (!lock.owns_lock() || !own.usable()) return false;
  action(own.library.call);
  return true;
}

/// Ends the recording of activities; the program is as fast as before from then on. cuptiFinalize is not called: it
/// stops all threads of the program and has crashed it.
void finish() {
  Source& own = source();
  with_cupti(own, [&own](const Functions& call) {
    own.kinds.disable(call);
    call.flush_all(0);
    call.flush_all(flush_forced);
    count_dropped(call);
    anchor(call);
    call.unsubscribe(own.subscriber);
    own.active.store(false);
  });
}

void finish_at_exit() {
  guarded([] { finish(); });
}

/// Nothing reported now is of use, and what will be begins late enough to be asked for before. cudaProfilerStart is
/// to be exact, and CUPTI's callbacks may not ask for anything.
bool may_rest() { return window_control.is_waiting() || (window_control.is_switched_off() && !is_toggled_by_cuda()); }

/// A window that is open already misses the calls that came before.
void say_if_late() {
  if (!gate.open.load(std::memory_order_relaxed)) return;
  static std::int64_t latest_ms = -1;
  const std::int64_t late_ms = window_control.unchanged_for_ns() / 1'000'000;
  ThreadState* const state = here();
  if (state == nullptr || late_ms <= latest_ms) return;
  latest_ms = late_ms;
  state->pen().metadata("cupti_calls_late",
                        format("CUDA calls in the first {} ms after recording was turned on are missing", late_ms));
}

void wake(Source& own) {
  if (with_cupti(own, [&own](const Functions& call) { own.kinds.wake(call); })) say_if_late();
}

constexpr const char* taken_over =
    "another profiler in the process has taken the records of CUPTI for itself, so kernels and copies after that are "
    "missing; stop that profiler, or leave CUPTI to it (--collect annotate,nvtx,host,nccl,nvml)";

/// The call of the recorder's own thread comes back at once only where each thread has a buffer of its own: else an
/// unfinished kernel of the program keeps the buffer.
bool tells_deliveries(const Source& own) {
  return own.library.version >= version::v13_0 && own.kinds.has(Kind::driver) && !own.kinds.resting();
}

/// Flushes. Once all of the last window is delivered, it ends; before the next one it rests.
void round(Source& own) {
  const bool over = window_control.is_finished();
  own.closed_rounds = over || may_rest() ? own.closed_rounds + 1 : 0;
  const bool delivered = own.closed_rounds >= rounds_until_delivered;
  if (over && delivered) return finish();
  with_cupti(own, [&](const Functions& call) {
    const bool can_tell = tells_deliveries(own);
    if (can_tell) own.deliveries.ask();
    call.flush_all(0);
    anchor(call);
    keep_budget(own.budget, own.kinds, call);
    if (const std::string refused = own.kinds.ask_again(call); !refused.empty()) say_problem(refused);
    if (can_tell && own.deliveries.are_lost()) say_problem(taken_over);
    if (delivered && !own.kinds.resting()) own.kinds.rest(call);
  });
}

/// For as long as a round takes, or until it was woken.
void look_at_window(Source& own) {
  Pace pace{look_period_ns};
  for (std::int64_t waited = 0; waited < flush_period_ns && own.kinds.resting(); waited += look_period_ns) {
    pace.wait();
    if (!may_rest()) wake(own);
  }
}

void* keep_flushing(void*) {
  Source& own = source();
  own.deliveries.prepare();
  Pace pace{flush_period_ns};
  while (own.usable() && !process_ends()) {
    guarded([&] {
      own.kinds.resting() ? look_at_window(own) : pace.wait_while([] { return !process_ends(); });
      round(own);
    });
  }
  return nullptr;
}

/// Of the calls that switch the recording, when they begin and when they end; of no others.
void profiler_called(void*, int domain, std::uint32_t number, const void*) {
  const auto* const call = std::ranges::find_if(
      profiler_calls, [&](const auto& one) { return one.domain == domain && one.number == number; });
  if (call == profiler_calls.end() || source().process != getpid()) return;
  window_control.switch_to(call->starts);
  static std::atomic<bool> reported{false};
  if (!call->starts || reported.exchange(true)) return;
  guarded([] {
    if (ThreadState* const state = here()) state->pen().metadata("recording_switched_by", "cudaProfilerStart");
  });
}

void set_attribute(const Functions& call, Attribute attribute, std::uint8_t value) {
  std::size_t size = sizeof value;
  call.set_attribute(static_cast<int>(attribute), &size, &value);  // a version without it does without
}

/// Of what the user asked for, CUPTI tells of allocations.
void say_details(const Kinds& kinds) {
  if (!kinds.has(Kind::memory)) return;
  collectors::DetailSet recorded;
  recorded.add(collectors::Detail::memory);
  ThreadState* const state = here();
  if (state != nullptr) state->pen().metadata(recording::details_recorded_key, collectors::name_of(recorded));
}

/// A sentence if it was not possible.
std::string begin(Source& own) {
  const Subscription subscription = load_and_subscribe(own.library, own.subscriber, profiler_called);
  if (!own.library.problem.empty()) return own.library.problem;
  if (ThreadState* const state = here()) {
    state->pen().metadata("cupti_version", std::to_string(own.library.version));
    state->pen().metadata("cupti_library", std::filesystem::path{own.library.path}.filename().string());
    if (!own.library.passed_over.empty()) state->pen().metadata("cupti_passed_over", own.library.passed_over);
    if (asked_graph_level() == collectors::GraphLevel::graph) state->pen().metadata("cuda_graphs", "graph");
  }
  const Functions& call = own.library.call;
  if (std::string problem = problem_of(call, subscription); !problem.empty()) return problem;
  call.set_thread_id_type(threads_by_system_id);  // else threads are numbers that nothing else knows
  own.buffers.prepare(Buffers::wanted());
  set_attribute(call, Attribute::zeroed_buffers, 1);
  // Before 13.0 Update 1, CUDA graphs crash with the other place of CUPTI's own buffers, the memory of the device
  // (release notes). Refused under confidential computing, which has no such memory.
  if (own.library.version < version::v13_0_update_1) set_attribute(call, Attribute::pinned_buffers, 1);
  if (own.library.version >= version::v13_0) set_attribute(call, Attribute::buffer_per_thread, 1);
  own.process = getpid();
  if (const int status = call.register_callbacks(buffer_requested, buffer_completed); status != result::success) {
    call.unsubscribe(own.subscriber);
    return "CUPTI refused buffers: " + call.text_of(status);
  }
  own.active.store(true);
  begin_budget(own.budget);
  anchor(call);
  std::atexit(finish_at_exit);
  std::string problem = own.kinds.enable(call);
  say_details(own.kinds);
  if (is_toggled_by_cuda()) {
    const std::string refused = watch_profiler_calls(call, own.subscriber);
    if (problem.empty()) problem = refused;
  }
  start_quiet_thread("rankscope-cupti", stack_bytes, keep_flushing);
  return problem;
}

}  // namespace

bool is_subscribed() noexcept { return source().usable(); }

void start() noexcept {
  static std::atomic<bool> started{false};
  if (started.exchange(true)) return;
  guarded([] {
    if (const std::string problem = begin(source()); !problem.empty()) say_problem(problem);
  });
}

}  // namespace rankscope::inject::cupti
