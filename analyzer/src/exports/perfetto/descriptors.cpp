#include "exports/perfetto/descriptors.h"

#include <algorithm>
#include <array>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <set>
#include <utility>

#include "exports/perfetto/fields.h"
#include "exports/shared/chrome_ids.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/clock_words.h"
#include "rankscope/core/model/run.h"
#include "words/json_text.h"

namespace rankscope::analyzer::perfetto {
namespace {

using protozero::pbf_writer;

/// Process of a row and ordinal of a device.
using DeviceKey = std::pair<std::uint32_t, std::int32_t>;

/// Devices of processes that use more than one: only there a level between rank and stream helps.
std::vector<DeviceKey> shown_devices(const Run& run) {
  std::set<DeviceKey> all;
  for (const Lane& lane : run.lanes())
    if (lane.device >= 0) all.emplace(lane.process, lane.device);
  std::vector<DeviceKey> shown;
  for (const DeviceKey& key : all) {
    const auto others = std::ranges::count(all, key.first, &DeviceKey::first);
    if (others > 1) shown.push_back(key);
  }
  return shown;
}

struct CounterName {
  std::string_view name;
  std::string_view unit;
};

/// "rss_bytes" is the counter "rss" in bytes; "page_faults_minor" has no unit.
CounterName split_unit(std::string_view name) {
  constexpr std::array<std::string_view, 8> units{"bytes", "percent", "ns", "us", "ms", "mhz", "watts", "celsius"};
  const auto split = name.rfind('_');
  if (split == std::string_view::npos || split == 0) return {name, ""};
  const auto unit = name.substr(split + 1);
  if (std::ranges::find(units, unit) == units.end()) return {name, ""};
  return {name.substr(0, split), unit};
}

class Descriptors {
 public:
  Descriptors(const Run& run, std::string& out) : run_(run), file_(out), ids_(run) {
    std::uint64_t uuid = run.processes().size() + 1;
    for (const DeviceKey& key : shown_devices(run)) devices_.emplace(key, uuid++);
    lane_uuids_.resize(run.lanes().size(), 0);
  }

  void root() {
    pbf_writer packet{file_, trace::packet};
    pbf_writer track{packet, packet::track_descriptor};
    track.add_uint64(track::uuid, 0);
    track.add_enum(track::process_ordering, track::explicit_order);
    track.add_enum(track::thread_ordering, track::explicit_order);
  }

  void process(std::uint32_t row) {
    const Process& process = run_.processes()[row];
    pbf_writer packet{file_, trace::packet};
    pbf_writer track{packet, packet::track_descriptor};
    track.add_uint64(track::uuid, process_uuid(row));
    {
      pbf_writer descriptor{track, track::process};
      descriptor.add_int32(process::pid, static_cast<std::int32_t>(ids_.pid(row)));
      descriptor.add_string(process::name, valid_utf8(process_title(run_, process)));
    }
    track.add_enum(track::child_ordering, track::explicit_children);
    track.add_int32(track::sibling_order_rank, static_cast<std::int32_t>(row));
    track.add_string(track::description, valid_utf8(description(process)));
  }

  void device(const DeviceKey& key, std::uint64_t uuid) {
    pbf_writer packet{file_, trace::packet};
    pbf_writer track{packet, packet::track_descriptor};
    child(track, uuid, process_uuid(key.first), device_name(key));
    track.add_enum(track::child_ordering, track::explicit_children);
  }

  void track(const Track& track) {
    if (track.kind == Track::Kind::counter) return counter(track);
    const Lane& lane = run_.lanes()[track.of];
    const auto name = valid_utf8(run_.text(lane.name));
    if (track.row == 0) lane_uuids_[track.of] = track.uuid;
    pbf_writer packet{file_, trace::packet};
    pbf_writer descriptor{packet, packet::track_descriptor};
    if (lane.kind == LaneKind::thread && track.row == 0) {
      thread(descriptor, track, name);
    } else {
      child(descriptor, track.uuid, parent_of(track), track.row == 0 ? name : format("{} ({})", name, track.row + 1));
    }
  }

