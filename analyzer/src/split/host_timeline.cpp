#include "split/host_timeline.h"
#include "rankscope/core/model/run.h"

#include <algorithm>
#include <array>

#include "words/keys.h"

namespace rankscope::analyzer {
namespace {

enum class Part : std::uint8_t { nothing, range, call, data, sync };

Part part_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::user:
    case SpanKind::forward:
    case SpanKind::backward:
    case SpanKind::optimizer:
    case SpanKind::op:
    case SpanKind::checkpoint:
    case SpanKind::comm:
    case SpanKind::api:
      return Part::range;
    case SpanKind::runtime:
      return Part::call;
    case SpanKind::data:
      return Part::data;
    case SpanKind::sync:
    case SpanKind::wait:
      return Part::sync;
    case SpanKind::step:
    case SpanKind::loader:
    case SpanKind::compute:
    case SpanKind::memory:
    case SpanKind::overhead:
    case SpanKind::python:
    case SpanKind::graph:
      return Part::nothing;
  }
  return Part::nothing;
}

/// What is so of all spans of one name; looked up once per name.
class ByName {
 public:
  explicit ByName(const Run& run) : known_(run.strings().size(), unknown) {}
  bool operator()(StringId name, auto look_up) {
    if (!name.is_set()) return false;
    std::uint8_t& known = known_[name.index()];
    if (known == unknown) known = look_up() ? 1 : 0;
    return known == 1;
  }

 private:
  static constexpr std::uint8_t unknown = 2;
  std::vector<std::uint8_t> known_;
};

bool is_system_call(const Run& run, const Span& span) {
  const StringId key = run.strings().find(keys::category);
  if (!key.is_set()) return false;
  const auto category = run.attributes_of(run.id_of(span)).find(key);
  return category && category->kind == AttributeKind::text && run.text(category->text) == keys::os_runtime;
}

struct Open {
  RunTime end;
  HostPlace outside;  // where the thread is again when this has ended
};

}  // namespace

bool blocks_host(std::string_view name) {
  // Calls of CUDA's runtime and driver (with their versioned names, cuStreamSynchronize_ptsz) and of HIP; operators of
  // PyTorch that read a value back.
  static constexpr std::array calls{std::string_view{"StreamSynchronize"}, std::string_view{"DeviceSynchronize"},
                                    std::string_view{"EventSynchronize"}, std::string_view{"CtxSynchronize"}};
  static constexpr std::array exact{
      std::string_view{"cudaMemcpy"},          std::string_view{"hipMemcpy"},
      std::string_view{"hipMemcpyWithStream"}, std::string_view{"cudaMemset"},
      std::string_view{"aten::item"},          std::string_view{"aten::_local_scalar_dense"},
      std::string_view{"aten::is_nonzero"}};
  const bool call = name.starts_with("cu") || name.starts_with("hip");
  return (call && std::ranges::any_of(calls, [&](auto part) { return name.find(part) != name.npos; })) ||
         std::ranges::find(exact, name) != exact.end();
}

bool waits_in_system(std::string_view name) {
  static constexpr std::array calls{std::string_view{"poll"},
                                    std::string_view{"ppoll"},
                                    std::string_view{"select"},
                                    std::string_view{"pselect"},
                                    std::string_view{"epoll_wait"},
                                    std::string_view{"epoll_pwait"},
                                    std::string_view{"sem_wait"},
                                    std::string_view{"sem_timedwait"},
                                    std::string_view{"sem_clockwait"},
                                    std::string_view{"pthread_cond_wait"},
                                    std::string_view{"pthread_cond_timedwait"},
                                    std::string_view{"pthread_cond_clockwait"},
                                    std::string_view{"pthread_join"},
                                    std::string_view{"pthread_barrier_wait"},
                                    std::string_view{"nanosleep"},
                                    std::string_view{"clock_nanosleep"},
                                    std::string_view{"sleep"},
                                    std::string_view{"usleep"},
                                    std::string_view{"sched_yield"},
                                    std::string_view{"wait4"},
                                    std::string_view{"waitpid"},
                                    std::string_view{"waitid"}};
  return std::ranges::find(calls, name) != calls.end();
}

RunTime end_of_host(const Run& run, RankId rank) {
  const auto process = run.process_row_of(rank);
  RunTime end = RunTime::min();
  for (const Lane& lane : run.lanes()) {
    if (lane.process != process || lane.kind != LaneKind::thread) continue;
    for (const Span& span : run.spans_of(lane)) end = std::max(end, span.time.end);
  }
  return end;
}

SystemCalls::SystemCalls(const Run& run) : run_(run), any_(run.strings().find(keys::os_runtime).is_set()) {}

bool SystemCalls::operator()(const Span& span) {
  constexpr std::uint8_t unknown = 2;
  if (!any_ || !span.name.is_set()) return false;
  if (known_.empty()) known_.assign(run_.strings().size(), unknown);
  std::uint8_t& known = known_[span.name.index()];
  if (known == unknown) known = is_system_call(run_, span) ? 1 : 0;
  return known == 1;
}

HostTimeline::HostTimeline(const Run& run, const Lane& lane) {
  ByName blocking{run};
  SystemCalls system{run};
  std::vector<Open> open;
  HostPlace now;
  const auto set = [this](RunTime begin, const HostPlace& place) {
    if (!stretches_.empty()) begin = std::max(begin, stretches_.back().begin);  // of spans that only overlap
    if (!stretches_.empty() && stretches_.back().begin == begin)
      stretches_.back().place = place;
    else if (stretches_.empty() || stretches_.back().place != place)
      stretches_.push_back({begin, place});
  };
  const auto close_until = [&](RunTime time) {
    while (!open.empty() && open.back().end <= time) {
      now = open.back().outside;
      set(open.back().end, now);
      open.pop_back();
    }
  };
  for (const Span& span : run.spans_of(lane)) {
    const Part part = part_of(span.kind);
    if (part == Part::nothing || span.time.empty()) continue;
    close_until(span.time.begin);
    open.push_back({span.time.end, now});
    if (part == Part::range) now.range = span.name;
    const bool is_call = part == Part::call || part == Part::sync;
    const bool inside = now.call.is_set() && system(span);
    if (is_call && !inside) now.call = span.name;
    now.loads_data = now.loads_data || part == Part::data;
    const bool blocks = part == Part::sync || blocking(span.name, [&] { return blocks_host(run.text(span.name)); });
    now.blocks = now.blocks || blocks;
    now.waits = now.waits || (blocks && part != Part::range);
    set(span.time.begin, now);
  }
  close_until(RunTime::max());
}

std::size_t HostTimeline::first_after(RunTime time) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(stretches_, time, {}, &HostStretch::begin) -
                                  stretches_.begin());
}

TimeRange HostTimeline::blocked_around(RunTime time) const {
  const HostPlace there = at(time);
  if (!there.blocks) return {time, time};
  const auto blocks = [&there](const HostStretch& stretch) {
    return there.waits ? stretch.place.waits : stretch.place.blocks;
  };
  std::size_t first = first_after(time) - 1;
  std::size_t behind = first + 1;
  while (first > 0 && blocks(stretches_[first - 1])) --first;
  while (behind < stretches_.size() && blocks(stretches_[behind])) ++behind;
  return {stretches_[first].begin, behind < stretches_.size() ? stretches_[behind].begin : time};
}

HostPlace HostTimeline::at(RunTime time) const {
  const std::size_t next = first_after(time);
  return next == 0 ? HostPlace{} : stretches_[next - 1].place;
}

}  // namespace rankscope::analyzer
