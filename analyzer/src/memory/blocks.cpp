#include "memory/blocks.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

/// Only damaged numbers get that far; four of them still fit.
constexpr std::int64_t largest_sum = std::int64_t{1} << 61;
void add_capped(std::int64_t& sum, std::int64_t value) { sum = std::min(sum + value, largest_sum); }

struct Block {
  std::int64_t bytes = 0;
  PlaceNames place;
};

/// The blocks that live at one time.
class LiveBlocks {
 public:
  void take(const MemoryEvent& event) {
    if (!event.address || event.change == 0) return;
    if (event.change > 0) {
      const auto [block, added] = blocks_.insert_or_assign(*event.address, Block{event.change, event.place});
      if (!added) ++reused;
    } else if (blocks_.erase(*event.address) == 0) {
      ++released_unknown;
      add_capped(released_unknown_bytes, -event.change);
    }
  }

  /// By place; what has none is left out.
  [[nodiscard]] std::map<PlaceNames, MemoryHolder> by_place() const {
    std::map<PlaceNames, MemoryHolder> holders;
    for (const auto& [address, block] : blocks_) {
      if (!block.place.is_known()) continue;
      MemoryHolder& holder = holders[block.place];
      ++holder.blocks;
      add_capped(holder.bytes, block.bytes);
    }
    return holders;
  }
  [[nodiscard]] std::int64_t bytes() const {
    std::int64_t sum = 0;
    for (const auto& [address, block] : blocks_) add_capped(sum, block.bytes);
    return sum;
  }

  std::int64_t reused = 0;
  std::int64_t released_unknown = 0;
  std::int64_t released_unknown_bytes = 0;

 private:
  std::unordered_map<std::int64_t, Block> blocks_;
};

std::string why_no_replay(const MemorySeries& series) {
  if (!series.blocks) return "individual allocations were not recorded, only samples of the totals";
  if (!series.has_allocated)
    return "only memory taken from the device was recorded, not what the framework allocates from that memory";
  if (series.changes_only) return "the totals of the allocator were not recorded";
  const bool addresses =
      std::ranges::any_of(series.events, [](const auto& event) { return event.address.has_value(); });
  return addresses ? "" : "no addresses were recorded";
}

Section<MemoryHolders> holders_of(const Run& run, const LiveBlocks& live, const MemoryEvent& first,
                                  std::int64_t allocated) {
  MemoryHolders holders;
  const std::int64_t before = first.allocated - first.change - live.released_unknown_bytes;
  const std::int64_t outside = allocated - live.bytes();
  if (outside < 0)
    return unavailable(
        format("releases are missing: the blocks without a recorded release add up to {}, but the allocator reports {}",
               bytes_text(live.bytes()), bytes_text(allocated)));
  holders.before_recording_bytes = std::clamp<std::int64_t>(before, 0, outside);
  holders.unknown_bytes = allocated - holders.before_recording_bytes;
  for (auto& [names, holder] : live.by_place()) {
    holders.unknown_bytes -= holder.bytes;
    holders.rows.push_back(holder);
    holders.rows.back().place = place_text(run, names);
  }
  std::ranges::sort(holders.rows, [](const MemoryHolder& a, const MemoryHolder& b) {
    return std::tie(b.bytes, a.place.op, a.place.outer, a.place.range) <
           std::tie(a.bytes, b.place.op, b.place.outer, b.place.range);
  });
  return holders;
}

}  // namespace

Replay replay_blocks(const Run& run, const MemorySeries& series, std::size_t peak) {
  Replay replay;
  if (std::string why = why_no_replay(series); !why.empty()) {
    replay.holders = unavailable(std::move(why));
    return replay;
  }
  LiveBlocks live;
  const auto first =
      std::ranges::find_if(series.events, [](const auto& event) { return event.allocated != MemoryEvent::unknown; });
  for (std::size_t i = 0; i < series.events.size(); ++i) {
    live.take(series.events[i]);
    if (i == peak) replay.holders = holders_of(run, live, *first, series.events[i].allocated);
  }
  replay.released_unknown = live.released_unknown;
  replay.reused = live.reused;
  return replay;
}

void PlaceSums::add(const MemorySeries& series, const WindowTime& windows) {
  if (!series.blocks || !series.has_allocated) return;
  for (const MemoryEvent& event : series.events) {
    if (event.change == 0 || !windows.counts(event.time)) continue;
    AllocationRow& row = rows_[{series.kind, event.place}];
    if (event.change > 0) {
      ++row.allocations;
      add_capped(row.allocated_bytes, event.change);
      row.largest_bytes = std::max(row.largest_bytes, event.change);
    } else {
      ++row.releases;
      add_capped(row.freed_bytes, -event.change);
    }
  }
}

std::vector<AllocationRow> PlaceSums::finish() && {
  std::vector<AllocationRow> rows;
  for (auto& [key, row] : rows_) {
    row.kind = key.first;
    row.place = place_text(run_, key.second);
    rows.push_back(std::move(row));
  }
  std::ranges::sort(rows, [](const AllocationRow& a, const AllocationRow& b) {
    return std::tie(a.kind, b.allocated_bytes, b.freed_bytes, a.place.op, a.place.outer, a.place.range) <
           std::tie(b.kind, a.allocated_bytes, a.freed_bytes, b.place.op, b.place.outer, b.place.range);
  });
  return rows;
}

AllocationPlace place_text(const Run& run, const PlaceNames& names) {
  return {std::string{run.text(names.op)}, std::string{run.text(names.outer)}, std::string{run.text(names.range)}};
}

AllocationRow& AllocationRow::operator+=(const AllocationRow& other) {
  allocations += other.allocations;
  add_capped(allocated_bytes, other.allocated_bytes);
  releases += other.releases;
  add_capped(freed_bytes, other.freed_bytes);
  largest_bytes = std::max(largest_bytes, other.largest_bytes);
  return *this;
}

}  // namespace rankscope::analyzer
