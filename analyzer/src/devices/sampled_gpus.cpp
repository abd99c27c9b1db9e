#include "devices/sampled_gpus.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>

#include "devices/parts.h"
#include "math/statistics.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/numbers.h"
#include "steps/sample_windows.h"

namespace rankscope::analyzer {
namespace {

/// Numbers of the GPUs whose streams did something; without such streams those that it sampled, which it must have
/// used; without these the only one that is listed.
std::set<std::int32_t> ordinals_of(const Run& run, std::uint32_t process) {
  std::set<std::int32_t> ordinals;
  for (const Lane& lane : run.lanes())
    if (lane.process == process && lane.kind == LaneKind::stream && lane.device >= 0 && lane.span_count > 0)
      ordinals.insert(lane.device);
  if (!ordinals.empty()) return ordinals;
  constexpr std::string_view sampled = " sm_active_percent";
  constexpr std::string_view gpu = "GPU ";
  for (const CounterTrack& track : run.counters()) {
    std::string_view name = run.text(track.name);
    if (track.process != process || !name.starts_with(gpu) || !name.ends_with(sampled)) continue;
    name = name.substr(gpu.size(), name.size() - gpu.size() - sampled.size());
    if (const auto ordinal = number_from<std::int32_t>(name, {.least = 0})) ordinals.insert(*ordinal);
  }
  if (!ordinals.empty()) return ordinals;
  for (const Device& device : run.devices())
    if (device.process == process) ordinals.insert(device.ordinal);
  if (ordinals.size() > 1) ordinals.clear();
  return ordinals;
}

bool is_hidden(const Run& run, const Device& device) {
  return std::ranges::any_of(device.metadata, [&run](const auto& item) {
    return run.text(item.first) == "cudaVisible" && run.text(item.second) == "0";
  });
}

/// What the recording lists under a number; more than one UUID where that is not certain.
struct Listed {
  std::set<std::string> uuids{};
  std::string name{};
};

Listed listed_as(const Run& run, const UsedGpu& gpu) {
  Listed all;
  Listed visible;
  for (const Device& device : run.devices()) {
    if (device.process != gpu.process || device.ordinal != gpu.ordinal) continue;
    for (Listed* const listed : {&all, is_hidden(run, device) ? &all : &visible}) {
      if (device.uuid.is_set()) listed->uuids.emplace(run.text(device.uuid));
      if (device.name.is_set()) listed->name = run.text(device.name);
    }
  }
  Listed listed = visible.uuids.empty() && visible.name.empty() ? all : visible;
  const std::string_view sampled = run.metadata(run.processes()[gpu.process], format("pm_gpu_{}", gpu.ordinal));
  if (!sampled.empty()) listed.uuids.emplace(first_word(sampled));
  return listed;
}

void name_gpu(UsedGpu& gpu, std::string_view uuid) {
  gpu.uuid = uuid;
  gpu.identity = GpuIdentity::known;
}

void identify(const Run& run, UsedGpu& gpu) {
  Listed listed = listed_as(run, gpu);
  gpu.name = std::move(listed.name);
  if (listed.uuids.size() > 1) gpu.identity = GpuIdentity::ambiguous;
  if (listed.uuids.size() == 1) name_gpu(gpu, *listed.uuids.begin());
}

constexpr std::string_view not_sampled = "not sampled";
constexpr std::string_view nvml_problem = "nvml_problem";
constexpr std::string_view pm_problem = "pm_problem";
constexpr std::string_view none_inside = "no sample was taken in the counted time";
constexpr std::string_view divided_by_mig =
    "MIG divides the rank's GPU: NVML reports on the whole GPU, not on the rank's part";
constexpr std::string_view no_pair =
    "only one sample was taken before the end of the counted time, so no change can be seen";
constexpr double percent = 0.01;
constexpr double per_second = 1e9;  // of what is per ns

template <class Counters>
struct MeanOf {
  std::string_view quantity;
  Ratio Counters::*field;
  double factor = 1;
};
constexpr std::array nvml_means{
    MeanOf<NvmlCounters>{"nvml_busy_percent", &NvmlCounters::busy, percent},
    MeanOf<NvmlCounters>{"nvml_memory_busy_percent", &NvmlCounters::memory_busy, percent},
    MeanOf<NvmlCounters>{"pcie_sent_bytes_per_second", &NvmlCounters::pcie_sent_bytes_per_second},
    MeanOf<NvmlCounters>{"pcie_received_bytes_per_second", &NvmlCounters::pcie_received_bytes_per_second},
};
constexpr std::array pm_means{
    MeanOf<PmCounters>{"sm_active_percent", &PmCounters::sm_active, percent},
    MeanOf<PmCounters>{"tensor_active_percent", &PmCounters::tensor_active, percent},
    MeanOf<PmCounters>{"dram_read_percent", &PmCounters::dram_read, percent},
    MeanOf<PmCounters>{"dram_write_percent", &PmCounters::dram_write, percent},
    MeanOf<PmCounters>{"pcie_active_percent", &PmCounters::pcie_active, percent},
    MeanOf<PmCounters>{"nvlink_received_bytes_per_second", &PmCounters::nvlink_received_bytes_per_second},
    MeanOf<PmCounters>{"nvlink_sent_bytes_per_second", &PmCounters::nvlink_sent_bytes_per_second},
    MeanOf<PmCounters>{"pcie_read_bytes_per_second", &PmCounters::pcie_read_bytes_per_second},
    MeanOf<PmCounters>{"pcie_write_bytes_per_second", &PmCounters::pcie_write_bytes_per_second},
};

Ratio mean_of(std::span<const double> values, double factor) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return {.value = factor * sum / static_cast<double>(values.size()), .why = {}};
}

Ratio no_value(std::string why) { return {.value = std::nullopt, .why = std::move(why)}; }

std::optional<std::int64_t> number_behind(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return number_from<std::int64_t>(text.substr(prefix.size()));
}

}  // namespace

