// One recorded training run: immutable tables, built once by RunBuilder and shared.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rankscope/core/model/run_parts.h"

namespace rankscope {

/// Immutable. Sorted: processes by (rank, pid), lanes by (process, kind, number, name), spans by (lane, begin, -end),
/// marks by (time, lane), devices by (process, ordinal), links by (kind, to, from), collectives by (rank, group,
/// sequence, enqueued), counter samples by (track, time).
class Run {
 public:
  [[nodiscard]] const RunInfo& info() const { return info_; }
  [[nodiscard]] const Quality& quality() const { return quality_; }
  [[nodiscard]] const StringTable& strings() const { return strings_; }
  [[nodiscard]] std::string_view text(StringId id) const { return strings_.text(id); }

  [[nodiscard]] std::span<const Process> processes() const { return processes_; }
  [[nodiscard]] std::span<const Lane> lanes() const { return lanes_; }
  [[nodiscard]] std::span<const Span> spans() const { return spans_; }
  [[nodiscard]] std::span<const Mark> marks() const { return marks_; }
  [[nodiscard]] std::span<const Device> devices() const { return devices_; }
  [[nodiscard]] std::span<const Link> links() const { return links_; }
  [[nodiscard]] std::span<const Group> groups() const { return groups_; }
  [[nodiscard]] std::span<const Collective> collectives() const { return collectives_; }
  [[nodiscard]] std::span<const CounterTrack> counters() const { return counters_; }
  [[nodiscard]] std::span<const CounterSample> samples() const { return samples_; }

  /// Ranks with at least one process, ascending, each once.
  [[nodiscard]] std::span<const RankId> ranks() const { return ranks_; }
  /// Where a rank stands among them. It must be one of them.
  [[nodiscard]] std::size_t place_of(RankId rank) const;
  /// The process that stands for a rank: the one with most spans (ties: lowest pid). The rank must be in ranks().
  [[nodiscard]] const Process& process_of(RankId rank) const { return processes_[process_row_of(rank)]; }
  /// Its row in processes(), as lanes, devices and counters name it.
  [[nodiscard]] std::uint32_t process_row_of(RankId rank) const;
  [[nodiscard]] const Lane& lane(LaneId id) const { return lanes_[id.index()]; }
  [[nodiscard]] const Span& span(SpanId id) const { return spans_[id.index()]; }
  [[nodiscard]] std::span<const Span> spans_of(const Lane& lane) const;
  [[nodiscard]] AttributeRange attributes_of(SpanId span) const;
  [[nodiscard]] AttributeRange attributes_of(const Mark& mark) const;
  /// A number attribute of a span, or nothing.
  [[nodiscard]] std::optional<std::int64_t> number(SpanId span, std::string_view key) const;
  /// Links of one kind that lead to a span.
  [[nodiscard]] std::span<const Link> links_to(LinkKind kind, SpanId to) const;
  [[nodiscard]] std::span<const CounterSample> samples_of(const CounterTrack& track) const;
  [[nodiscard]] SpanId id_of(const Span& span) const {
    return SpanId{static_cast<std::uint32_t>(&span - spans_.data())};
  }
  [[nodiscard]] LaneId id_of(const Lane& lane) const {
    return LaneId{static_cast<std::uint32_t>(&lane - lanes_.data())};
  }
  /// True if the rank has a stream lane; a CPU rank has none (metrics.md 0).
  [[nodiscard]] bool has_accelerator(RankId rank) const;
  /// First to last moment of anything in the run.
  [[nodiscard]] TimeRange extent() const { return extent_; }
  /// Value of a run-wide metadata key, else of the key on the rank's process; empty if absent.
  [[nodiscard]] std::string_view metadata(std::string_view key) const;
  [[nodiscard]] std::string_view metadata(const Process& process, std::string_view key) const;

 private:
  friend class RunBuilder;
  Run() = default;

  RunInfo info_;
  Quality quality_;
  StringTable strings_;
  std::vector<Process> processes_;
  std::vector<RankId> ranks_;
  std::vector<std::uint32_t> rank_process_;  // parallel to ranks_
  std::vector<RankId> accelerated_;          // those with a stream lane, ascending
  std::vector<Lane> lanes_;
  std::vector<Span> spans_;
  std::vector<Mark> marks_;
  AttributeStore attributes_;
  std::vector<AttributeStore::Place> span_attributes_;  // parallel to spans_, or shorter: the rest has none
  std::vector<AttributeStore::Place> mark_attributes_;  // parallel to marks_, or shorter
  std::vector<Device> devices_;
  std::vector<Link> links_;
  std::vector<Group> groups_;
  std::vector<Collective> collectives_;
  std::vector<CounterTrack> counters_;
  std::vector<CounterSample> samples_;
  TimeRange extent_;
};

}  // namespace rankscope
