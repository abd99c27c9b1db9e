#include "memory/parts.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "operators/parts.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/means.h"
#include "render/words.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t widest_allocation = 34;
constexpr double noticeable = 1.02;  // between peers

std::string bytes_or_none(const std::optional<std::int64_t>& bytes) {
  return bytes ? bytes_text(*bytes) : std::string{empty_cell};
}

std::int64_t size_of(const DeviceMemory& memory) {
  return std::max(memory.allocated.bytes.value_or(0), memory.reserved.bytes.value_or(0));
}

/// Only growth that chance cannot explain.
Cell growth_cell(const MemoryGrowth& growth) {
  if (!growth.bytes_per_step) return {std::string{empty_cell}};
  constexpr double page = 4096;  // memory of a process grows by no less; of the samples' own noise this may be a trend
  if (!growth.proven || *growth.bytes_per_step < page) return {"no"};
  return {"+" + bytes_text(std::llround(*growth.bytes_per_step)), growth.lasts ? Tone::warning : Tone::plain};
}

std::string left_text(const DeviceMemory& memory) {
  if (!memory.left_bytes) return std::string{empty_cell};
  return format("{} ({})", bytes_text(*memory.left_bytes), share_text(*memory.left_bytes, *memory.total_bytes));
}

std::vector<Cell> peak_cells(const MemoryPeak& peak) {
  return {{bytes_or_none(peak.bytes)},
          {peak.step ? format("{}", *peak.step) : std::string{empty_cell}},
          {place_words(peak.place)}};
}

NotedTable peak_table(const MemorySection& section, std::size_t most) {
  NotedTable noted;
  noted.title = "Memory";
  noted.what = "highest values; growth: per step (\"no\" if it may be due to chance)";
  noted.table.columns = {{"rank"},
                         {"memory", Align::left},
                         {"allocated"},
                         {"step"},
                         {"allocation for", Align::left, 16},
                         {"reserved"},
                         {"unused"},
                         {"left"},
                         {"growth"}};
  for (const DeviceMemory* const memory : largest_memories(section, most)) {
    std::vector<Cell> cells{{format("{}", memory->rank.value)}, {memory_name(*memory)}};
    std::ranges::move(peak_cells(memory->allocated), std::back_inserter(cells));
    cells.push_back({bytes_or_none(memory->reserved.bytes)});
    cells.push_back({memory->unused.value ? percent_text(*memory->unused.value) : std::string{empty_cell}});
    cells.push_back({left_text(*memory)});
    cells.push_back(growth_cell(memory->growth));
    noted.table.rows.push_back(std::move(cells));
  }
  return noted;
}

std::vector<const HostMemory*> largest_hosts(const MemorySection& section, std::size_t most) {
  std::vector<const HostMemory*> rows;
  for (const HostMemory& host : section.hosts) rows.push_back(&host);
  std::ranges::stable_sort(rows, std::greater{},
                           [](const HostMemory* host) { return host->resident.bytes.value_or(0); });
  rows.resize(std::min(most, rows.size()));
  std::ranges::sort(rows);  // as they lie in the section
  return rows;
}

/// Whatever the process holds of the host, allocator or not.
void add_hosts(const MemorySection& section, std::size_t most, Table& table) {
  for (const HostMemory* const host : largest_hosts(section, most)) {
    std::vector<Cell> cells{{format("{}", host->rank.value)}, {"host, whole process"}};
    std::ranges::move(peak_cells(host->resident), std::back_inserter(cells));
    cells.insert(cells.end(), 3, Cell{std::string{empty_cell}});
    cells.push_back(growth_cell(host->growth));
    table.rows.push_back(std::move(cells));
  }
}