/// First word of "GPU-1f0... GH100 at 200 Hz: ...".
std::string_view first_word(std::string_view text) { return text.substr(0, text.find(' ')); }

std::vector<UsedGpu> used_gpus(const Run& run, RankId rank) {
  const std::uint32_t process = run.process_row_of(rank);
  // Of the first of its GPUs, as the reference trainer states it.
  const std::string_view stated = run.metadata(run.processes()[process], "device_uuid");
  std::vector<UsedGpu> gpus;
  for (const std::int32_t ordinal : ordinals_of(run, process)) {
    gpus.push_back({.process = process, .ordinal = ordinal});
    identify(run, gpus.back());
  }
  if (gpus.empty() && (run.has_accelerator(rank) || !stated.empty())) gpus.push_back({.process = process});
  if (gpus.size() == 1 && gpus.front().identity == GpuIdentity::not_recorded && !stated.empty())
    name_gpu(gpus.front(), stated);
  return gpus;
}

std::string_view why_no_uuid(const UsedGpu& gpu) {
  switch (gpu.identity) {
    case GpuIdentity::known:
      return {};
    case GpuIdentity::not_recorded:
      return "the UUID of the rank's GPU was not recorded";
    case GpuIdentity::ambiguous:
      return "the recording lists several GPUs with this number and different UUIDs, so it is not certain which GPU "
             "the rank used";
  }
  return "?";
}

/// All samples of one quantity of one GPU, or why there are none.
struct SampledGpus::Series {
  std::vector<CounterSample> samples;
  std::string why;

  /// Those inside; where there are none, `why` tells.
  std::vector<double> inside(std::span<const TimeRange> windows) {
    std::vector<double> values = values_inside(samples, windows);
    if (values.empty() && why.empty()) why = none_inside;
    return values;
  }
};

