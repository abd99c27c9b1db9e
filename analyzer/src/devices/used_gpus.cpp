#include "devices/used_gpus.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"

namespace rankscope::analyzer {
namespace {

constexpr std::string_view same_number =
    "the recording lists several GPUs with its number and different UUIDs, so it is not certain which one it is";
constexpr std::string_view no_uuid = "the UUID of its GPU was not recorded";

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

void identify(const Run& run, UsedGpu& gpu) {
  Listed listed = listed_as(run, gpu);
  gpu.name = std::move(listed.name);
  if (listed.uuids.size() == 1) gpu.uuid = *listed.uuids.begin();
  if (listed.uuids.empty()) gpu.why_no_uuid = no_uuid;
  if (listed.uuids.size() > 1) gpu.why_no_uuid = same_number;
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
  if (gpus.empty() && (run.has_accelerator(rank) || !stated.empty()))
    gpus.push_back({.process = process, .why_no_uuid = std::string{no_uuid}});
  if (gpus.size() == 1 && gpus.front().uuid.empty() && gpus.front().why_no_uuid == no_uuid && !stated.empty()) {
    gpus.front().uuid = stated;
    gpus.front().why_no_uuid.clear();
  }
  return gpus;
}

}  // namespace rankscope::analyzer
