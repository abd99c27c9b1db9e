#include "rankscope/analyzer/select.h"

#include <algorithm>
#include <map>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/run_builder.h"
#include "steps/find.h"

namespace rankscope::analyzer {
namespace {

constexpr std::uint32_t left_out = 0xFFFFFFFF;

/// Times of the chosen steps.
struct Windows {
  std::map<RankId, TimeRange> by_rank;
  std::optional<TimeRange> of_job;  ///< for processes without rank and ranks without marks; none = all times
};

void widen(std::optional<TimeRange>& range, TimeRange by) {
  range = range ? TimeRange{std::min(range->begin, by.begin), std::max(range->end, by.end)} : by;
}

Result<Windows> windows_of_steps(const Run& run, const StepRange& wanted) {
  const auto found = find_steps(run, ClockTrust{run}, {});
  if (!found.section)
    return fail(ErrorKind::usage, format("--steps cannot be used with this recording: {}", found.section.error().why));
  Windows windows;
  for (const StepWindow& step : found.section->windows) {
    if (step.index < wanted.first || step.index > wanted.second) continue;
    std::optional<TimeRange> own;
    if (const auto known = windows.by_rank.find(step.rank); known != windows.by_rank.end()) own = known->second;
    widen(own, step.window);
    windows.by_rank[step.rank] = *own;
    widen(windows.of_job, step.window);
  }
  if (windows.of_job) return windows;
  const auto& all = found.section->windows;
  const auto [first, last] = std::ranges::minmax_element(all, {}, &StepWindow::index);
  return fail(ErrorKind::usage, format("--steps: the recording does not have {}, only {}", step_range_text(wanted),
                                       step_range_text({first->index, last->index})));
}

/// Copies the chosen rows of a run into a builder.
class Copy {
 public:
  Copy(const Run& run, const Selection& selection, Windows windows)
      : run_(run), selection_(selection), windows_(std::move(windows)), strings_(run.strings().size()) {}

  Result<std::shared_ptr<const Run>> make() && {
    builder_.info() = run_.info();
    std::erase_if(builder_.info().places, [](const QualityPlace& place) { return is_counted_by_build(place.counter); });
    quality();
    processes();
    lanes_.assign(run_.lanes().size(), LaneId::none());
    spans_.assign(run_.spans().size(), left_out);
    for (const Lane& lane : run_.lanes()) this->lane(lane);
    for (const Mark& mark : run_.marks()) this->mark(mark);
    for (const Link& link : run_.links()) this->link(link);
    for (const Group& group : run_.groups())
      groups_.push_back(builder_.add_group(run_.text(group.name), group.members));
    for (const Collective& collective : run_.collectives()) this->collective(collective);
    for (const CounterTrack& track : run_.counters()) samples(track);
    return std::move(builder_).build();
  }

 private:
  StringId string(StringId old) {
    if (!old.is_set()) return old;
    StringId& known = strings_[old.index()];
    if (!known.is_set()) known = builder_.intern(run_.text(old));
    return known;
  }

  /// What build() counts by itself must not be counted twice.
  void quality() {
    for (const CounterInfo& info : counter_table()) {
      if (is_counted_by_build(info.counter)) continue;
      builder_.quality().add(info.counter, run_.quality().of(info.counter));
    }
  }

  void processes() {
    for (const Process& process : run_.processes()) {
      if (!selection_.ranks.empty() && std::ranges::find(selection_.ranks, process.rank) == selection_.ranks.end()) {
        processes_.push_back(left_out);
        continue;
      }
      Process copy = process;
      copy.host = string(process.host);
      copy.program = string(process.program);
      for (auto& [key, value] : copy.metadata) {
        key = string(key);
        value = string(value);
      }
      processes_.push_back(builder_.add_process(std::move(copy)));
    }
    for (const Device& device : run_.devices()) {
      if (processes_[device.process] == left_out) continue;
      Device copy = device;
      copy.process = processes_[device.process];
      copy.name = string(device.name);
      copy.uuid = string(device.uuid);
      for (auto& [key, value] : copy.metadata) {
        key = string(key);
        value = string(value);
      }
      builder_.add_device(std::move(copy));
    }
  }

  [[nodiscard]] bool chosen(RankId rank, TimeRange time) const {
    if (!windows_.of_job) return true;
    const auto own = windows_.by_rank.find(rank);
    const TimeRange window = own == windows_.by_rank.end() ? *windows_.of_job : own->second;
    return time.begin < window.end && (window.begin < time.end || window.begin <= time.begin);
  }

