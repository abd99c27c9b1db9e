#include "exports/tensorboard/memory.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "exports/shared/json_repair.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "words/json_text.h"

namespace rankscope::analyzer {
namespace {

using Event = std::function<void(std::string_view)>;

constexpr std::string_view values =
    R"("Device Type":{},"Device Id":{},"Addr":{},"Bytes":{},"Total Allocated":{},"Total Reserved":{}}}}})";

std::string head(const MemoryPlace& place, std::int64_t tid, RunTime time) {
  const std::int64_t ns = ns_of(time) - place.zero_ns;
  return format(
      R"({{"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":{},"tid":{},"ts":{}.{:03},"args":{{)",
      place.pid, tid, ns / 1000, ns % 1000);
}

std::string value_text(const Run& run, const AttributeValue& value) {
  switch (value.kind) {
    case AttributeKind::number:
      return std::to_string(value.number);
    case AttributeKind::text:
      return json_string(run.text(value.text));
    case AttributeKind::json:
      return repaired_json(run.text(value.text)).value_or(std::string{run.text(value.text)});
  }
  return "null";
}

/// False if there is none.
bool write_marks(const Run& run, std::uint32_t process, const MemoryPlace& place, const Event& event) {
  const StringId memory = run.strings().find("[memory]");
  if (!memory.is_set()) return false;
  bool any = false;
  for (const Mark& mark : run.marks()) {
    if (mark.name != memory || run.lane(mark.lane).process != process) continue;
    const auto tid = place.tids->find(mark.lane);
    std::string json = head(place, tid == place.tids->end() ? place.tid : tid->second, mark.time);
    bool first = true;
    for (const Attribute& attribute : run.attributes_of(mark)) {
      json +=
          format("{}{}:{}", first ? "" : ",", json_string(run.text(attribute.key)), value_text(run, attribute.value));
      first = false;
    }
    event(json + "}}");
    any = true;
  }
  return any;
}

const CounterTrack* track_named(const Run& run, std::uint32_t process, std::string_view name) {
  for (const CounterTrack& track : run.counters())
    if (track.process == process && run.text(track.name) == name) return &track;
  return nullptr;
}

/// The last value at or before a time.
double value_at(std::span<const CounterSample> samples, RunTime time, double otherwise) {
  const auto behind = std::ranges::upper_bound(samples, time, {}, &CounterSample::time);
  return behind == samples.begin() ? otherwise : std::prev(behind)->value;
}

/// Only the sum is known, so no release is paired with its allocation.
void write_counter(const Run& run, std::uint32_t process, const MemoryPlace& place, const Event& event) {
  const CounterTrack* const allocated = track_named(run, process, "allocated_bytes");
  if (allocated == nullptr) return;
  const CounterTrack* const reserved = track_named(run, process, "reserved_bytes");
  const auto reserved_samples = reserved == nullptr ? std::span<const CounterSample>{} : run.samples_of(*reserved);
  const auto samples = run.samples_of(*allocated);
  std::int64_t before = 0;
  std::int64_t address = 0;
  for (const CounterSample& sample : samples) {
    if (!std::isfinite(sample.value)) continue;
    const auto total = static_cast<std::int64_t>(sample.value);
    const auto pool = std::max(total, static_cast<std::int64_t>(value_at(reserved_samples, sample.time, 0)));
    if (total != before || &sample == &samples.back()) {  // the last one, too, so that the curve reaches the end
      event(head(place, place.tid, sample.time) +
            format(values, place.on_device ? 1 : 0, place.on_device ? 0 : -1, ++address, total - before, total, pool));
    }
    before = total;
  }
}

}  // namespace

void write_tensorboard_memory(const Run& run, std::uint32_t process, const MemoryPlace& place, const Event& event) {
  if (!write_marks(run, process, place, event)) write_counter(run, process, place, event);
}

}  // namespace rankscope::analyzer
