// Names of rows, devices and facts of the process of one trace file.
#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "importers/kineto/trace_file.h"
#include "importers/shared/comm_kernels.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "words/keys.h"

namespace rankscope::analyzer::kineto {
namespace {

constexpr std::int64_t doubles_round_from = std::int64_t{1} << 50;  // microseconds: a double holds quarters of them

/// The process that was profiled: the pid with most rows of events.
std::int64_t main_pid(const TraceFile& file, const RunBuilder& run) {
  std::vector<std::uint64_t> spans(run.lanes().size(), 0);
  for (std::uint32_t row = file.first_span; row < file.end_span; ++row) ++spans[run.spans()[row].lane.index()];
  std::map<std::int64_t, std::uint64_t> by_pid;
  for (const auto& [key, lane] : file.lanes)
    if (key.what == LaneClass::thread) by_pid[key.pid] += spans[lane.index()];
  const auto most = std::ranges::max_element(by_pid, {}, [](const auto& entry) { return entry.second; });
  return most == by_pid.end() ? 0 : most->first;
}

std::set<std::int32_t> devices_of(const TraceFile& file) {
  std::set<std::int32_t> devices;
  for (const auto& [key, lane] : file.lanes)
    if (key.what == LaneClass::stream) devices.insert(static_cast<std::int32_t>(key.pid));
  return devices;
}

std::string row_name(const TraceFile& file, const LaneKey& key, bool several_devices) {
  const std::string stream =
      several_devices ? format("GPU {} stream {}", key.pid, key.tid) : format("stream {}", key.tid);
  switch (key.what) {
    case LaneClass::thread:
      if (const auto name = file.thread_names.find({key.pid, key.tid});
          name != file.thread_names.end() && !name->second.empty())
        return name->second;
      return format("thread {}", key.tid);
    case LaneClass::stream:
      return stream;
    case LaneClass::annotation:
      return stream + " annotations";
    case LaneClass::overhead:
      return "profiler overhead";
    case LaneClass::profiler:
      return "profiler";
  }
  return {};
}

void name_rows(const TraceFile& file, std::int64_t pid, RunBuilder& run) {
  const bool several_devices = devices_of(file).size() > 1;
  std::unordered_set<std::string> used;
  std::unordered_map<std::string, int> next_number;  // by name: all below it are taken
  for (const bool of_main : {true, false}) {
    for (const auto& [key, lane] : file.lanes) {
      const bool is_main = key.what != LaneClass::thread || key.pid == pid;
      if (is_main != of_main) continue;
      const std::string plain = row_name(file, key, several_devices);
      std::string name = plain;
      if (used.contains(name)) name = format("{} (pid {})", plain, key.pid);
      int& number = next_number.try_emplace(plain, 2).first->second;
      for (; used.contains(name); ++number) name = format("{} ({})", plain, number);
      run.rename_lane(lane, name, run.lanes()[lane.index()].kind);
      used.insert(std::move(name));
    }
  }
}

void add_devices(const TraceFile& file, RunBuilder& run) {
  for (std::size_t ordinal = 0; ordinal < file.metadata.devices.size(); ++ordinal) {
    Device device{.process = file.process, .ordinal = static_cast<std::int32_t>(ordinal)};
    for (const auto& [key, value] : file.metadata.devices[ordinal]) {
      if (key == "name")
        device.name = run.intern(value);
      else if (key == "uuid")
        device.uuid = run.intern(value);
      else if (key != "id")
        device.metadata.emplace_back(run.intern(key), run.intern(value));
    }
    run.add_device(std::move(device));
  }
}

/// The smallest difference of times that the file can tell, in ns.
int resolution(const TraceFile& file) {
  if (!file.fractions) return 1000;
  const bool large = file.extent && ns_of(file.extent->begin) / 1000 >= doubles_round_from;
  return large ? 250 : 1;
}

/// Devices that were called, where nothing is known of what ran on them.
std::string devices_not_read(const TraceFile& file) {
  const bool known =
      std::ranges::any_of(file.lanes, [](const auto& lane) { return lane.first.what == LaneClass::stream; });
  std::string names;
  if (known) return names;
  for (const std::string& device : file.devices_called) names += (names.empty() ? "" : ", ") + device;
  return names;
}

void add_facts(const TraceFile& file, Process& process, RunBuilder& run) {
  Facts facts = file.metadata.own ? file.metadata.own->process : file.metadata.facts;
  if (const std::string devices = devices_not_read(file); !devices.empty() && !file.metadata.own) {
    facts.emplace_back(keys::devices_not_read, devices);
    run.quality().add(Counter::devices_not_read);
  }
  if (!file.metadata.own) {
    const int ns = resolution(file);
    if (ns == 1000) run.quality().add(Counter::time_rounded_us);
    if (ns > 1) facts.emplace_back("time_resolution_ns", std::to_string(ns));
  }
  for (const auto& [key, value] : facts) process.metadata.emplace_back(run.intern(key), run.intern(value));
}

/// Of rooted operations "Rank" is the root; in a group that is not of all ranks it is a place in the group.
bool names_other_rank(const RunBuilder& run, const AttributeRange& attributes) {
  const auto number_of = [&](std::string_view key) {
    const StringId id = run.find(key);
    const auto value = id.is_set() ? attributes.find(id) : std::nullopt;
    return value && value->kind == AttributeKind::number ? value->number : -1;
  };
  const StringId key = run.find(keys::collective_name);
  const auto name = key.is_set() ? attributes.find(key) : std::nullopt;
  const bool named = name && name->kind == AttributeKind::text;
  if (named && is_rooted(comm_op_from(run.text(name->text)))) return true;
  return number_of(keys::rank_start) > 0 || number_of(keys::rank_stride) > 1;
}

}  // namespace

void describe_process(TraceFile& file, RankId rank, RunBuilder& run) {
  const std::int64_t pid = main_pid(file, run);
  name_rows(file, pid, run);
  add_devices(file, run);
  const auto& own = file.metadata.own;
  Process process{.rank = rank};
  process.pid = own && own->pid ? *own->pid : pid;
  const std::string host = own ? own->host : file.metadata.host;
  if (!host.empty()) process.host = run.intern(host);
  std::string program = own ? own->program : "";
  if (const auto name = file.process_names.find(pid); !own && name != file.process_names.end()) program = name->second;
  if (!program.empty()) process.program = run.intern(program);
  if (file.extent) process.recorded = *file.extent;
  add_facts(file, process, run);
  run.process(file.process) = std::move(process);
}

RankEvidence rank_evidence(const TraceFile& file, const RunBuilder& run) {
  RankEvidence evidence;
  evidence.path = file.path;
  evidence.metadata = file.metadata.rank;
  evidence.trace_name = file.metadata.trace_name;
  evidence.host = file.metadata.host;
  evidence.devices = devices_of(file);
  evidence.world_size = file.metadata.world_size;
  const StringId key = run.find(keys::rank);
  const StringId destination = run.find(keys::destination_rank);
  for (const std::uint32_t range : file.comm_ranges) {
    const AttributeRange attributes = run.attributes_of(range);
    const auto rank = key.is_set() ? attributes.find(key) : std::nullopt;
    if (!rank || rank->kind != AttributeKind::number || rank->number < 0) continue;
    if (destination.is_set() && attributes.find(destination)) continue;  // of send and receive it is the partner
    if (names_other_rank(run, attributes)) continue;
    evidence.communicator = rank->number;
    break;
  }
  return evidence;
}

}  // namespace rankscope::analyzer::kineto
