#include "memory/parts.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include <nlohmann/json.hpp>
#include "render/json_number.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

// The rest is summed.
constexpr std::size_t fewest_holders = 200;

void add_place(Json& out, const AllocationPlace& place) {
  if (!place.op.empty()) out["op"] = place.op;
  if (!place.outer.empty()) out["in"] = place.outer;
  if (!place.range.empty()) out["range"] = place.range;
}

Json peak_json(const MemoryPeak& peak) {
  Json out;
  put(out, "bytes", peak.bytes, peak.why);
  if (!peak.bytes) return out;
  put(out, "time_ns", peak.time_ns, "between two samples");
  put(out, "step", peak.step, peak.time_ns ? "outside of the steps" : "between two samples");
  add_place(out, peak.place);
  return out;
}

Json points_json(const std::vector<MemoryPoint>& points) {
  Json times = Json::array();
  Json bytes = Json::array();
  for (const MemoryPoint& point : points) {
    times.push_back(point.time_ns);
    bytes.push_back(point.bytes);
  }
  return {{"time_ns", std::move(times)}, {"bytes", std::move(bytes)}};
}

Json growth_json(const MemoryGrowth& growth) {
  Json out;
  const auto slope = growth.bytes_per_step;
  put(out, "bytes_per_step", rounded(slope, 3), growth.why);
  put(out, "p", rounded(slope ? std::optional{growth.p} : std::nullopt, 6), growth.why);
  out["proven"] = growth.proven;
  out["lasts"] = growth.lasts;
  out["steps"] = growth.steps;
  put(out, "steps_to_limit", growth.steps_to_limit, growth.why_no_limit);
  return out;
}

Json holders_json(const Section<MemoryHolders>& holders, std::size_t limit) {
  if (!holders) return {{"unavailable", holders.error().why}};
  Json out;
  const std::size_t shown = std::min(limit, holders->rows.size());
  Json& rows = out["rows"] = Json::array();
  for (const MemoryHolder& holder : std::span{holders->rows}.first(shown)) {
    Json& row = rows.emplace_back(Json::object());
    add_place(row, holder.place);
    row["blocks"] = holder.blocks;
    row["bytes"] = holder.bytes;
  }
  std::int64_t blocks = 0;
  std::int64_t bytes = 0;
  for (const MemoryHolder& holder : std::span{holders->rows}.subspan(shown)) {
    blocks += holder.blocks;
    bytes += holder.bytes;
  }
  out["rest"] = {{"keys", holders->rows.size() - shown}, {"blocks", blocks}, {"bytes", bytes}};
  out["before_recording_bytes"] = holders->before_recording_bytes;
  out["unknown_bytes"] = holders->unknown_bytes;
  return out;
}

Json device_json(const DeviceMemory& memory, std::size_t limit) {
  Json out;
  out["rank"] = memory.rank.value;
  out["kind"] = name_of(memory.kind);
  out["device"] = memory.kind == MemoryKind::device ? Json(memory.device) : Json(nullptr);
  if (memory.kind == MemoryKind::host) out["why"]["device"] = "memory of the host";
  if (!memory.name.empty()) out["name"] = memory.name;
  out["since_recording_began"] = memory.changes_only;
  out["peak_allocated"] = peak_json(memory.allocated);
  out["peak_reserved"] = peak_json(memory.reserved);
  put(out, "unused_share", memory.unused);
  put(out, "total_bytes", memory.total_bytes, memory.why_no_total);
  put(out, "left_bytes", memory.left_bytes, memory.why_none_left);
  out["held_at_peak"] = holders_json(memory.holders, limit);
  out["growth"] = growth_json(memory.growth);
  out["timeline"] = {{"allocated", points_json(memory.allocated_points)},
                     {"reserved", points_json(memory.reserved_points)}};
  out["events"] = memory.events;
  out["ignored"] = memory.ignored;
  out["released_unknown"] = memory.released_unknown;
  out["reused"] = memory.reused;
  return out;
}

Json host_json(const HostMemory& host) {
  Json out;
  out["rank"] = host.rank.value;
  out["peak_resident"] = peak_json(host.resident);
  out["growth"] = growth_json(host.growth);
  out["timeline"] = points_json(host.points);
  return out;
}

Json sums_json(const AllocationRow& row) {
  return {{"allocations", row.allocations}, {"allocated_bytes", row.allocated_bytes},
          {"releases", row.releases},       {"freed_bytes", row.freed_bytes},
          {"net_bytes", row.net_bytes()},   {"largest_bytes", row.largest_bytes}};
}

/// Rows and rest add up to `sum`, for each kind.
Json places_json(const MemorySection& section, MemoryKind kind, std::size_t limit) {
  Json rows = Json::array();
  AllocationRow sum;
  AllocationRow rest;
  std::size_t count = 0;
  for (const AllocationRow& row : section.places) {
    if (row.kind != kind) continue;
    sum += row;
    if (count++ >= limit) {
      rest += row;
      continue;
    }
    Json& one = rows.emplace_back(Json::object());
    add_place(one, row.place);
    one.update(sums_json(row));
  }
  Json rest_of_them{{"keys", count - rows.size()}};
  rest_of_them.update(sums_json(rest));
  return {{"rows", std::move(rows)}, {"rest", std::move(rest_of_them)}, {"sum", sums_json(sum)}};
}

Json peers_json(const MemoryPeers& peers) {
  Json out;
  out["peers"] = peers.name;
  if (!peers.caveat.empty()) out["caveat"] = peers.caveat;
  out["kind"] = name_of(peers.kind);
  out["ranks"] = peers.ranks;
  out["most_rank"] = peers.most.value;
  out["most_bytes"] = peers.most_bytes;
  out["median_bytes"] = peers.median_bytes;
  put(out, "imbalance", peers.imbalance);
  return out;
}

/// Summed over the places of `copies.allocations`.
Json allocator_calls_json(const Section<CopiesSection>& copies) {
  if (!copies) return {{"unavailable", copies.error().why}};
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> calls;
  for (const HostCallRow& row : copies->allocations) {
    calls[row.call].first += row.count;
    calls[row.call].second += row.ns;
  }
  Json out = Json::array();
  for (const auto& [call, sums] : calls)
    out.push_back({{"call", call}, {"count", sums.first}, {"host_ns", sums.second}});
  return out;
}

}  // namespace

Json memory_json(const MemorySection& section, const Section<CopiesSection>& copies, const ReportOptions& options) {
  const std::size_t limit = std::max(fewest_holders, options.top);
  Json out;
  out["devices"] = Json::array();
  for (const DeviceMemory& memory : section.devices) out["devices"].push_back(device_json(memory, limit));
  out["host_processes"] = Json::array();
  for (const HostMemory& host : section.hosts) out["host_processes"].push_back(host_json(host));
  out["ranks"] = section.ranks;
  out["rank_steps"] = section.rank_steps;
  out["allocations"]["device"] = places_json(section, MemoryKind::device, limit);
  out["allocations"]["host"] = places_json(section, MemoryKind::host, limit);
  out["peers"] = Json::array();
  for (const MemoryPeers& peers : section.peers) out["peers"].push_back(peers_json(peers));
  if (section.peers.empty()) out["why"]["peers"] = section.why_no_peers;
  out["allocator_calls"] = allocator_calls_json(copies);
  return out;
}

std::string_view name_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::device:
      return "device";
    case MemoryKind::host:
      return "host";
  }
  return "?";
}

}  // namespace rankscope::analyzer