SampledGpus::SampledGpus(const Run& run) : run_(run) {
  for (const CounterTrack& track : run.counters())
    if (const std::string_view name = run.text(track.name); name.starts_with("GPU "))
      tracks_.emplace(std::pair{track.process, name}, &track);
  for (std::uint32_t process = 0; process < run.processes().size(); ++process) take_facts(process);
}

void SampledGpus::take_facts(std::uint32_t process) {
  const Process& facts = run_.processes()[process];
  for (const std::string_view key : {nvml_problem, pm_problem})
    if (const std::string_view said = run_.metadata(facts, key); !said.empty())
      problems_.try_emplace({facts.host, key}, said);
  for (const auto& [key_id, value_id] : facts.metadata) {
    const std::string_view key = run_.text(key_id);
    const std::string uuid{first_word(run_.text(value_id))};
    if (uuid.empty()) continue;
    if (const auto number = number_behind(key, "nvml_gpu_")) {
      nvml_[uuid].push_back({process, *number});
      if (!run_.metadata(facts, format("nvml_mig_{}", *number)).empty()) divided_.insert(uuid);
    }
    if (const auto number = number_behind(key, "pm_gpu_")) pm_[uuid].push_back({process, *number});
  }
}

/// What went wrong where the GPU is; empty if nobody said so. `key` is that under which processes say it.
std::string_view SampledGpus::problem_at(const UsedGpu& gpu, std::string_view key) const {
  const Process& own = run_.processes()[gpu.process];
  if (const std::string_view said = run_.metadata(own, key); !said.empty()) return said;
  const auto on_host = problems_.find({own.host, key});
  return on_host == problems_.end() ? std::string_view{} : on_host->second;
}

std::string SampledGpus::why_not_sampled(const UsedGpu& gpu, std::string_view key) const {
  const std::string_view problem = problem_at(gpu, key);
  return problem.empty() ? std::string{not_sampled} : format("{}: {}", not_sampled, problem);
}

/// Of a GPU that is not among those that NVML reported about, as no part of a GPU is.
std::string SampledGpus::why_no_nvml(const UsedGpu& gpu) const {
  if (gpu.identity == GpuIdentity::known && gpu.uuid.starts_with("MIG-")) return std::string{divided_by_mig};
  if (nvml_.empty() || !problem_at(gpu, nvml_problem).empty()) return why_not_sampled(gpu, nvml_problem);
  if (gpu.identity != GpuIdentity::known) return std::string{why_no_uuid(gpu)};
  return "no process of the recording sampled the rank's GPU";
}

SampledGpus::Series SampledGpus::series(std::span<const Place> places, std::string_view quantity) const {
  Series found;
  for (const Place& place : places) {
    const std::string name = format("GPU {} {}", place.number, quantity);
    if (const auto track = tracks_.find({place.process, name}); track != tracks_.end()) {
      const auto samples = run_.samples_of(*track->second);
      found.samples.insert(found.samples.end(), samples.begin(), samples.end());
    }
    for (const char* const without : {"nvml_without ", "pm_without "})
      if (found.why.empty()) found.why = run_.metadata(run_.processes()[place.process], without + name);
  }
  if (!found.samples.empty()) found.why.clear();
  if (found.samples.empty() && found.why.empty()) found.why = not_sampled;
  if (places.size() > 1) std::ranges::stable_sort(found.samples, {}, &CounterSample::time);
  return found;
}

