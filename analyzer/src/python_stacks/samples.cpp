#include "python_stacks/samples.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "rankscope/core/model/host_work.h"
#include "rankscope/core/numbers.h"
#include "split/host_timeline.h"
#include "split/layers.h"

namespace rankscope::analyzer {
namespace {

// As collectors/python/rankscope_stacks.py writes them.
constexpr std::string_view lane_of_samples = "python stacks";
constexpr std::string_view pause_mark = "garbage collection";

constexpr std::int64_t longest_ns = 600'000'000'000;  // what is above it, or below 0, is damaged

/// What a thread was doing from `begin` on.
struct Stretch {
  RunTime begin{};
  HostWork work = HostWork::none;
};

bool is_waiting(HostWork work) {
  return work == HostWork::wait || work == HostWork::sync || work == HostWork::communication;
}

/// The training thread: everything inside of loading data is that, also operators; waiting is waiting wherever it is.
class Stretches {
 public:
  Stretches(const Run& run, const Lane& lane) {
    const bool accelerated = run.has_accelerator(lane.rank);
    for (const Span& span : run.spans_of(lane)) {
      const HostWork work = accelerated && blocks_host(run.text(span.name)) ? HostWork::sync : host_work_of(span.kind);
      if (work == HostWork::none || span.time.empty()) continue;
      close_until(span.time.begin);
      open_.emplace_back(span.time.end, now_);
      if (!is_waiting(now_) && (now_ != HostWork::data || is_waiting(work))) set(span.time.begin, work);
    }
    close_until(RunTime::max());
  }

  [[nodiscard]] HostWork at(RunTime time) const {
    const auto next = std::ranges::upper_bound(stretches_, time, {}, &Stretch::begin);
    return next == stretches_.begin() ? HostWork::none : (next - 1)->work;
  }

 private:
  void set(RunTime begin, HostWork work) {
    now_ = work;
    if (stretches_.empty() || stretches_.back().work != work) stretches_.push_back({begin, work});
  }
  void close_until(RunTime time) {
    while (!open_.empty() && open_.back().first <= time) {
      set(open_.back().first, open_.back().second);
      open_.pop_back();
    }
  }

  HostWork now_ = HostWork::none;
  std::vector<std::pair<RunTime, HostWork>> open_;  // when each ends, and what was before; innermost last
  std::vector<Stretch> stretches_;
};

/// Nothing where the thread waits for others.
std::optional<CodePhase> phase_of(HostWork work) {
  switch (work) {
    case HostWork::none:
    case HostWork::copies:
      return CodePhase::host;
    case HostWork::compute:
      return CodePhase::compute;
    case HostWork::data:
      return CodePhase::data;
    case HostWork::wait:
    case HostWork::sync:
    case HostWork::communication:
      break;
  }
  return std::nullopt;
}

/// "Tokens.__getitem__ data.py:31"; nothing for what names no place.
std::optional<CodeLine> line_of(std::string_view place) {
  const std::size_t blank = place.find(' ');
  const std::size_t colon = place.rfind(':');
  if (blank == place.npos || colon == place.npos || colon < blank) return std::nullopt;
  const auto number = number_from<std::int64_t>(place.substr(colon + 1), {.least = 0});
  if (!number) return std::nullopt;
  CodeLine line;
  line.function = place.substr(0, blank);
  line.file = place.substr(blank + 1, colon - blank - 1);
  line.line = *number;
  return line;
}

bool is_inside(std::span<const TimeRange> windows, RunTime time) {
  const auto next = std::ranges::upper_bound(windows, time, {}, &TimeRange::begin);
  return next != windows.begin() && (next - 1)->contains(time);
}

}  // namespace

std::string_view name_of(CodePhase phase) {
  switch (phase) {
    case CodePhase::host:
      return "host";
    case CodePhase::compute:
      return "compute";
    case CodePhase::data:
      return "data";
    case CodePhase::worker:
      return "loader worker";
  }
  return "?";
}

PythonSamples::PythonSamples(const Run& run) : run_(run) {
  const StringId length = run.strings().find("ns");
  const StringId worker = run.strings().find("worker");
  const StringId pause = run.strings().find(pause_mark);
  if (!length.is_set()) return;
  for (const Mark& mark : run.marks()) {
    const Lane& lane = run.lane(mark.lane);
    const bool is_pause = mark.name == pause;
    if (!is_pause && run.text(lane.name) != lane_of_samples) continue;
    const AttributeRange attributes = run.attributes_of(mark);
    const auto ns = attributes.find(length);
    if (!ns || ns->kind != AttributeKind::number || ns->number < 0 || ns->number > longest_ns) continue;
    OfProcess& process = processes_[lane.process];
    if (is_pause)
      process.pauses.push_back({mark.time, ns->number});
    else
      process.samples.push_back(
          {mark.time, mark.name, ns->number, worker.is_set() && attributes.find(worker).has_value()});
  }
}

const PythonSamples::OfProcess* PythonSamples::process_of(RankId rank) const {
  const auto found = processes_.find(run_.process_row_of(rank));
  return found == processes_.end() ? nullptr : &found->second;
}

bool PythonSamples::has(RankId rank) const {
  const OfProcess* const process = process_of(rank);
  return process != nullptr && !process->samples.empty();
}

RankCode PythonSamples::over(RankId rank, std::span<const TimeRange> windows) const {
  RankCode code{.rank = rank, .steps = std::ssize(windows), .lines = {}};
  const OfProcess* const process = process_of(rank);
  const std::optional<LaneId> trains = main_lane(run_, rank);
  if (process == nullptr || !trains) return code;
  const Stretches stretches{run_, run_.lane(*trains)};
  std::map<std::pair<CodePhase, StringId>, CodeLine> lines;
  for (const Sample& sample : process->samples) {
    if (!is_inside(windows, sample.time)) continue;
    if (!sample.of_worker) ++code.samples;
    const auto phase = sample.of_worker ? CodePhase::worker : phase_of(stretches.at(sample.time));
    if (!phase) continue;
    CodeLine& line = lines[{*phase, sample.place}];
    ++line.samples;
    line.ns += sample.ns;
  }
  for (const Pause& pause : process->pauses) {
    if (!is_inside(windows, pause.end)) continue;
    ++code.pauses;
    code.pauses_ns += pause.ns;
  }
  for (const auto& [key, sums] : lines) {
    auto line = line_of(run_.text(key.second));
    if (!line) continue;
    line->phase = key.first;
    line->samples = sums.samples;
    line->ns = sums.ns;
    code.lines.push_back(std::move(*line));
  }
  std::ranges::sort(code.lines, {}, [](const CodeLine& line) {
    return std::tuple(-line.ns, line.phase, std::string_view{line.function}, std::string_view{line.file}, line.line);
  });
  return code;
}

}  // namespace rankscope::analyzer
