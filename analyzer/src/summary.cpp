#include "rankscope/analyzer/summary.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

std::string rank_of(RankId rank) { return rank.is_set() ? std::to_string(rank.value) : "-"; }

std::string times(RunTime first, RunTime last) { return format("{}..{}", ns_of(first), ns_of(last)); }

/// A sum that ends at the largest number instead of going round, and says so: what others recorded may hold anything.
class Sum {
 public:
  void add(std::int64_t value) {
    if (__builtin_add_overflow(sum_, value, &sum_)) beyond_ = true;
  }
  [[nodiscard]] std::string text() const {
    return beyond_ ? format("more than {}", std::numeric_limits<std::int64_t>::max()) : std::to_string(sum_);
  }

 private:
  std::int64_t sum_ = 0;
  bool beyond_ = false;
};

std::string run_lines(const Run& run) {
  const RunInfo& info = run.info();
  std::string text = format("run: source {}, world size {}, origin {}, clock {} +- {} ns, {} ns\n", info.source,
                            info.world_size, info.origin_unix_ns, info.clock.method, info.clock.error.count(),
                            times(run.extent().begin, run.extent().end));
  for (const auto& [key, value] : info.metadata) text += format("  {}: {}\n", key, value);
  for (const CounterInfo& counter : counter_table())
    if (const std::uint64_t value = run.quality().of(counter.counter); value > 0)
      text += format("quality: {} {}\n", counter.name, value);
  return text;
}

std::string kind_lines(const Run& run) {
  std::array<std::uint64_t, span_kind_count> counts{};
  std::array<Sum, span_kind_count> lengths{};
  for (const Span& span : run.spans()) {
    ++counts[static_cast<std::size_t>(span.kind)];
    lengths[static_cast<std::size_t>(span.kind)].add(span.time.length().count());
  }
  std::string text;
  for (std::size_t kind = 0; kind < span_kind_count; ++kind)
    if (counts[kind] > 0)
      text += format("spans: {} {}, {} ns together\n", counts[kind], name_of(static_cast<SpanKind>(kind)),
                     lengths[kind].text());
  std::map<std::string_view, std::uint64_t> marks;
  for (const Mark& mark : run.marks()) ++marks[run.text(mark.name)];
  for (const auto& [name, count] : marks) text += format("marks: {} {}\n", count, name);
  for (const LinkKind kind : {LinkKind::launch, LinkKind::forward_backward})
    if (const auto count = std::ranges::count(run.links(), kind, &Link::kind); count > 0)
      text += format("links: {} {}\n", count, name_of(kind));
  return text;
}

std::string lane_line(const Run& run, const Lane& lane, std::uint64_t marks) {
  std::string kinds;
  std::array<std::uint64_t, span_kind_count> counts{};
  RunTime last = RunTime::min();
  for (const Span& span : run.spans_of(lane)) {
    ++counts[static_cast<std::size_t>(span.kind)];
    last = std::max(last, span.time.end);
  }
  for (std::size_t kind = 0; kind < span_kind_count; ++kind)
    if (counts[kind] > 0) kinds += format(", {} {}", counts[kind], name_of(static_cast<SpanKind>(kind)));
  if (marks > 0) kinds += format(", {} marks", marks);
  const std::string when =
      lane.span_count == 0 ? "" : format(" {} ns", times(run.spans_of(lane).front().time.begin, last));
  return format("  lane {} ({} {}, device {}){}{}\n", run.text(lane.name), name_of(lane.kind), lane.number, lane.device,
                when, kinds);
}

std::string process_lines(const Run& run, std::uint32_t row, std::span<const std::uint64_t> marks) {
  const Process& process = run.processes()[row];
  std::string text =
      format("process: rank {}, pid {}, host {}, program {}, {} ns\n", rank_of(process.rank), process.pid,
             run.text(process.host), run.text(process.program), times(process.recorded.begin, process.recorded.end));
  for (const auto& [key, value] : process.metadata) text += format("  {}: {}\n", run.text(key), run.text(value));
  for (const Device& device : run.devices())
    if (device.process == row)
      text += format("  device {}: {}, {} properties\n", device.ordinal, run.text(device.name), device.metadata.size());
  for (const Lane& lane : run.lanes())
    if (lane.process == row) text += lane_line(run, lane, marks[run.id_of(lane).index()]);
  for (const CounterTrack& track : run.counters()) {
    if (track.process != row) continue;
    const auto samples = run.samples_of(track);
    const auto [least, most] = std::ranges::minmax(samples, {}, &CounterSample::value);
    text +=
        format("  counter {}: {} samples, {} to {}\n", run.text(track.name), samples.size(), least.value, most.value);
  }
  return text;
}

std::string collective_lines(const Run& run) {
  struct Sums {
    std::uint64_t count = 0;
    Sum bytes;
    Sum ns;
  };
  std::map<std::pair<std::string_view, std::string_view>, Sums> all;
  for (const Collective& row : run.collectives()) {
    Sums& sums = all[{row.group.is_set() ? run.text(run.groups()[row.group.index()].name) : "-", run.text(row.op)}];
    ++sums.count;
    sums.bytes.add(std::max<std::int64_t>(row.bytes, 0));
    if (row.state == CommState::finished) sums.ns.add((row.finished - row.started).count());
  }
  std::string text;
  for (const Group& group : run.groups())
    text += format("group: {} of {} ranks\n", run.text(group.name), group.members.size());
  for (const auto& [key, sums] : all)
    text += format("collectives: {} {} in group {}, {} bytes, {} ns\n", sums.count, key.second, key.first,
                   sums.bytes.text(), sums.ns.text());
  return text;
}

}  // namespace

std::string summarize(const Run& run) {
  std::string text = run_lines(run) + kind_lines(run);
  std::vector<std::uint64_t> marks(run.lanes().size(), 0);
  for (const Mark& mark : run.marks()) ++marks[mark.lane.index()];
  for (std::uint32_t row = 0; row < run.processes().size(); ++row) text += process_lines(run, row, marks);
  return text + collective_lines(run);
}

}  // namespace rankscope::analyzer
