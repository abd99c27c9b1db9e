#include "inject/c10d/operations.h"

#include <array>
#include <atomic>
#include <string_view>
#include <utility>

#include "inject/c10d/groups.h"
#include "inject/c10d/pointer_map.h"
#include "inject/recorder/once_per_segment.h"
#include "inject/recorder/recorder.h"
#include "inject/recorder/thread_state.h"
#include "rankscope/core/format.h"

namespace rankscope::inject::c10d {
namespace {

using recording::Owner;

struct OpNames {
  std::string_view name;
  std::string_view wait;
};
constexpr std::array<OpNames, op_count> op_names{{{"", "wait collective"},
                                                  {"allreduce", "wait allreduce"},
                                                  {"broadcast", "wait broadcast"},
                                                  {"reduce", "wait reduce"},
                                                  {"allgather", "wait allgather"},
                                                  {"gather", "wait gather"},
                                                  {"scatter", "wait scatter"},
                                                  {"reduce_scatter", "wait reduce_scatter"},
                                                  {"alltoall", "wait alltoall"},
                                                  {"barrier", "wait barrier"},
                                                  {"send", "wait send"},
                                                  {"recv", "wait recv"}}};
const OpNames& names_of(Op op) { return op_names[static_cast<std::size_t>(op)]; }

bool is_pair(Op op) { return op == Op::send || op == Op::recv; }

// Numbers of operations that no other source of this process uses.
std::atomic<std::uint64_t> next_number{std::uint64_t{0x4331} << 40};

PointerMap<8192> works;
PointerMap<4096> buffers;

/// What a function in front of another one has entered.
struct Scope {
  enum class Kind : std::uint8_t { call, execution, wait, pause };
  Kind kind{};
  bool told = false;  ///< of a wait: it is stored; of a pause: it interrupts one that is
  Op op = Op::none;   ///< of a wait
};

struct ThisThread {
  static constexpr std::uint32_t most_scopes = 32;
  std::array<Scope, most_scopes> scopes{};
  std::uint32_t depth = 0;  ///< may be more than there are places
  std::uint32_t calls = 0, executions = 0;
  // Of the outermost call.
  const void* backend = nullptr;
  Asked asked{};
  bool announced = false;
  Operation current = 0;  ///< since then
  bool runs_here = false;
  std::uint64_t named_in = 0;  ///< the generation of the recording that knows this thread's name

