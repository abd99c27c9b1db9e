#include "rankscope/analyzer/memory/lines.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "memory/curve.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/numbers.h"
#include "words/keys.h"

namespace rankscope::analyzer {
namespace {

constexpr std::string_view used_bytes = " memory_used_bytes";  // behind "GPU 3"

std::vector<MemoryValue> values_of(const MemorySeries& series, std::int64_t MemoryEvent::*total) {
  std::vector<MemoryValue> values;
  const MemoryCurve curve = curve_of(series, total, std::nullopt);
  for (const MemoryCurve::Value& value : curve.values()) {
    const PlaceNames& place = series.events[value.event].place;
    values.push_back({value.time, std::max<std::int64_t>(0, value.bytes), place.op.is_set() ? place.op : place.range});
  }
  return values;
}

/// Sizes of the memory pools of one device of one rank, as they were created, trimmed and destroyed.
class Pools {
 public:
  explicit Pools(const Run& run)
      : run_(run),
        device_(run.strings().find(keys::device_id)),
        address_(run.strings().find(keys::address)),
        bytes_(run.strings().find("pool bytes")),
        operation_(run.strings().find("operation")) {}

  void add_to(std::vector<MemoryLine>& lines) {
    const StringId pool = run_.strings().find("[memory pool]");
    if (!pool.is_set()) return;
    std::map<std::pair<RankId, std::int32_t>, Line> found;
    for (const Mark& mark : run_.marks()) {
      const RankId rank = run_.lane(mark.lane).rank;
      if (mark.name != pool || !rank.is_set()) continue;
      const AttributeRange said = run_.attributes_of(mark);
      const std::int64_t device = number(said, device_).value_or(0);
      const auto bytes = is_destroyed(said) ? 0 : number(said, bytes_);
      const auto address = number(said, address_);  // without it, nothing tells one pool from another
      if (!bytes || !address || *bytes < 0 || *bytes > largest_memory || device < 0 || device > most_devices) continue;
      Line& line = found[{rank, static_cast<std::int32_t>(device)}];
      std::int64_t& size = line.size_of[*address];
      if (line.sum - size + *bytes > largest_memory) continue;
      line.sum += *bytes - size;
      size = *bytes;
      line.values.push_back({mark.time, line.sum, {}});
    }
    for (auto& [key, line] : found)
      lines.push_back({key.first, MemoryQuantity::pools, key.second, false, false, std::move(line.values)});
  }

 private:
  static constexpr std::int64_t most_devices = 1 << 20;  // more is a damaged number
  struct Line {
    std::map<std::int64_t, std::int64_t> size_of;  // by address
    std::int64_t sum = 0;
    std::vector<MemoryValue> values;
  };
  static std::optional<std::int64_t> number(const AttributeRange& said, StringId key) {
    const auto value = key.is_set() ? said.find(key) : std::nullopt;
    return value && value->kind == AttributeKind::number ? std::optional{value->number} : std::nullopt;
  }
  [[nodiscard]] bool is_destroyed(const AttributeRange& said) const {
    const auto value = operation_.is_set() ? said.find(operation_) : std::nullopt;
    return value && value->kind == AttributeKind::text && run_.text(value->text) == "destroyed";
  }

  const Run& run_;
  StringId device_, address_, bytes_, operation_;
};

/// The number in "GPU 3 memory_used_bytes".
std::optional<std::int32_t> device_of_used(std::string_view counter) {
  if (!counter.starts_with("GPU ") || !counter.ends_with(used_bytes)) return std::nullopt;
  return number_from<std::int32_t>(counter.substr(4, counter.size() - 4 - used_bytes.size()));
}

void add_used(const Run& run, std::vector<MemoryLine>& lines) {
  for (const CounterTrack& track : run.counters()) {
    const auto device = device_of_used(run.text(track.name));
    if (!device || !track.rank.is_set() || run.process_row_of(track.rank) != track.process) continue;
    MemoryLine line{track.rank, MemoryQuantity::used, *device, true, false, {}};
    for (const CounterSample& sample : run.samples_of(track))
      if (is_memory(sample.value)) line.values.push_back({sample.time, std::llround(sample.value), {}});
    lines.push_back(std::move(line));
  }
}

}  // namespace

std::string_view words_of(MemoryQuantity quantity) {
  switch (quantity) {
    case MemoryQuantity::allocated:
      return "allocated on the device";
    case MemoryQuantity::reserved:
      return "reserved on the device";
    case MemoryQuantity::pools:
      return "memory pools of the device";
    case MemoryQuantity::used:
      return "used on the device by all processes";
    case MemoryQuantity::host_allocated:
      return "allocated on the host";
    case MemoryQuantity::resident:
      return "resident on the host";
  }
  return "";
}

std::vector<MemoryLine> memory_lines(const Run& run) {
  std::vector<MemoryLine> lines;
  const auto add = [&](const MemorySeries& series, MemoryQuantity quantity, std::int64_t MemoryEvent::*total) {
    lines.push_back(
        {series.rank, quantity, series.device, !series.blocks, series.changes_only, values_of(series, total)});
  };
  for (const MemorySeries& series : memory_series(run)) {
    const bool on_host = series.kind == MemoryKind::host;
    add(series, on_host ? MemoryQuantity::host_allocated : MemoryQuantity::allocated, &MemoryEvent::allocated);
    if (!on_host) add(series, MemoryQuantity::reserved, &MemoryEvent::reserved);
  }
  for (const RankId rank : run.ranks())
    add(resident_series(run, rank), MemoryQuantity::resident, &MemoryEvent::allocated);
  add_used(run, lines);
  Pools{run}.add_to(lines);
  std::erase_if(lines, [](const MemoryLine& line) { return line.values.empty(); });
  std::ranges::stable_sort(lines, {}, [](const MemoryLine& line) {
    return std::tuple{line.quantity, line.device, line.rank};
  });
  return lines;
}

}  // namespace rankscope::analyzer
