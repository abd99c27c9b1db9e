#include "importers/kineto/trace_file.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <unordered_map>

#include "rankscope/core/format.h"
#include "words/keys.h"

namespace rankscope::analyzer::kineto {
namespace {

void append(std::vector<Numbered>& to, const std::vector<Numbered>& from, std::uint32_t first_span) {
  to.reserve(to.size() + from.size());
  for (const Numbered& entry : from) to.push_back({entry.number, entry.span + first_span});
}

void append(std::vector<std::uint32_t>& to, const std::vector<std::uint32_t>& from, std::uint32_t first_span) {
  for (const std::uint32_t span : from) to.push_back(span + first_span);
}

/// Host calls by correlation; the first of each number.
class Calls {
 public:
  Calls(std::vector<Numbered> calls, std::span<const Span> spans) : calls_(std::move(calls)) {
    std::ranges::sort(calls_, {}, [spans](const Numbered& call) {
      return std::tuple{call.number, spans[call.span].time.begin, call.span};
    });
  }
  struct Found {
    std::uint32_t span = no_call;
    bool ambiguous = false;
  };
  [[nodiscard]] Found of(std::int64_t correlation) const {
    const auto found = std::ranges::equal_range(calls_, correlation, {}, &Numbered::number);
    if (found.empty()) return {};
    return {found.front().span, found.size() > 1};
  }

