#include "importers/kineto/trace_file.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "importers/shared/rank_claims.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "words/keys.h"

namespace rankscope::analyzer::kineto {
namespace {

std::optional<std::int64_t> told(const RankEvidence& file) {
  if (file.metadata) return file.metadata;
  if (file.communicator && *file.communicator >= 0 && *file.communicator < most_ranks) return file.communicator;
  if (const auto rank = rank_in_name(file.path.filename().string())) return rank;
  return rank_in_name(std::filesystem::path{file.trace_name}.filename().string());
}

/// Files that do not tell: alone rank 0; else one process per device of one host, if that is what they are.
Result<void> guess(std::span<const RankEvidence> files, std::span<const RankInput> inputs,
                   std::vector<RankClaim>& claims, Quality& quality) {
  std::vector<std::size_t> unknown;
  for (std::size_t i = 0; i < claims.size(); ++i)
    if (!claims[i].rank) unknown.push_back(i);
  if (unknown.empty()) return {};
  quality.add(Counter::rank_unknown, unknown.size());
  if (files.size() == 1) {
    claims.front().rank = 0;
    return {};
  }
  std::set<std::int32_t> used;
  std::set<std::string> hosts;
  for (const std::size_t i : unknown) {
    if (files[i].devices.size() == 1 && *files[i].devices.begin() >= 0) used.insert(*files[i].devices.begin());
    hosts.insert(files[i].host);
  }
  if (unknown.size() != files.size() || used.size() != unknown.size() || hosts.size() > 1)
    return no_rank_found(inputs, unknown);
  for (const std::size_t i : unknown) claims[i].rank = *files[i].devices.begin();
  return {};
}

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

Result<std::vector<RankId>> assign_ranks(std::span<const RankEvidence> files, const ImportOptions& options,
                                         Quality& quality) {
  std::vector<RankInput> inputs;
  std::int64_t world_size = 0;
  for (const RankEvidence& file : files) {
    inputs.push_back({.path = file.path, .pid = {}, .processes = 1, .program = {}});
    world_size = std::max(world_size, file.world_size);
  }
  RS_TRY(const auto mapped, ranks_from_map(inputs, options.rank_map));
  std::vector<RankClaim> claims;
  for (std::size_t i = 0; i < files.size(); ++i)
    claims.push_back({mapped[i] ? mapped[i] : told(files[i]), mapped[i].has_value()});
  RS_TRY_VOID(guess(files, inputs, claims, quality));
  RS_TRY_VOID(check_claims(inputs, claims, world_size));
  std::vector<RankId> assigned;
  for (const RankClaim& claim : claims) assigned.push_back(RankId{static_cast<std::uint32_t>(*claim.rank)});
  return assigned;
}

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
  devices_called.merge(part.devices_called);
  if (part.last) last = part.last;
  fractions = fractions || part.fractions;
  float_times = float_times || part.float_times;
}

bool TraceFile::is_cut() const {
  return std::ranges::find(losses, Counter::truncated_input, &QualityPlace::counter) != losses.end();
}

void mark_cut_steps(const TraceFile& file, RunBuilder& run) {
  if (!file.is_cut() || !file.last) return;
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
