#include "memory/parts.h"

#include <algorithm>

#include "math/statistics.h"
#include "memory/blocks.h"
#include "memory/curve.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/numbers.h"
#include "split/peers.h"
#include "steps/counted_windows.h"
#include "steps/parts.h"
#include "steps/sample_windows.h"

namespace rankscope::analyzer {
namespace {

// Do ranks of equal work need equally much memory (metrics.md 14.4)?

/// Nothing where a rank has no comparable peak.
std::optional<MemoryPeers> peers_of(const PeerClass& peers, const MemorySection& section) {
  MemoryPeers result;
  result.name = peers.name;
  result.caveat = peers.caveat;
  result.ranks = static_cast<std::int64_t>(peers.size());
  std::vector<std::int64_t> peaks;
  for (const RankRow* const row : peers.rows) {
    const DeviceMemory* const memory = main_memory(section, row->rank);
    if (memory == nullptr || memory->changes_only || !memory->allocated.bytes) return std::nullopt;
    if (!peaks.empty() && memory->kind != result.kind) return std::nullopt;
    result.kind = memory->kind;
    peaks.push_back(*memory->allocated.bytes);
    if (peaks.back() > result.most_bytes || peaks.size() == 1) {
      result.most = row->rank;
      result.most_bytes = peaks.back();
    }
  }
  result.median_bytes = median(peaks);
  if (peaks.size() < 2)
    result.imbalance.why = "only one rank: nothing to compare it with";
  else if (result.median_bytes <= 0)
    result.imbalance.why = "the median rank allocated nothing";
  else
    result.imbalance.value = static_cast<double>(result.most_bytes) / static_cast<double>(result.median_bytes);
  return result;
}

/// Fills in `peers`, or why there are none. A class is compared where each of its ranks has a peak of the same kind.
void add_peers(const Run& run, const Section<StepsSection>& steps, const Section<std::vector<RankRow>>& rows,
               MemorySection& section) {
  if (!steps || !rows) {
    section.why_no_peers = steps ? rows.error().why : steps.error().why;
    return;
  }
  for (const PeerClass& peers : peer_classes(run, *steps, *rows))
    if (auto compared = peers_of(peers, section)) section.peers.push_back(std::move(*compared));
  if (section.peers.empty())
    section.why_no_peers = "no class of peers has memory peaks of the same kind on all its ranks";
}

constexpr const char* nothing_recorded = "no allocations or memory counters were recorded";
constexpr const char* bad_numbers = "all recorded memory events contain impossible numbers";
constexpr std::size_t most_buckets = 200;  // of a timeline
constexpr std::size_t fewest_buckets = 20;
constexpr std::size_t buckets_of_all = 16 * most_buckets;

/// What the analysis of a series needs beside it.
struct Setting {
  const Run& run;
  const StepsSection* steps;  ///< null: none
  bool only_steps;            ///< steps were asked for
  std::size_t buckets;

  /// Between the first and last step asked for; nothing: all of it.
  [[nodiscard]] std::optional<TimeRange> part_of(RankId rank) const {
    if (!only_steps) return std::nullopt;
    const auto windows = windows_of(*steps, rank);
    if (windows.empty()) return TimeRange{RunTime::min(), RunTime::min()};
    return TimeRange{windows.front().window.begin, windows.back().window.end};
  }