 private:
  std::vector<Numbered> calls_;
};

/// Arrows name an operator by its row and begin. Several may begin at once: then it is one of autograd's, which are
/// numbered, and the outermost of them.
std::vector<std::uint32_t> operators_at(const TraceFile& file, const RunBuilder& run) {
  std::map<std::pair<LaneId, RunTime>, std::vector<std::size_t>> wanted;
  for (std::size_t i = 0; i < file.flows.size(); ++i) wanted[{file.flows[i].lane, file.flows[i].time}].push_back(i);
  std::vector<bool> lanes(run.lanes().size(), false);
  for (const FlowEnd& flow : file.flows) lanes[flow.lane.index()] = true;
  const StringId sequence = run.find("Sequence number");
  const auto fitness = [&](std::uint32_t span) {
    return std::pair{run.attributes_of(span).find(sequence).has_value(), run.spans()[span].time.length()};
  };
  std::vector<std::uint32_t> found(file.flows.size(), no_call);
  const auto spans = run.spans();
  for (std::uint32_t row = file.first_span; row < file.end_span; ++row) {
    if (!lanes[spans[row].lane.index()] || spans[row].kind != SpanKind::op) continue;
    const auto flows = wanted.find({spans[row].lane, spans[row].time.begin});
    if (flows == wanted.end()) continue;
    for (const std::size_t flow : flows->second)
      if (found[flow] == no_call || fitness(row) > fitness(found[flow])) found[flow] = row;
  }
  return found;
}

void link_backward(const TraceFile& file, RunBuilder& run) {
  if (file.flows.empty()) return;
  const std::vector<std::uint32_t> operators = operators_at(file, run);
  std::unordered_map<std::int64_t, std::uint32_t> starts;
  for (std::size_t i = 0; i < file.flows.size(); ++i)
    if (file.flows[i].starts) starts.try_emplace(file.flows[i].id, operators[i]);
  for (std::size_t i = 0; i < file.flows.size(); ++i) {
    if (file.flows[i].starts) continue;
    const auto start = starts.find(file.flows[i].id);
    if (start != starts.end() && start->second != no_call && operators[i] != no_call)
      run.add_link(LinkKind::forward_backward, start->second, operators[i]);
  }
}

}  // namespace

void TraceFile::note_losses(const Quality& quality) {
  for (const CounterInfo& info : counter_table()) {
    const std::uint64_t amount = quality.of(info.counter);
    if (info.severity != Severity::data_loss || amount == 0) continue;
    const auto known = std::ranges::find(losses, info.counter, &QualityPlace::counter);
    if (known == losses.end())
      losses.push_back({info.counter, amount, path.filename().string()});
    else
      known->amount += amount;
  }
}

void TraceFile::take(Part&& part, RunBuilder& run) {
  note_losses(part.quality());
  const Absorbed absorbed = run.absorb_into(std::move(part.builder), process);
  if (end_span == 0) first_span = absorbed.first_span;
  end_span = static_cast<std::uint32_t>(run.spans().size());
  for (const auto& [key, lane] : part.lanes) lanes.try_emplace(key, absorbed.lanes[lane.index()]);
  append(calls, part.calls, absorbed.first_span);
  append(activities, part.activities, absorbed.first_span);
  append(comm_kernels, part.comm_kernels, absorbed.first_span);
  append(comm_ranges, part.comm_ranges, absorbed.first_span);
  for (FlowEnd flow : part.flows) {
    flow.lane = absorbed.lanes[flow.lane.index()];
    flows.push_back(flow);
  }
  memory.insert(memory.end(), part.memory.begin(), part.memory.end());
  for (auto& [pid, name] : part.process_names) process_names[pid] = std::move(name);
  for (auto& [row, name] : part.thread_names) thread_names[row] = std::move(name);
  if (part.extent && extent)
    extent = TimeRange{std::min(extent->begin, part.extent->begin), std::max(extent->end, part.extent->end)};
  else if (part.extent)
    extent = part.extent;
  if (part.last) last = part.last;
  fractions = fractions || part.fractions;
  float_times = float_times || part.float_times;
}

void mark_cut_steps(const TraceFile& file, RunBuilder& run) {
  const bool is_cut =
      std::ranges::find(file.losses, Counter::truncated_input, &QualityPlace::counter) != file.losses.end();
  if (!is_cut || !file.last) return;
  for (std::uint32_t row = file.first_span; row < file.end_span; ++row) {
    const Span& span = run.spans()[row];
    if (span.kind == SpanKind::step && span.time.end > *file.last)
      run.reclassify(row, SpanKind::step, span.flags | span_flag::cut_end);
  }
}

std::vector<std::uint32_t> link_spans(const TraceFile& file, RunBuilder& run) {
  const Calls calls{file.calls, run.spans()};
  const bool counted_before = file.metadata.own && file.metadata.own->rows;  // by the importer of the run exported
  std::vector<std::uint32_t> comm_calls(file.comm_kernels.size(), no_call);
  for (const Numbered& activity : file.activities) {
    const Calls::Found call = calls.of(activity.number);
    if (call.ambiguous && !counted_before) run.quality().add(Counter::correlation_reused);
    if (call.span == no_call) {
      run.quality().add(Counter::kernels_without_launch);
      continue;
    }
    run.add_link(LinkKind::launch, call.span, activity.span);
    if (run.spans()[activity.span].time.begin < run.spans()[call.span].time.begin)
      run.quality().add(Counter::kernel_before_launch);
    const auto comm = std::ranges::lower_bound(file.comm_kernels, activity.span);
    if (comm != file.comm_kernels.end() && *comm == activity.span)
      comm_calls[static_cast<std::size_t>(comm - file.comm_kernels.begin())] = call.span;
  }
  link_backward(file, run);
  return comm_calls;
}

void add_memory(const TraceFile& file, RunBuilder& run) {
  std::vector<MemoryState> states = file.memory;
  std::ranges::stable_sort(states, {}, [](const MemoryState& state) { return std::tuple{state.time, state.order}; });
  std::set<std::int32_t> devices;
  for (const MemoryState& state : states)
    if (state.device >= 0) devices.insert(state.device);
  std::map<std::int32_t, double> changes;  // what 2021 has instead of totals; exact up to 2^53 bytes
  for (const MemoryState& state : states) {
    std::string owner;
    if (state.device < 0 && !devices.empty()) owner = "cpu_";
    if (state.device >= 0 && devices.size() > 1) owner = format("gpu{}_", state.device);
    const auto sample = [&](std::string_view name, double bytes) {
      run.add_sample(file.process, run.intern(owner + std::string{name}), state.time, bytes);
    };
    if (state.allocated >= 0)
      sample("allocated_bytes", static_cast<double>(state.allocated));
    else
      sample("allocated_change_bytes", changes[state.device] += static_cast<double>(state.change));
    if (state.reserved >= 0) sample("reserved_bytes", static_cast<double>(state.reserved));
  }
}

}  // namespace rankscope::analyzer::kineto
