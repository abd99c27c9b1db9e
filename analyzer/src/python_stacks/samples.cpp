#include "python_stacks/samples.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "rankscope/core/model/host_work.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/numbers.h"
#include "split/host_timeline.h"
#include "split/layers.h"

namespace rankscope::analyzer {
namespace {

// As collectors/python/rankscope_stacks.py writes them.
constexpr std::string_view lane_of_samples = "python stacks";
constexpr std::string_view pause_mark = "garbage collection";
constexpr std::string_view end_mark = "samples end here";

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
    if (!stretches_.empty()) begin = std::max(begin, stretches_.back().begin);  // of spans that only overlap
    if (!stretches_.empty() && stretches_.back().begin == begin)
      stretches_.back().work = work;
    else if (stretches_.empty() || stretches_.back().work != work)
      stretches_.push_back({begin, work});
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

/// What of the `ns` before `time` lies in the windows, which ascend; nothing where `time` is outside of all of them.
std::optional<std::int64_t> inside(std::span<const TimeRange> windows, RunTime time, std::int64_t ns) {
  auto window = std::ranges::upper_bound(windows, time, {}, &TimeRange::begin);
  if (window == windows.begin() || !(window - 1)->contains(time)) return std::nullopt;
  const RunTime since = time - nanoseconds{ns};
  std::int64_t sum = 0;
  for (RunTime until = time; window != windows.begin() && (window - 1)->end > since; until = (--window)->begin)
    sum +=
        std::max<std::int64_t>(0, (std::min(until, (window - 1)->end) - std::max(since, (window - 1)->begin)).count());
  return sum;
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
  const StringId pause = run.strings().find(pause_mark);
  const StringId end = run.strings().find(end_mark);
  for (const Mark& mark : run.marks()) {
    const Lane& lane = run.lane(mark.lane);
    const bool by_sampler = run.text(lane.name) == lane_of_samples;
    if (by_sampler && end.is_set() && mark.name == end)
      processes_[lane.process].end = std::max(processes_[lane.process].end, mark.time);
    else if (by_sampler || (pause.is_set() && mark.name == pause))
      note(mark, processes_[lane.process]);
  }
}

void PythonSamples::note(const Mark& mark, OfProcess& process) const {
  const AttributeRange attributes = run_.attributes_of(mark);
  const auto number = [&](std::string_view key) {
    const StringId id = run_.strings().find(key);
    return id.is_set() ? attributes.find(id) : std::nullopt;
  };
  const auto ns = number("ns");
  if (!ns || ns->kind != AttributeKind::number || ns->number < 0 || ns->number > longest_ns) return;
  if (run_.text(mark.name) == pause_mark) {
    process.pauses.push_back({mark.time, ns->number});
    return;
  }
  const bool of_worker = number("worker").has_value();
  process.samples.push_back({mark.time, mark.name, ns->number, of_worker});
  if (!of_worker) process.last_sample = std::max(process.last_sample, mark.time);
}

const PythonSamples::OfProcess* PythonSamples::process_of(RankId rank) const {
  const auto found = processes_.find(run_.process_row_of(rank));
  return found == processes_.end() ? nullptr : &found->second;
}

bool PythonSamples::has(RankId rank) const {
  const OfProcess* const process = process_of(rank);
  return process != nullptr && !process->samples.empty();
}

std::span<const TimeRange> PythonSamples::sampled(const OfProcess& process, std::span<const TimeRange> windows) {
  if (process.end <= process.last_sample) return windows;  // it went on after that
  const auto cut = std::ranges::find_if(windows, [&](const TimeRange& window) { return window.end > process.end; });
  return windows.first(static_cast<std::size_t>(cut - windows.begin()));
}

RankCode PythonSamples::over(RankId rank, std::span<const TimeRange> windows) const {
  RankCode code{.rank = rank, .steps = std::ssize(windows), .lines = {}};
  const OfProcess* const process = process_of(rank);
  const std::optional<LaneId> trains = main_lane(run_, rank);
  if (process == nullptr || !trains) return code;
  windows = sampled(*process, windows);
  code.steps = std::ssize(windows);
  const Stretches stretches{run_, run_.lane(*trains)};
  std::map<std::pair<CodePhase, StringId>, CodeLine> lines;
  for (const Sample& sample : process->samples) {
    const auto ns = inside(windows, sample.time, sample.ns);
    if (!ns) continue;
    if (!sample.of_worker) ++code.samples;
    const auto phase = sample.of_worker ? CodePhase::worker : phase_of(stretches.at(sample.time));
    if (!phase) continue;
    CodeLine& line = lines[{*phase, sample.place}];
    ++line.samples;
    line.ns += *ns;
  }
  for (const Pause& pause : process->pauses) {
    const auto ns = inside(windows, pause.end, pause.ns);
    if (!ns) continue;
    ++code.pauses;
    code.pauses_ns += *ns;
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
