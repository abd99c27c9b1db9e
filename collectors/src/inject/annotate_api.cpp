// The table behind annotate.h.
#include "rankscope/collectors/annotate.h"

#include "inject/c10d/observe.h"
#include "inject/cupti/source.h"
#include "inject/recorder/recorder.h"

namespace rankscope::inject {
namespace {

// Annotations nest among themselves, apart from every NVTX domain.
alignas(8) constexpr char annotations[8] = {};
constexpr auto marked_by_api = WindowControl::MarkedBy::annotate;

std::string_view text(const char* value) { return value == nullptr ? std::string_view{} : std::string_view{value}; }

void push(std::uint8_t kind, const char* name, std::uint32_t length) {
  guarded([&] {
    ThreadState* const thread = here();
    if (thread == nullptr) return;
    const SpanKind known = kind < span_kind_count ? static_cast<SpanKind>(kind) : SpanKind::user;
    thread->push(annotations, known, {name, length}, marked_by_api);
  });
}

void pop() {
  guarded([] {
    if (ThreadState* const thread = here()) thread->pop(annotations);
  });
}

void mark(const char* name, std::uint32_t length) {
  guarded([&] {
    if (ThreadState* const thread = here()) thread->mark({name, length});
  });
}

void attribute_int(const char* key, std::int64_t value) {
  guarded([&] {
    ThreadState* const thread = here();
    if (thread != nullptr && thread->takes_attributes(annotations)) thread->pen().attribute(text(key), value);
  });
}

void attribute_text(const char* key, const char* value, std::uint32_t length) {
  guarded([&] {
    ThreadState* const thread = here();
    if (thread != nullptr && thread->takes_attributes(annotations)) {
      thread->pen().attribute(text(key), std::string_view{value, length});
    }
  });
}

/// Calls `write` with the pen where the recording is on.
template <class Write>
void record(Write&& write) {
  guarded([&] {
    if (ThreadState* const thread = here(); thread != nullptr && gate.open.load(std::memory_order_relaxed)) {
      write(thread->pen());
    }
  });
}

void counter(const char* name, double value) {
  record([&](recording::ThreadWriter& pen) { pen.counter(text(name), value); });
}

void collective_enqueued(const rankscope_collective_v1* collective) {
  record([&](recording::ThreadWriter& pen) {
    pen.comm_enqueued({.uid = collective->uid,
                       .sequence = static_cast<std::int64_t>(collective->sequence),
                       .bytes = static_cast<std::int64_t>(collective->bytes),
                       .group = text(collective->group),
                       .op = text(collective->op),
                       .dtype = text(collective->dtype),
                       .members = text(collective->members),
                       .peer = collective->peer});
  });
}

// What was enqueued inside the recording window is followed to its end, also outside.
void collective_started(std::uint64_t uid) {
  guarded([&] {
    if (ThreadState* const thread = here()) thread->pen().comm_started(uid);
  });
}
void collective_finished(std::uint64_t uid) {
  guarded([&] {
    if (ThreadState* const thread = here()) thread->pen().comm_finished(uid);
  });
}

// Names and facts are kept outside the window, too: they hold for all of the recording.
void name_thread(const char* name) {
  guarded([&] {
    if (ThreadState* const thread = here()) thread->pen().thread_name(text(name));
  });
}

void metadata(const char* key, const char* value) {
  guarded([&] {
    if (ThreadState* const thread = here()) thread->pen().metadata(text(key), text(value));
  });
}

void attribute_json(const char* key, const char* json, std::uint32_t length) {
  guarded([&] {
    ThreadState* const thread = here();
    if (thread == nullptr || !thread->takes_attributes(annotations)) return;
    thread->pen().attribute_json(text(key), {json, length});
  });
}

void mark_attribute_int(const char* key, std::int64_t value) {
  record([&](recording::ThreadWriter& pen) { pen.attribute(text(key), value, recording::Owner::latest_mark()); });
}

void optimizer_stepped(std::int64_t n) {
  // That there are no more steps is nothing to open a segment for.
  if (n < 0 && slot.generation != generation().load(std::memory_order_relaxed)) return;
  guarded([&] {
    ThreadState* const thread = here();
    if (thread == nullptr) return;
    if (n == 2) thread->pen().metadata("pytorch_steps", "optimizer");  // the first one that gets a span
    thread->optimizer_stepped(n);
  });
}

std::uint32_t details() { return asked_details().bits; }

/// To ask is no event: it opens no segment.
int is_recording() {
  return collects(collectors::Source::annotate) && gate.open.load(std::memory_order_relaxed) ? 1 : 0;
}

int holds_cupti() { return cupti::is_subscribed() ? 1 : 0; }

constexpr rankscope_api_v1 table{
    .version = 1,
    .size = sizeof(rankscope_api_v1),
    .push = push,
    .pop = pop,
    .mark = mark,
    .attribute_int = attribute_int,
    .attribute_text = attribute_text,
    .counter = counter,
    .collective_enqueued = collective_enqueued,
    .collective_started = collective_started,
    .collective_finished = collective_finished,
    .name_thread = name_thread,
    .metadata = metadata,
    .is_recording = is_recording,
    .details = details,
    .attribute_json = attribute_json,
    .mark_attribute_int = mark_attribute_int,
    .optimizer_stepped = optimizer_stepped,
    .c10d_observe = c10d::observe,
    .c10d_group = c10d::expect_group,
    .holds_cupti = holds_cupti,
};

}  // namespace
}  // namespace rankscope::inject

extern "C" __attribute__((visibility("default"))) const rankscope_api_v1* rankscope_api() {
  return rankscope::inject::collects(rankscope::collectors::Source::annotate) ? &rankscope::inject::table : nullptr;
}
