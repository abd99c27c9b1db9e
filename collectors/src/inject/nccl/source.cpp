#include "inject/nccl/source.h"

#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <memory>

#include "inject/nccl/handles.h"
#include "inject/nccl/open_events.h"
#include "inject/nccl/version.h"
#include "inject/recorder/recorder.h"
#include "inject/recorder/thread_state.h"
#include "rankscope/core/recording/thread_writer.h"
#include "rankscope/core/recording/tick_clock.h"

namespace rankscope::inject::nccl {
namespace {

using recording::Owner;
using recording::ThreadWriter;

// Numbers of operations and ranges that no other source of this process uses.
constexpr std::uint64_t own_numbers = std::uint64_t{0x4E43} << 40;
std::atomic<std::uint64_t> next_number{own_numbers};

OpenEvents open_events;

std::int64_t now_ns() { return static_cast<std::int64_t>(recording::TickClock::now_monotonic()); }

/// The pen of the calling thread, or null where nothing is stored now.
ThreadWriter* pen() {
  ThreadState* const state = here();
  return state != nullptr && gate.open.load(std::memory_order_relaxed) ? &state->pen() : nullptr;
}

std::string name_of(std::uint64_t hash) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), hash, 16).ptr;
  return "communicator 0x" + std::string{digits.data(), end};
}

void identify(Communicator& communicator, std::uint64_t hash, const char* name) {
  const std::lock_guard lock(communicator.naming);
  if (communicator.identified.load(std::memory_order_relaxed)) return;
  communicator.hash = hash;
  communicator.group = name_of(hash);
  if (name != nullptr) communicator.configured_name = name;
  communicator.identified.store(true, std::memory_order_release);
}

/// A recording must know the communicator before an operation in it; a fork begins a new one.
void announce(ThreadWriter& to, Communicator& communicator) {
  const std::uint64_t now = generation().load(std::memory_order_relaxed);
  if (communicator.announced.exchange(now, std::memory_order_relaxed) == now) return;
  to.communicator(communicator.group, communicator.ranks, communicator.rank);
}

std::int64_t bytes_of(const Event& event) {
  std::uint64_t bytes = 0;
  const std::uint32_t size = element_type(element_type_index(event.datatype)).bytes;
  if (__builtin_mul_overflow(event.count, std::uint64_t{size}, &bytes) || bytes > INT64_MAX) return -1;
  return static_cast<std::int64_t>(bytes);
}

std::int64_t sequence_of(Communicator& communicator, const Event& event) {
  if (event.type == event_type::p2p || is_of_graph(event)) return SequenceNumbers::none;
  if (event.type == event_type::ce_coll) return communicator.sequence.next();  // NCCL numbers these apart
  return communicator.sequence.next(function_index(event.function), event.sequence);
}

/// AllGather and Broadcast count bytes; the API call around them still knows the type.
std::string_view type_of(const Event& event) {
  const std::uint32_t of_call = element_type_of_call(event);
  return element_type(of_call != 0 ? of_call : element_type_index(event.datatype)).name;
}

/// NCCL reports on a thread of CUDA where it launches a host function for its proxy (src/enqueue.cc,
/// ncclLaunchPrepare): with CUDA_LAUNCH_BLOCKING, for CUDA graphs, and beside graphs of the communicator
/// (2.23.4, 2.26.2: while one exists; from 2.27.7 on while an earlier host function is pending). The kernel is launched
/// by the thread that called NCCL.
void tell_caller(ThreadWriter& to, const Event& event, Owner owner) {
  const ThreadState* const state = here();
  const Caller caller = caller_of(event, now_ns());
  if (state == nullptr || caller.thread == 0 || caller.thread == state->os_thread() || is_of_graph(event)) return;
  to.attribute(recording::called_on_key, caller.thread, owner);
  to.attribute(recording::called_ago_key, caller.ago_ns, owner);
}

void describe(ThreadWriter& to, const Communicator& communicator, const Event& event, Owner owner) {
  if (!event.algorithm.empty()) to.attribute("algorithm", event.algorithm, owner);
  if (!event.protocol.empty()) to.attribute("protocol", event.protocol, owner);
  if (event.channels > 0) to.attribute("channels", event.channels, owner);
  if (event.sequence >= 0) to.attribute("nccl_sequence", event.sequence, owner);
  if (!communicator.configured_name.empty()) to.attribute("communicator_name", communicator.configured_name, owner);
}

/// A collective, send or receive is enqueued.
Handle start_operation(Communicator& communicator, const Event& event) {
  if (event.communicator_hash != 0 && !communicator.identified.load(std::memory_order_acquire))
    identify(communicator, event.communicator_hash, event.communicator_name);
  // Counted also where nothing is stored, so that the members agree.
  const std::int64_t sequence = sequence_of(communicator, event);
  ThreadWriter* const to = pen();
  if (to == nullptr) return 0;
  announce(*to, communicator);
  const std::uint64_t uid = next_number.fetch_add(1, std::memory_order_relaxed);
  to->comm_enqueued({.uid = uid,
                     .sequence = sequence,
                     .bytes = bytes_of(event),
                     .group = communicator.group,
                     .op = operation_from(event.function),
                     .dtype = type_of(event),
                     .members = "",
                     .peer = event.root});
  tell_caller(*to, event, Owner::comm(uid));
  describe(*to, communicator, event, Owner::comm(uid));
  return tagged(Tag::operation, uid);
}

