// RunBuilder::absorb: how parts that several threads collected become one.
#include <algorithm>
#include <tuple>

#include "run_builder_pending.h"

namespace rankscope {
namespace {

constexpr std::uint32_t no_ticket = 0xFFFFFFFF;

using LaneKey = std::tuple<std::uint32_t, LaneKind, StringId, std::int64_t, std::int32_t>;
LaneKey key_of(const Lane& lane) { return {lane.process, lane.kind, lane.name, lane.number, lane.device}; }

}  // namespace

/// Renumbers the rows of one part, table by table; later tables refer to earlier ones.
class RunBuilder::Absorption {
 public:
  Absorption(RunBuilder& to, RunBuilder& from)
      : to_(to), from_(*from.run_), pending_(*from.pending_), first_span_(size(to.run_->spans_)) {
    from.pending_->settle(from_);
  }

  void strings() {
    strings_.reserve(from_.strings_.size());
    const bool as_here = pending_.texts == to_.pending_->texts;  // then no string has to be searched again
    for (std::uint32_t id = 0; id < from_.strings_.size(); ++id) {
      const std::string_view text = from_.text(StringId{id});
      strings_.push_back(as_here ? to_.run_->strings_.intern(text) : to_.intern(text));
    }
    to_.pending_->take_hidden(pending_, strings_);
  }

  void new_processes() {
    for (Process& process : from_.processes_) {
      process.host = of(process.host);
      process.program = of(process.program);
      rename(process.metadata);
      processes_.push_back(to_.add_process(std::move(process)));
    }
  }
  void known_processes(std::uint32_t first) {
    RS_CHECK(first + from_.processes_.size() <= to_.run_->processes_.size());
    for (std::uint32_t row = 0; row < from_.processes_.size(); ++row) processes_.push_back(first + row);
  }

  void lanes() {
    std::vector<Lane>& lanes = to_.run_->lanes_;
    std::map<LaneKey, LaneId> known;
    for (std::uint32_t row = 0; row < lanes.size(); ++row) known.try_emplace(key_of(lanes[row]), LaneId{row});
    for (Lane lane : from_.lanes_) {
      lane.process = processes_[lane.process];
      lane.name = of(lane.name);
      const auto [found, added] = known.try_emplace(key_of(lane), LaneId{size(lanes)});
      if (added) lanes.push_back(lane);
      lanes_.push_back(found->second);
    }
  }

  void spans() {
    // At least twice as large each time, so that many parts cost no more than one.
    const std::size_t needed = to_.run_->spans_.size() + from_.spans_.size();
    if (needed > to_.run_->spans_.capacity())
      to_.run_->spans_.reserve(std::max(needed, 2 * to_.run_->spans_.capacity()));
    for (std::uint32_t row = 0; row < from_.spans_.size(); ++row) {
      Span span = from_.spans_[row];
      span.lane = of(span.lane);
      span.name = of(span.name);
      to_.run_->spans_.push_back(span);
      if (row >= from_.span_attributes_.size()) continue;
      to_.add_attributes(first_span_ + row, attributes_at(from_.span_attributes_[row]));
    }
    from_.spans_ = {};
    for (const Link& link : from_.links_)
      to_.add_link(link.kind, link.from.value + first_span_, link.to.value + first_span_);
  }

  void marks() {
    for (std::uint32_t row = 0; row < from_.marks_.size(); ++row) {
      const Mark& mark = from_.marks_[row];
      const std::uint32_t ticket = to_.add_mark(of(mark.lane), of(mark.name), mark.time);
      if (row >= from_.mark_attributes_.size()) continue;
      to_.add_mark_attributes(ticket, attributes_at(from_.mark_attributes_[row]));
    }
  }

  std::span<const Attribute> attributes_at(AttributeStore::Place place) {
    scratch_.clear();
    for (const Attribute& attribute : from_.attributes_.at(place))
      scratch_.push_back({of(attribute.key), of(attribute.value)});
    return scratch_;
  }

  void devices() {
    for (Device& device : from_.devices_) {
      device.process = processes_[device.process];
      device.name = of(device.name);
      device.uuid = of(device.uuid);
      rename(device.metadata);
      to_.add_device(std::move(device));
    }
  }

  void collectives() {
    std::vector<GroupId> groups;
    for (const Group& group : from_.groups_) groups.push_back(to_.add_group(from_.text(group.name), group.members));
    for (std::size_t row = 0; row < from_.collectives_.size(); ++row) {
      Collective collective = from_.collectives_[row];
      if (collective.group.is_set()) collective.group = groups[collective.group.index()];
      collective.op = of(collective.op);
      collective.dtype = of(collective.dtype);
      collective.lane = of(collective.lane);
      collective.enqueued_on = of(collective.enqueued_on);
      to_.run_->collectives_.push_back(collective);
      const std::uint32_t ticket = pending_.collective_span[row];
      to_.pending_->collective_span.push_back(ticket == no_ticket ? ticket : ticket + first_span_);
    }
  }

  void counters() {
    for (const PendingSample& sample : pending_.samples)
      to_.pending_->samples.push_back({processes_[sample.process], of(sample.counter), sample.sample});
    for (const CounterInfo& info : counter_table())
      to_.run_->quality_.add(info.counter, from_.quality_.of(info.counter));
  }

  /// Everything that refers to processes and strings; what became of the part's ids.
  Absorbed rows() {
    lanes();
    spans();
    marks();
    devices();
    collectives();
    counters();
    return {first_span_, std::move(lanes_), std::move(strings_)};
  }

 private:
  template <class T>
  static std::uint32_t size(const std::vector<T>& rows) {
    return static_cast<std::uint32_t>(rows.size());
  }
  [[nodiscard]] StringId of(StringId id) const { return id.is_set() ? strings_[id.index()] : id; }
  [[nodiscard]] LaneId of(LaneId id) const { return id.is_set() ? lanes_[id.index()] : id; }
  [[nodiscard]] AttributeValue of(AttributeValue value) const {
    value.text = of(value.text);
    return value;
  }
  void rename(std::vector<std::pair<StringId, StringId>>& metadata) const {
    for (auto& [key, value] : metadata) {
      key = of(key);
      value = of(value);
    }
  }

  RunBuilder& to_;
  Run& from_;
  const Pending& pending_;
  std::uint32_t first_span_;
  std::vector<StringId> strings_;
  std::vector<std::uint32_t> processes_;
  std::vector<LaneId> lanes_;
  std::vector<Attribute> scratch_;
};

Absorbed RunBuilder::absorb(RunBuilder&& part, PartProcesses processes) {
  if (processes == PartProcesses::same_rows) return absorb_into(std::move(part), 0);
  Absorption step{*this, part};
  step.strings();
  step.new_processes();
  return step.rows();
}

Absorbed RunBuilder::absorb_into(RunBuilder&& part, std::uint32_t first_process) {
  Absorption step{*this, part};
  step.strings();
  step.known_processes(first_process);
  return step.rows();
}

}  // namespace rankscope