  [[nodiscard]] std::optional<std::int64_t> step_at(RankId rank, RunTime time) const {
    if (steps == nullptr) return std::nullopt;
    for (const StepWindow& window : windows_of(*steps, rank))
      if (window.window.contains(time)) return window.index;
    return std::nullopt;
  }
};

/// Kineto and Nsight name it differently.
void fill_total(const Run& run, DeviceMemory& memory) {
  memory.why_no_total = memory.kind == MemoryKind::host ? "the memory size of the host was not recorded"
                                                        : "the memory size of the device was not recorded";
  if (memory.kind == MemoryKind::host) return;
  for (const Device& device : run.devices()) {
    if (device.process != run.process_row_of(memory.rank) || device.ordinal != memory.device) continue;
    memory.name = run.text(device.name);
    for (const auto& [key, value] : device.metadata) {
      if (run.text(key) != "totalGlobalMem" && run.text(key) != "total_memory_bytes") continue;
      const auto bytes = number_from<std::int64_t>(run.text(value), {.least = 1});
      if (!bytes) continue;
      memory.total_bytes = bytes;
      memory.why_no_total.clear();
    }
  }
}

void fill_left(DeviceMemory& memory) {
  if (!memory.total_bytes)
    memory.why_none_left = memory.why_no_total;
  else if (!memory.reserved.bytes)
    memory.why_none_left = "the amount of reserved memory is not known";
  else if (*memory.reserved.bytes > *memory.total_bytes)
    memory.why_none_left = "the reserved memory exceeds the recorded memory size of the device";
  else
    memory.left_bytes = *memory.total_bytes - *memory.reserved.bytes;
}

/// At the highest reserved, where most of it was allocated: what is held unused even then.
Ratio unused_of(const MemorySeries& series, const DeviceMemory& memory, const std::optional<TimeRange>& part) {
  if (!memory.reserved.bytes) return {std::nullopt, memory.reserved.why};
  if (!series.has_allocated) return {std::nullopt, memory.allocated.why};
  const std::int64_t reserved = *memory.reserved.bytes;
  if (reserved <= 0) return {std::nullopt, "nothing was reserved"};
  std::int64_t most = MemoryEvent::unknown;
  const MemoryCurve curve = curve_of(series, &MemoryEvent::reserved, part);
  for (const MemoryCurve::Value& value : curve.values())
    if (value.bytes == reserved) most = std::max(most, series.events[value.event].allocated);
  if (most == MemoryEvent::unknown) return {std::nullopt, "the amount of memory allocated at that time is not known"};
  if (most > reserved)
    return {std::nullopt, "more memory was allocated than reserved, so the two totals are of different pools"};
  return {static_cast<double>(reserved - most) / static_cast<double>(reserved), {}};
}

MemoryPeak peak_of(const MemorySeries& series, const MemoryCurve& curve, const Setting& setting) {
  MemoryPeak peak;
  const MemoryCurve::Value& highest = curve.highest();
  peak.bytes = std::max<std::int64_t>(0, highest.bytes);
  peak.time_ns = ns_of(highest.time);
  peak.step = setting.step_at(series.rank, highest.time);
  peak.place = place_text(setting.run, series.events[highest.event].place);
  return peak;
}

/// Fills in allocated, its curve and who held it. Returns the peaks by step.
std::vector<StepPeak> fill_allocated(const MemorySeries& series, const Setting& setting, DeviceMemory& memory) {
  const MemoryCurve curve = curve_of(series, &MemoryEvent::allocated, setting.part_of(series.rank));
  memory.allocated.why = !series.has_allocated ? "only reserved memory was recorded, not allocated memory"
                         : series.events.empty() && series.ignored > 0 ? bad_numbers
                                                                       : "nothing was recorded in these steps";
  memory.holders = unavailable(memory.allocated.why);
  // The allocator's own peak is that since its start: it tells nothing of some of the steps.
  const auto own = setting.only_steps ? std::nullopt : series.own_peak;
  const bool own_is_higher = own && (curve.empty() || *own > curve.highest().bytes);
  if (own_is_higher) {
    memory.allocated = {.bytes = own, .why = {}, .time_ns = {}, .step = {}, .place = {}};
    memory.holders = unavailable("the peak lies between two samples, so it is not known what was allocated then");
  } else if (!curve.empty()) {
    memory.allocated = peak_of(series, curve, setting);
    Replay replay = replay_blocks(setting.run, series, curve.highest().event);
    memory.holders = std::move(replay.holders);
    memory.released_unknown = replay.released_unknown;
    memory.reused = replay.reused;
  }
  memory.allocated_points = curve.points(setting.buckets);
  return setting.steps != nullptr ? curve.by_step(*setting.steps, series.rank) : std::vector<StepPeak>{};
}

std::vector<StepPeak> fill_reserved(const MemorySeries& series, const Setting& setting, DeviceMemory& memory) {
  const MemoryCurve curve = curve_of(series, &MemoryEvent::reserved, setting.part_of(series.rank));
  memory.reserved.why = series.kind == MemoryKind::host ? "the host's allocator keeps nothing in reserve"
                        : series.has_reserved           ? "nothing was recorded in these steps"
                                                        : "reserved memory was not recorded";
  if (!curve.empty()) memory.reserved = peak_of(series, curve, setting);
  memory.reserved_points = curve.points(setting.buckets);
  return setting.steps != nullptr ? curve.by_step(*setting.steps, series.rank) : std::vector<StepPeak>{};
}

DeviceMemory device_memory(const MemorySeries& series, const Setting& setting) {
  DeviceMemory memory;
  memory.rank = series.rank;
  memory.kind = series.kind;
  memory.device = series.device;
  memory.changes_only = series.changes_only;
  memory.events = static_cast<std::int64_t>(series.events.size());
  memory.ignored = series.ignored;
  fill_total(setting.run, memory);
  const std::vector<StepPeak> allocated = fill_allocated(series, setting, memory);
  const std::vector<StepPeak> reserved = fill_reserved(series, setting, memory);
  fill_left(memory);
  memory.unused = unused_of(series, memory, setting.part_of(series.rank));
  // A pool that is full grows in jumps; what it gives out shows a leak from the first step on.
  memory.growth = growth_of(series.has_allocated ? allocated : reserved, memory.left_bytes, memory.why_none_left);
  return memory;
}

/// What the sampler of the host saw; nothing where it did not run.
std::optional<HostMemory> host_memory(RankId rank, const Setting& setting) {
  const MemorySeries samples = resident_series(setting.run, rank);
  const MemoryCurve curve = curve_of(samples, &MemoryEvent::allocated, setting.part_of(rank));
  if (curve.empty()) return std::nullopt;
  HostMemory memory;
  memory.rank = rank;
  memory.resident = peak_of(samples, curve, setting);
  memory.points = curve.points(setting.buckets);
  const auto peaks = setting.steps != nullptr ? curve.by_step(*setting.steps, rank) : std::vector<StepPeak>{};
  memory.growth = growth_of(peaks, std::nullopt, "the memory size of the host was not recorded");
  return memory;
}

void add_places(const std::vector<MemorySeries>& all, const Section<StepsSection>& steps, const Setting& setting,
                const ReportOptions& options, MemorySection& section) {
  PlaceSums sums{setting.run};
  std::vector<RankId> ranks;
  for (const MemorySeries& series : all)
    if (series.blocks && is_asked_for(options, series.rank) && (ranks.empty() || ranks.back() != series.rank))
      ranks.push_back(series.rank);
  for (const RankId rank : ranks_to_sum(std::move(ranks), steps)) {
    const auto is_of_rank = [rank](const MemorySeries& series) { return series.rank == rank && series.blocks; };
    const CountedWindows windows = counted_windows(setting.run, rank, steps);
    ++section.ranks;
    section.rank_steps += windows.steps;
    for (const MemorySeries& series : all)
      if (is_of_rank(series)) sums.add(series, WindowTime{windows});
  }
  section.places = std::move(sums).finish();
}

}  // namespace

Section<MemorySection> memory_of(const Run& run, const Section<StepsSection>& steps,
                                 const Section<std::vector<RankRow>>& rows, const ReportOptions& options) {
  if (std::string why = why_nothing_counts(steps, options); !why.empty()) return unavailable(std::move(why));
  const std::vector<MemorySeries> all = memory_series(run);
  const std::size_t curves = std::max<std::size_t>(1, all.size() + run.ranks().size());
  const Setting setting{run, steps ? &*steps : nullptr, options.steps.has_value(),
                        std::clamp(buckets_of_all / curves, fewest_buckets, most_buckets)};
  MemorySection section;
  for (const MemorySeries& series : all) section.devices.push_back(device_memory(series, setting));
  for (const RankId rank : run.ranks())
    if (auto host = host_memory(rank, setting)) section.hosts.push_back(std::move(*host));
  if (section.devices.empty() && section.hosts.empty()) return unavailable(nothing_recorded);
  add_places(all, steps, setting, options, section);
  add_peers(run, steps, rows, section);
  return section;
}

const DeviceMemory* main_memory(const MemorySection& section, RankId rank) {
  const DeviceMemory* main = nullptr;
  const auto size = [](const DeviceMemory& memory) {
    return std::pair{memory.allocated.bytes.value_or(-1), memory.reserved.bytes.value_or(-1)};
  };
  for (const DeviceMemory& memory : section.devices) {
    if (memory.rank != rank) continue;
    const bool first = main == nullptr || memory.kind < main->kind;
    if (first || (memory.kind == main->kind && size(memory) > size(*main))) main = &memory;
  }
  return main;
}

void fill_memory_peaks(const Section<MemorySection>& section, std::vector<RankRow>& rows) {
  for (RankRow& row : rows) {
    const DeviceMemory* const memory = section ? main_memory(*section, row.rank) : nullptr;
    if (memory == nullptr) {
      row.why_no_memory = row.why_no_reserved = section ? nothing_recorded : section.error().why;
      continue;
    }
    // Growth since the recording began is not what was allocated.
    if (!memory->changes_only) row.peak_allocated_bytes = memory->allocated.bytes;
    row.why_no_memory = memory->changes_only ? "no totals were recorded, only changes" : memory->allocated.why;
    row.peak_reserved_bytes = memory->reserved.bytes;
    row.why_no_reserved = memory->reserved.why;
  }
}

}  // namespace rankscope::analyzer