std::uint64_t operation_above(const Event& event) {
  const Handle parent = parent_of(event);
  return tag_of(parent) == Tag::operation ? value_of(parent) : 0;
}

Handle open(const OpenEvent& event) {
  const std::uint64_t slot = open_events.open(event);
  if (slot == 0) count(Trouble::comm_events_dropped);
  return slot == 0 ? 0 : tagged(Tag::slot, slot);
}

Handle start_proxy_operation(const Event& event) {
  ThreadWriter* const to = pen();
  if (to == nullptr) return 0;
  OpenEvent opened{.kind = OpenEvent::Kind::proxy_op, .is_send = event.is_send};
  // The proxy of another process may carry out what this one began: its handles mean nothing here.
  opened.uid = event.process == getpid() ? operation_above(event) : 0;
  const std::uint64_t range = next_number.fetch_add(1, std::memory_order_relaxed);
  if (!to->range_start(SpanKind::api, event.is_send ? "proxy send" : "proxy receive", range)) return 0;
  opened.range = range;
  const Handle handle = open(opened);
  if (handle == 0) return to->range_end(range), 0;
  const Owner owner = Owner::range(range);
  to->attribute("channel", event.channel, owner);
  to->attribute("peer", event.root, owner);
  to->attribute("planned_steps", event.steps, owner);
  to->attribute("chunk_bytes", event.chunk_bytes, owner);
  if (opened.uid != 0) to->comm_started(opened.uid);
  return handle;
}

Handle start_proxy_step(const Event& event) {
  const Handle parent = parent_of(event);
  if (tag_of(parent) != Tag::slot || pen() == nullptr) return 0;
  OpenEvent* const operation = open_events.find(value_of(parent));
  if (operation == nullptr) return 0;
  const auto first = operation->is_send ? OpenEvent::own_gpu : OpenEvent::transfer;
  return open({.kind = OpenEvent::Kind::proxy_step,
               .is_send = operation->is_send,
               .parent = value_of(parent),
               .since_ns = now_ns(),
               .wait = first});
}

Noticed noticed(std::uint64_t gpu_ns) {
  static const recording::TickClock clock = recording::TickClock::detect();
  return {clock.now(), now_ns(), static_cast<std::int64_t>(gpu_ns)};
}

Handle start_channel(Communicator& communicator, const Event& event) {
  const std::uint64_t uid = operation_above(event);
  ThreadWriter* const to = pen();
  if (to == nullptr || uid == 0) return 0;
  const std::uint64_t began_ns = event.gpu_time * communicator.timer.ns_per_count();
  const bool is_timed = began_ns != 0 && communicator.timer.saw(*to, noticed(began_ns));
  if (!is_timed) to->comm_started(uid);
  return open({.kind = OpenEvent::Kind::kernel_channel,
               .uid = uid,
               .gpu_begin = is_timed ? began_ns : 0,
               .ns_per_count = communicator.timer.ns_per_count()});
}

void stop_proxy_operation(ThreadWriter& to, const OpenEvent& event) {
  const Owner owner = Owner::range(event.range);
  constexpr std::array<std::string_view, OpenEvent::wait_count> keys{"own_gpu_wait_ns", "peer_wait_ns", "transfer_ns",
                                                                     "flush_ns"};
  to.attribute("steps", event.steps, owner);
  to.attribute("bytes", event.bytes, owner);
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (event.waited_ns[i] > 0) to.attribute(keys[i], event.waited_ns[i], owner);
  to.range_end(event.range);
  if (event.uid != 0) to.comm_finished(event.uid);
}

/// Adds what a step waited for last to the sums of its operation.
void account(OpenEvent& step, std::int64_t now) {
  if (OpenEvent* const operation = open_events.find(step.parent))
    operation->waited_ns[step.wait] += std::max<std::int64_t>(now - step.since_ns, 0);
  step.since_ns = now;
}

void stop_proxy_step(OpenEvent& step) {
  account(step, now_ns());
  if (OpenEvent* const operation = open_events.find(step.parent)) {
    ++operation->steps;
    operation->bytes += step.bytes;
  }
}

void stop_channel(ThreadWriter& to, const OpenEvent& event) {
  if (event.gpu_begin == 0) return to.comm_finished(event.uid);
  if (event.gpu_end >= event.gpu_begin)
    to.comm_device_times(event.uid, static_cast<std::int64_t>(event.gpu_begin),
                         static_cast<std::int64_t>(event.gpu_end));
}

void stop_slot(std::uint64_t slot) {
  OpenEvent* const event = open_events.find(slot);
  if (event == nullptr) return;
  if (ThreadWriter* const to = pen()) {
    switch (event->kind) {
      case OpenEvent::Kind::proxy_op:
        stop_proxy_operation(*to, *event);
        break;
      case OpenEvent::Kind::proxy_step:
        stop_proxy_step(*event);
        break;
      case OpenEvent::Kind::kernel_channel:
        stop_channel(*to, *event);
        break;
    }
  }
  open_events.close(slot);
}