Section<NvmlCounters> SampledGpus::nvml_of(const UsedGpu& gpu, std::span<const TimeRange> windows) const {
  const auto places = gpu.uuid.empty() ? nvml_.end() : nvml_.find(gpu.uuid);
  if (places == nvml_.end()) return unavailable(why_no_nvml(gpu));
  if (divided_.contains(gpu.uuid)) return unavailable(std::string{divided_by_mig});
  NvmlCounters counters;
  for (const auto& [quantity, field, factor] : nvml_means) {
    Series all = series(places->second, quantity);
    const std::vector<double> values = all.inside(windows);
    counters.*field = values.empty() ? no_value(all.why) : mean_of(values, factor);
  }
  for (const auto& [quantity, field] : nvml_spreads) {
    Series all = series(places->second, quantity);
    if (const std::vector<double> values = all.inside(windows); !values.empty())
      counters.*field = Spread{.median = median(values), .most = std::ranges::max(values)};
    else
      counters.*field = unavailable(all.why);
  }
  Series reasons = series(places->second, "throttle_reasons");
  if (const std::vector<double> bits = reasons.inside(windows); !bits.empty())
    counters.throttling = throttling_of(bits);
  else
    counters.throttling = unavailable(reasons.why);
  add_totals(places->second, windows, counters);
  return counters;
}

void SampledGpus::add_totals(std::span<const Place> places, std::span<const TimeRange> windows,
                             NvmlCounters& counters) const {
  std::int64_t whole_ns = 0;
  for (const TimeRange& window : windows) whole_ns += window.length().count();
  const auto growth = [&](std::string_view quantity) -> Section<Growth> {
    const Series all = series(places, quantity);
    const Growth grown = growth_inside(all.samples, windows);
    if (grown.covered_ns > 0) return grown;
    return unavailable(all.why.empty() ? std::string{none_inside} : all.why);
  };
  if (const auto energy = growth("energy_joules")) {
    counters.energy_joules = {.value = energy->amount, .why = {}};
    counters.energy_covers = {.value = static_cast<double>(energy->covered_ns) / static_cast<double>(whole_ns),
                              .why = {}};
  } else {
    counters.energy_joules = counters.energy_covers = no_value(energy.error().why);
  }
  const auto rate = [&](std::string_view quantity) -> Ratio {
    const auto grown = growth(quantity);
    if (!grown) return no_value(grown.error().why);
    return {.value = per_second * grown->amount / static_cast<double>(grown->covered_ns), .why = {}};
  };
  counters.nvlink_sent_bytes_per_second = rate("nvlink_sent_bytes");
  counters.nvlink_received_bytes_per_second = rate("nvlink_received_bytes");
  Series errors = series(places, "ecc_uncorrected_errors");
  if (errors.inside(windows).empty())
    counters.ecc_uncorrected_errors = no_value(errors.why);
  else if (const auto events = events_inside(errors.samples, windows))
    counters.ecc_uncorrected_errors = {.value = events, .why = {}};
  else
    counters.ecc_uncorrected_errors = no_value(std::string{no_pair});
}

/// Also of another process that shares the GPU: only one samples it at a time.
std::vector<SampledGpus::Place> SampledGpus::pm_places(const UsedGpu& gpu) const {
  std::vector<Place> places;
  const bool own = std::ranges::any_of(pm_means, [&](const auto& mean) {
    const std::string name = format("GPU {} {}", gpu.ordinal, mean.quantity);
    return tracks_.contains({gpu.process, name});
  });
  if (own) places.push_back({gpu.process, gpu.ordinal});
  if (const auto others = pm_.find(gpu.uuid); others != pm_.end())
    std::ranges::copy_if(others->second, std::back_inserter(places),
                         [&](const Place& place) { return !own || place != places.front(); });
  return places;
}

Section<PmCounters> SampledGpus::pm_of(const UsedGpu& gpu, std::span<const TimeRange> windows) const {
  const std::vector<Place> places = pm_places(gpu);
  if (places.empty()) {
    if (!pm_.empty() && gpu.uuid.empty()) return unavailable(std::string{why_no_uuid(gpu)});
    return unavailable(why_not_sampled(gpu, pm_problem));
  }
  PmCounters counters;
  for (const auto& [quantity, field, factor] : pm_means) {
    Series all = series(places, quantity);
    const std::vector<double> values = all.inside(windows);
    counters.*field = values.empty() ? no_value(all.why) : mean_of(values, factor);
  }
  return counters;
}

}  // namespace rankscope::analyzer