  AttributeValue value(const AttributeValue& old) {
    switch (old.kind) {
      case AttributeKind::number:
        return old.number;
      case AttributeKind::text:
        return string(old.text);
      case AttributeKind::json:
        return JsonText{string(old.text)};
    }
    return {};
  }

  void lane(const Lane& lane) {
    if (processes_[lane.process] == left_out) return;
    const LaneId copy =
        builder_.add_lane(processes_[lane.process], lane.kind, run_.text(lane.name), lane.number, lane.device);
    lanes_[run_.id_of(lane).index()] = copy;
    for (const Span& span : run_.spans_of(lane)) {
      if (!chosen(lane.rank, span.time)) continue;
      const auto ticket = builder_.add_span(copy, span.kind, string(span.name), span.time, span.flags);
      spans_[run_.id_of(span).index()] = ticket;
      for (const Attribute& attribute : run_.attributes_of(run_.id_of(span)))
        builder_.add_attribute(ticket, string(attribute.key), value(attribute.value));
    }
  }

  void mark(const Mark& mark) {
    const LaneId lane = lanes_[mark.lane.index()];
    if (!lane.is_set() || !chosen(run_.lane(mark.lane).rank, {mark.time, mark.time})) return;
    const auto ticket = builder_.add_mark(lane, string(mark.name), mark.time);
    for (const Attribute& attribute : run_.attributes_of(mark))
      builder_.add_mark_attribute(ticket, string(attribute.key), value(attribute.value));
  }

  void link(const Link& link) {
    const auto from = spans_[link.from.index()];
    const auto to = spans_[link.to.index()];
    if (from != left_out && to != left_out) builder_.add_link(link.kind, from, to);
  }

  void collective(const Collective& old) {
    const bool started = old.span.is_set();
    if (started && spans_[old.span.index()] == left_out) return;
    const LaneId enqueued_on = old.enqueued_on.is_set() ? lanes_[old.enqueued_on.index()] : LaneId::none();
    if (!started && (!enqueued_on.is_set() || !chosen(old.rank, {old.enqueued, old.enqueued}))) return;
    builder_.add_collective({.rank = old.rank,
                             .group = old.group.is_set() ? groups_[old.group.index()] : old.group,
                             .op = string(old.op),
                             .dtype = string(old.dtype),
                             .sequence = old.sequence,
                             .bytes = old.bytes,
                             .peer = old.peer,
                             .state = old.state,
                             .enqueued = old.enqueued,
                             .started = old.started,
                             .finished = old.finished,
                             .lane = old.lane.is_set() ? lanes_[old.lane.index()] : LaneId::none(),
                             .enqueued_on = enqueued_on,
                             .span_ticket = started ? spans_[old.span.index()] : left_out});
  }

  void samples(const CounterTrack& track) {
    if (processes_[track.process] == left_out) return;
    for (const CounterSample& sample : run_.samples_of(track)) {
      if (chosen(track.rank, {sample.time, sample.time}))
        builder_.add_sample(processes_[track.process], string(track.name), sample.time, sample.value);
    }
  }

  const Run& run_;
  const Selection& selection_;
  Windows windows_;
  RunBuilder builder_{Texts::as_recorded};  // the run says what was hidden
  std::vector<StringId> strings_;           // new id by old
  std::vector<std::uint32_t> processes_;    // new row by old, or left_out
  std::vector<LaneId> lanes_;
  std::vector<std::uint32_t> spans_;
  std::vector<GroupId> groups_;
};

}  // namespace

Result<void> check_ranks(const Run& run, std::span<const RankId> chosen, std::string_view option) {
  for (const RankId rank : chosen) {
    if (std::ranges::find(run.ranks(), rank) != run.ranks().end()) continue;
    const auto ranks = run.ranks();
    if (ranks.empty()) return fail(ErrorKind::usage, format("{}: no process in this recording has a rank", option));
    const std::string there = ranks.size() == 1
                                  ? format("its only rank is {}", ranks.front().value)
                                  : format("its ranks are {} to {}", ranks.front().value, ranks.back().value);
    return fail(ErrorKind::usage, format("{}: the recording has no rank {}; {}", option, rank.value, there));
  }
  return {};
}

Result<std::shared_ptr<const Run>> select(std::shared_ptr<const Run> run, const Selection& selection) {
  if (selection.everything()) return run;
  RS_TRY_VOID(check_ranks(*run, selection.ranks, "--ranks"));
  Windows windows;
  if (selection.steps) {
    RS_TRY(windows, windows_of_steps(*run, *selection.steps));
  } else {
    windows.of_job = selection.time;
  }
  return Copy{*run, selection, std::move(windows)}.make();
}

}  // namespace rankscope::analyzer