OpenEvent::Wait wait_of(State state) {
  switch (state) {
    case State::send_gpu_wait:
    case State::receive_gpu_wait:
      return OpenEvent::own_gpu;
    case State::send_peer_wait:
      return OpenEvent::peer;
    case State::receive_flush_wait:
      return OpenEvent::flush;
    case State::send_wait:
    case State::receive_wait:
    case State::kernel_channel_stop:
      return OpenEvent::transfer;
  }
  return OpenEvent::transfer;
}

bool is_wait(int state) {
  return (state >= static_cast<int>(State::send_gpu_wait) && state <= static_cast<int>(State::receive_gpu_wait)) ||
         state == static_cast<int>(State::send_peer_wait);
}

std::uint64_t mask_of(collectors::NcclLevels levels) {
  using namespace event_type;
  std::uint64_t mask = coll | coll_api | group_api | ce_coll;
  if (levels.has(collectors::NcclLevel::p2p)) mask |= p2p | p2p_api;
  if (levels.has(collectors::NcclLevel::proxy)) mask |= proxy_op | proxy_step;
  if (levels.has(collectors::NcclLevel::kernel)) mask |= kernel_channel;
  return mask;
}

Handle start_call(const Event& event) {
  const ThreadState* const state = here();
  return call_handle(event, state == nullptr ? 0 : state->os_thread(), now_ns());
}

Handle start_known(Communicator& communicator, const Event& event, Handle held) {
  switch (event.type) {
    case event_type::group:
      return group_handle(held);
    case event_type::group_api:
      return group_handle(0);
    case event_type::p2p:
      // Up to 2.25, NCCL reports them also if the mask leaves them out.
      return communicator.records_pairs ? start_operation(communicator, event) : 0;
    case event_type::coll:
    case event_type::ce_coll:
      return start_operation(communicator, event);
    case event_type::coll_api:
    case event_type::p2p_api:
      return start_call(event);
    case event_type::proxy_op:
      return start_proxy_operation(event);
    case event_type::proxy_step:
      return start_proxy_step(event);
    case event_type::kernel_channel:
      return start_channel(communicator, event);
    default:
      if (event.type > event_type::last_known) count(Trouble::activities_unknown);
      return 0;
  }
}

}  // namespace

Communicator* introduce(const Introduction& introduction, int version, int* mask) noexcept {
  return guarded([&]() -> Communicator* {
    const bool wanted = collects(collectors::Source::nccl);
    if (mask != nullptr) *mask = wanted ? static_cast<int>(mask_of(asked_nccl_levels())) : 0;
    if (!wanted) return nullptr;
    auto communicator = std::make_unique<Communicator>();
    communicator->records_pairs = (mask_of(asked_nccl_levels()) & event_type::p2p) != 0;
    if (version >= 4) {
      communicator->ranks = static_cast<std::uint32_t>(std::max(introduction.ranks, 0));
      communicator->rank = introduction.rank;
      identify(*communicator, introduction.hash, introduction.name);
    }
    if (is_rccl()) communicator->timer.counts_ticks();
    open_segment();
    learn_rank(introduction.rank, introduction.ranks);
    if (ThreadState* const state = here()) {
      if (version >= 4) announce(state->pen(), *communicator);
      state->pen().metadata("nccl_profiler_version", std::to_string(version));
      report_version(state->pen());
    }
    return communicator.release();
  });
}

Handle start(Communicator* communicator, const void* descriptor, int version, Handle held) noexcept {
  if (communicator == nullptr || descriptor == nullptr) return 0;  // NCCL 2.28 goes on after an init that failed
  return guarded([&] { return start_known(*communicator, read_event(descriptor, version), held); });
}

void stop(Handle handle) noexcept {
  guarded([&] {
    if (tag_of(handle) == Tag::slot) return stop_slot(value_of(handle));
    if (tag_of(handle) != Tag::operation) return;
    if (ThreadWriter* const to = pen()) to->comm_returned(value_of(handle));
  });
}

void change_state(Handle handle, int state, const void* arguments, int version) noexcept {
  if (tag_of(handle) != Tag::slot) return;
  OpenEvent* const event = open_events.find(value_of(handle));
  if (event == nullptr) return;
  if (event->kind == OpenEvent::Kind::kernel_channel && state == static_cast<int>(State::kernel_channel_stop)) {
    event->gpu_end = read_state_number(arguments, version, State::kernel_channel_stop) * event->ns_per_count;
  } else if (event->kind == OpenEvent::Kind::proxy_step && is_wait(state)) {
    account(*event, now_ns());
    event->wait = wait_of(static_cast<State>(state));
    const auto moved = static_cast<std::int64_t>(read_state_number(arguments, version, static_cast<State>(state)));
    event->bytes = std::max(event->bytes, moved);
  }
}

}  // namespace rankscope::inject::nccl