void add_peak_notes(const MemorySection& section, std::size_t most, std::vector<std::string>& notes) {
  const auto any = [&](auto is) { return std::ranges::any_of(section.devices, is); };
  if (any([](const auto& memory) { return memory.reserved.bytes.has_value(); }))
    notes.emplace_back(
        "Reserved: memory held by the framework; memory of the CUDA context, libraries and other processes is not "
        "included. Unused: the share of the reserved memory that was not allocated when the most memory was reserved "
        "(the smallest such share, if that happened several times). Left: the part of the device's memory that was "
        "never reserved.");
  if (any([](const auto& memory) { return memory.changes_only; }))
    notes.emplace_back(
        "Only changes of the allocated memory were recorded, not totals: the column \"allocated\" shows the growth "
        "since the recording began.");
  if (!section.hosts.empty())
    notes.emplace_back("Whole process: sampled resident memory on the host, not memory of an accelerator.");
  const auto sum = [&](std::int64_t DeviceMemory::*field) {
    return std::transform_reduce(section.devices.begin(), section.devices.end(), std::int64_t{0}, std::plus{},
                                 [field](const DeviceMemory& memory) { return memory.*field; });
  };
  if (const std::int64_t ignored = sum(&DeviceMemory::ignored); ignored > 0)
    notes.push_back(format("Left out: {} with impossible numbers.", counted(ignored, "event")));
  if (section.hosts.size() > most)
    notes.push_back(format("Shown: the {} of {} processes that used the most host memory; the JSON report lists all.",
                           most, section.hosts.size()));
  if (section.devices.size() > most)
    notes.push_back(format("Shown: the {} rows with the highest peaks, out of {}; the JSON report lists all.", most,
                           section.devices.size()));
  for (const MemoryPeers& peers : section.peers) {
    if (!peers.imbalance.value || *peers.imbalance.value < noticeable) continue;
    notes.push_back(format("Rank {} needs the most memory: {:.2f} times the median of {} ({}{}{}).", peers.most.value,
                           *peers.imbalance.value, counted(peers.ranks, "rank"), printable(peers.name),
                           peers.caveat.empty() ? "" : "; ", printable(peers.caveat)));
  }
}

/// Calls that take memory from the device or give it back, after the first step or, without steps, the first device
/// work.
void add_allocator_calls(const Report& report, std::vector<std::string>& notes) {
  if (!report.copies) return;
  std::int64_t count = 0;
  std::int64_t ns = 0;
  for (const HostCallRow& row : report.copies->allocations) {
    count += row.count;
    ns += row.ns;
  }
  if (count > 0)
    notes.push_back(
        format("After the first {}, {} took {} of host time to allocate or free device or pinned memory (see HOST HELD "
               "UP).",
               report.copies->rank_steps > 0 ? "step" : "device work", counted(count, "call"), duration_text(ns)));
}

std::vector<NotedTable> holder_tables(const MemorySection& section, std::size_t most) {
  const DeviceMemory* largest = nullptr;
  for (const DeviceMemory& memory : section.devices) {
    const bool better = largest == nullptr || memory.kind < largest->kind ||
                        (memory.kind == largest->kind && size_of(memory) > size_of(*largest));
    if (memory.holders && better) largest = &memory;
  }
  if (largest == nullptr || *largest->allocated.bytes == 0) return {};
  const std::int64_t peak = *largest->allocated.bytes;
  NotedTable noted;
  noted.title = "Allocated at the peak";
  noted.what =
      format("rank {}, {}: where the {} was allocated", largest->rank.value, memory_name(*largest), bytes_text(peak));
  noted.table.columns = {{"allocated in", Align::left, 2 * widest_allocation}, {"blocks"}, {"bytes"}, {"of peak"}};
  const auto add = [&](std::string name, std::string blocks, std::int64_t bytes) {
    if (bytes > 0)
      noted.table.rows.push_back(
          {{std::move(name)}, {std::move(blocks)}, {bytes_text(bytes)}, {share_text(bytes, peak)}});
  };
  const MemoryHolders& holders = *largest->holders;
  add("(before the recording)", std::string{empty_cell}, holders.before_recording_bytes);
  const std::size_t shown = std::min(most, holders.rows.size());
  std::int64_t blocks = 0;
  std::int64_t rest = 0;
  for (std::size_t i = 0; i < holders.rows.size(); ++i) {
    const MemoryHolder& holder = holders.rows[i];
    if (i < shown) {
      add(place_words(holder.place), format("{}", holder.blocks), holder.bytes);
    } else {
      blocks += holder.blocks;
      rest += holder.bytes;
    }
  }
  add(format("rest ({})", counted(holders.rows.size() - shown, "place")), format("{}", blocks), rest);
  add("(unknown)", std::string{empty_cell}, holders.unknown_bytes);
  if (largest->released_unknown + largest->reused > 0)
    noted.notes.push_back(
        format("Not matched: {} of blocks allocated before the recording, and {} whose release was not recorded.",
               counted(largest->released_unknown, "release"), counted(largest->reused, "block")));
  return {std::move(noted)};
}