  /// False where so many are open that this one cannot be followed.
  bool enter(const Scope& scope) {
    if (depth++ >= most_scopes) return false;
    scopes[depth - 1] = scope;
    return true;
  }
  [[nodiscard]] const Scope* innermost() const {
    return depth > 0 && depth <= most_scopes ? &scopes[depth - 1] : nullptr;
  }
};
thread_local ThisThread here_now;

// The ranges of waits nest among themselves.
alignas(8) constexpr char waits[8] = {};

void tell_once(ThreadState& thread) {
  static OncePerSegment once;
  if (once.first()) thread.pen().metadata("pytorch_collectives", "c10d");
}

/// Sends and receives of one thread overlap, so each partner has a lane for either.
void start_pair(ThreadState& thread, const Group& group, std::uint64_t number,
                const recording::ThreadWriter::Collective& told) {
  const std::string lane =
      told.peer < 0 ? format("{} {}", group.name, told.op) : format("{} {} {}", group.name, told.op, told.peer);
  thread.pen().attribute("lane", lane, Owner::comm(number));
  thread.pen().comm_started(number);
}

Operation announce(Group& group, const Asked& asked) {
  // Counted also where nothing is stored, so that the members agree. A pair is matched by its order.
  const std::int64_t sequence = is_pair(asked.op) ? -1 : group.next.fetch_add(1, std::memory_order_relaxed);
  ThreadState* const thread = here();
  if (thread == nullptr || !gate.open.load(std::memory_order_relaxed)) return 0;
  tell_once(*thread);
  const std::uint64_t number = next_number.fetch_add(1, std::memory_order_relaxed);
  const recording::ThreadWriter::Collective operation{.uid = number,
                                                      .sequence = sequence,
                                                      .bytes = asked.payload.bytes,
                                                      .group = group.name,
                                                      .op = names_of(asked.op).name,
                                                      .dtype = asked.payload.dtype,
                                                      .members = group.members,
                                                      .peer = group.rank_of(asked.peer)};
  thread->pen().comm_enqueued(operation);
  if (is_pair(asked.op)) start_pair(*thread, group, number, operation);
  return packed(number, asked.op);
}

Operation announce(const void* backend, const Asked& asked) {
  Group* const group = group_of(backend);
  if (group != nullptr) return announce(*group, asked);
  count(Trouble::comm_groups_unknown);
  return 0;
}

/// The outermost call of this thread; 0: there is none. It is announced once the library has accepted its arguments: a
/// call that it refuses on one rank communicates nothing, and must not take a number that the other ranks do not count.
Operation accepted_call() {
  if (here_now.calls == 0) return 0;
  if (!std::exchange(here_now.announced, true))
    here_now.current = guarded([] { return announce(here_now.backend, here_now.asked); });
  return here_now.current;
}

void start(Operation operation) {
  if (operation == 0) return;
  guarded([&] {
    if (ThreadState* const thread = here()) thread->pen().comm_started(number_of(operation));
  });
}

/// A thread that does nothing else is a lane of communication.
void name_worker() {
  if (here_now.named_in == slot.generation && here_now.named_in != 0) return;
  static std::atomic<std::uint32_t> workers{0};
  guarded([&] {
    ThreadState* const thread = here();
    if (thread == nullptr) return;
    here_now.named_in = slot.generation;
    thread->pen().thread_name(format("comm gloo {}", workers.fetch_add(1)));
  });
}

void finish(Operation operation) {
  if (operation == 0) return;
  guarded([&] {
    if (ThreadState* const thread = here()) thread->pen().comm_finished(number_of(operation));
  });
}

void begin_range(Op op) {
  guarded([&] {
    if (ThreadState* const thread = here())
      thread->push(waits, SpanKind::wait, names_of(op).wait, WindowControl::MarkedBy::annotate);
  });
}

void end_range() {
  guarded([] {
    ThreadState* const thread = here();
    if (thread != nullptr && thread->any_open()) thread->pop(waits);
  });
}

void leave_call() {
  if (--here_now.calls > 0) return;
  if (here_now.runs_here) finish(here_now.current);
  here_now.runs_here = false;
  here_now.announced = false;
  here_now.current = 0;
}

}  // namespace

void enter_call(const void* backend, const Asked& asked) noexcept {
  if (!here_now.enter({.kind = Scope::Kind::call})) return;
  if (here_now.calls++ > 0) return;
  here_now.backend = backend;
  here_now.asked = asked;
}

void returns(const WorkPointer& result) noexcept {
  if (here_now.calls == 1 && result.work != nullptr) works.put(result.work, accepted_call());
}

void run_here() noexcept {
  if (here_now.calls != 1) return;
  here_now.runs_here = true;
  start(accepted_call());
}

void enter_execution(const void* work) noexcept {
  if (!here_now.enter({.kind = Scope::Kind::execution})) return;
  ++here_now.executions;
  const Operation operation = works.get(work);
  if (operation != 0) name_worker();
  start(operation);
}

void enter_wait(const void* work) noexcept { enter_wait(op_of(works.get(work))); }

void enter_wait(Op op) noexcept {
  const bool told = here_now.calls == 0 && here_now.executions == 0;
  if (here_now.enter({.kind = Scope::Kind::wait, .told = told, .op = op}) && told) begin_range(op);
}

void enter_pause() noexcept {
  const Scope* const wait = here_now.innermost();
  const bool told = wait != nullptr && wait->kind == Scope::Kind::wait && wait->told;
  if (here_now.enter({.kind = Scope::Kind::pause, .told = told, .op = told ? wait->op : Op::none}) && told) end_range();
}

void leave() noexcept {
  if (here_now.depth == 0) return;
  const Scope* const innermost = here_now.innermost();
  --here_now.depth;
  if (innermost == nullptr) return;
  switch (innermost->kind) {
    case Scope::Kind::call:
      return leave_call();
    case Scope::Kind::execution:
      --here_now.executions;
      return;
    case Scope::Kind::wait:
      if (innermost->told) end_range();
      return;
    case Scope::Kind::pause:
      if (innermost->told) begin_range(innermost->op);
      return;
  }
}

void hand_over(const void* work) noexcept { works.put(work, accepted_call()); }

void has_ended(const void* work) noexcept { finish(works.get(work)); }

void has_failed(const void* work) noexcept {
  const Operation operation = works.get(work);
  if (operation == 0) return;
  guarded([&] {
    if (ThreadState* const thread = here()) thread->pen().attribute("failed", 1, Owner::comm(number_of(operation)));
  });
  finish(operation);
}

void makes_buffer(const void* buffer) noexcept {
  const bool of_pair = here_now.calls == 1 && is_pair(here_now.asked.op);
  buffers.put(buffer, of_pair ? accepted_call() : 0);  // an earlier one may have had its address
}

void buffer_is_done(const void* buffer) noexcept { finish(buffers.take(buffer)); }

}  // namespace rankscope::inject::c10d