  [[nodiscard]] const std::map<DeviceKey, std::uint64_t>& devices() const { return devices_; }

 private:
  static std::uint64_t process_uuid(std::uint32_t row) { return row + 1; }

  /// Further rows of a thread belong to it; everything else to its device, if that is shown, or its process.
  [[nodiscard]] std::uint64_t parent_of(const Track& track) const {
    const Lane& lane = run_.lanes()[track.of];
    if (lane.kind == LaneKind::thread) return lane_uuids_[track.of];
    const auto device = devices_.find({lane.process, lane.device});
    return device == devices_.end() ? process_uuid(lane.process) : device->second;
  }

  [[nodiscard]] std::string device_name(const DeviceKey& key) const {
    for (const Device& device : run_.devices()) {
      if (device.process != key.first || device.ordinal != key.second || !device.name.is_set()) continue;
      return valid_utf8(format("GPU {} ({})", key.second, run_.text(device.name)));
    }
    return format("GPU {}", key.second);
  }

  [[nodiscard]] std::string description(const Process& process) const {
    const RunInfo& info = run_.info();
    return format("pid {}, program {}; recorded by {}; {}", process.pid,
                  process.program.is_set() ? run_.text(process.program) : "unknown", info.source,
                  clock_words(info.clock));
  }

  void thread(pbf_writer& track, const Track& of, const std::string& name) {
    const Lane& lane = run_.lanes()[of.of];
    track.add_uint64(track::uuid, of.uuid);
    track.add_uint64(track::parent_uuid, process_uuid(lane.process));
    {
      pbf_writer descriptor{track, track::thread};
      descriptor.add_int32(thread::pid, static_cast<std::int32_t>(ids_.pid(lane.process)));
      descriptor.add_int64(thread::tid, ids_.next_tid(lane.process));
      descriptor.add_string(thread::name, name);
    }
    track.add_int32(track::sibling_order_rank, order_++);
  }

  /// Without a merge behaviour of its own, a track would be drawn into its namesakes.
  void child(pbf_writer& track, std::uint64_t uuid, std::uint64_t parent, const std::string& name) {
    track.add_uint64(track::uuid, uuid);
    track.add_string(track::name, name);
    track.add_uint64(track::parent_uuid, parent);
    track.add_int32(track::sibling_order_rank, order_++);
    track.add_enum(track::sibling_merge_behavior, track::never_merge);
  }

  void counter(const Track& track) {
    const CounterTrack& counter = run_.counters()[track.of];
    const auto [name, unit] = split_unit(run_.text(counter.name));
    pbf_writer packet{file_, trace::packet};
    pbf_writer descriptor{packet, packet::track_descriptor};
    child(descriptor, track.uuid, process_uuid(counter.process), valid_utf8(name));
    pbf_writer values{descriptor, track::counter};
    if (unit == "bytes") {
      values.add_enum(counter::unit, counter::bytes);
    } else if (unit == "ns") {
      values.add_enum(counter::unit, counter::nanoseconds);
    } else if (unit.empty()) {
      values.add_enum(counter::unit, counter::count);
    } else {
      values.add_string(counter::unit_name, std::string{unit == "percent" ? "%" : unit});
    }
  }

  const Run& run_;
  pbf_writer file_;
  ChromeIds ids_;
  std::map<DeviceKey, std::uint64_t> devices_;
  std::vector<std::uint64_t> lane_uuids_;
  std::int32_t order_ = 0;
};

}  // namespace

std::string describe(const Run& run, const std::vector<Track>& tracks) {
  std::string out;
  Descriptors descriptors{run, out};
  descriptors.root();
  for (std::uint32_t row = 0; row < run.processes().size(); ++row) descriptors.process(row);
  for (const auto& [key, uuid] : descriptors.devices()) descriptors.device(key, uuid);
  for (const Track& track : tracks) descriptors.track(track);
  return out;
}

std::uint64_t first_track_uuid(const Run& run) { return run.processes().size() + shown_devices(run).size() + 1; }

}  // namespace rankscope::analyzer::perfetto