/// Of the accelerators, where any allocates; else of the hosts.
std::vector<NotedTable> allocation_tables(const MemorySection& section, std::size_t most) {
  if (section.places.empty()) return {};
  const MemoryKind kind = section.places.front().kind;
  const Means means{section.ranks, section.rank_steps};
  NotedTable noted;
  noted.title = "Allocations";
  noted.what = format("{} memory, {}", kind == MemoryKind::device ? "device" : "host", means.words());
  noted.table.columns = {
      {"allocated in", Align::left, widest_allocation + 10}, {"calls"}, {"allocated"}, {"released there"}, {"largest"}};
  const auto add = [&](std::string name, const AllocationRow& row) {
    noted.table.rows.push_back({{std::move(name)},
                                {means.count(row.allocations)},
                                {bytes_text(row.allocated_bytes / means.parts())},
                                {bytes_text(row.freed_bytes / means.parts())},
                                {bytes_text(row.largest_bytes)}});
  };
  AllocationRow rest;
  std::size_t count = 0;
  for (const AllocationRow& row : section.places) {
    if (row.kind != kind) continue;
    const std::string name = place_words(row.place);
    if (count++ < most)
      add(name.empty() ? "(unknown)" : name, row);
    else
      rest += row;
  }
  if (count > most) add(format("rest ({})", counted(count - most, "place")), rest);
  noted.notes.emplace_back(
      "Most memory is not released where it was allocated, but at the end of a backward pass or where the last "
      "reference is dropped.");
  return {std::move(noted)};
}

}  // namespace

std::string memory_name(const DeviceMemory& memory) {
  return memory.kind == MemoryKind::host ? "host, allocator" : format("device {}", memory.device);
}

std::string place_words(const AllocationPlace& place) {
  if (place.op.empty()) return printable(place.range);
  return place.outer.empty() ? operator_words(place.op)
                             : format("{} in {}", operator_words(place.op), operator_words(place.outer));
}

std::vector<const DeviceMemory*> largest_memories(const MemorySection& section, std::size_t most) {
  std::vector<const DeviceMemory*> rows;
  for (const DeviceMemory& memory : section.devices) rows.push_back(&memory);
  std::ranges::stable_sort(rows, [](const auto* a, const auto* b) { return size_of(*a) > size_of(*b); });
  rows.resize(std::min(most, rows.size()));
  std::ranges::sort(rows);  // as they lie in the section
  return rows;
}

bool has_device_memory(const Report& report) { return report.memory && !report.memory->devices.empty(); }

std::vector<NotedTable> memory_tables(const Report& report, std::size_t most) {
  if (!report.memory) return {};
  const MemorySection& section = *report.memory;
  if (section.devices.empty() && section.hosts.empty()) return {};
  std::vector<NotedTable> tables{peak_table(section, most)};
  add_hosts(section, most, tables.front().table);
  add_peak_notes(section, most, tables.front().notes);
  add_allocator_calls(report, tables.front().notes);
  std::ranges::move(holder_tables(section, most), std::back_inserter(tables));
  std::ranges::move(allocation_tables(section, most), std::back_inserter(tables));
  return tables;
}

}  // namespace rankscope::analyzer
