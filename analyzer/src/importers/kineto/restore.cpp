#include "importers/kineto/trace_file.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <type_traits>
#include <utility>

#include "importers/kineto/decimal.h"
#include "importers/shared/importer.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "words/keys.h"

namespace rankscope::analyzer::kineto {
namespace {

constexpr std::uint32_t no_span = 0xFFFFFFFF;

class Rows {
 public:
  Rows(const TraceFile& file, RankId rank, RunBuilder& run)
      : file_(file), own_(*file.metadata.own->rows), rank_(rank), run_(run) {}

  void restore() {
    for (const OwnLane& lane : own_.lanes) lanes_.push_back(lane_of(lane));
    for (const GroupConfig& group : file_.metadata.groups) groups_.push_back(group_of(group));
    collect_spans();
    std::vector<std::size_t> unusable;
    for (std::size_t row = 0; row < own_.collectives.size(); ++row)
      if (!own_.collectives[row] || !add(*own_.collectives[row])) unusable.push_back(row);
    if (unusable.empty()) return;
    add_loss({Counter::events_incomplete, unusable.size(),
              format("{}: collectives of the rankscope block, first row {}", file_.path.filename().string(),
                     unusable.front())},
             run_);
  }

 private:
  /// The lane of a row of the timeline; one without events is not in the file, but collectives may refer to it.
  LaneId lane_of(const OwnLane& lane) {
    const bool on_device = lane.kind == LaneKind::stream || lane.kind == LaneKind::annotation;
    const LaneClass what = lane.kind == LaneKind::stream       ? LaneClass::stream
                           : lane.kind == LaneKind::annotation ? LaneClass::annotation
                                                               : LaneClass::thread;
    if (const auto found = file_.lanes.find({what, lane.pid, lane.tid}); found != file_.lanes.end()) {
      const std::string now{run_.text(run_.lanes()[found->second.index()].name)};
      run_.rename_lane(found->second, lane.name.empty() ? now : lane.name, lane.kind);
      return found->second;
    }
    const auto device = static_cast<std::int32_t>(std::clamp<std::int64_t>(on_device ? lane.pid : -1, -1, 1 << 20));
    return run_.add_lane(file_.process, lane.kind, lane.name, lane.tid, device);
  }

  GroupId group_of(const GroupConfig& group) {
    std::vector<RankId> members;
    for (const std::uint32_t rank : group.ranks) members.push_back(RankId{rank});
    return run_.add_group(group.name, members);
  }

  void collect_spans() {
    for (std::uint32_t row = file_.first_span; row < file_.end_span; ++row)
      if (const Span& span = run_.spans()[row]; span.kind == SpanKind::comm)
        spans_.emplace(std::pair{span.lane, span.time.begin}, row);
  }

  std::uint32_t take_span(LaneId lane, RunTime begin) {
    const auto found = spans_.find({lane, begin});
    return found == spans_.end() ? no_span : spans_.extract(found).mapped();
  }

  /// False for a row that refers to nothing, as no export writes it.
  bool add(const OwnCollective& from) {
    const auto at = [](const auto& list, std::int64_t place) {
      using Id = typename std::remove_cvref_t<decltype(list)>::value_type;
      return place >= 0 && std::cmp_less(place, list.size()) ? list[static_cast<std::size_t>(place)] : Id::none();
    };
    NewCollective row{.rank = rank_, .group = at(groups_, from.group)};
    row.lane = at(lanes_, from.lane);
    row.enqueued_on = at(lanes_, from.enqueued_on);
    const bool dangles = (from.group >= 0 && !row.group.is_set()) || (from.lane >= 0 && !row.lane.is_set()) ||
                         (from.enqueued_on >= 0 && !row.enqueued_on.is_set());
    if (dangles || (!row.lane.is_set() && !row.enqueued_on.is_set())) return false;
    row.op = run_.intern(from.op);
    if (!from.dtype.empty()) row.dtype = run_.intern(from.dtype);
    row.sequence = from.sequence;
    row.bytes = from.bytes;
    row.peer = from.peer;
    row.state = from.state;
    row.enqueued = from.enqueued;
    row.started = from.started;
    row.finished = from.finished;
    if (from.has_span) row.span_ticket = take_span(row.lane, row.started);
    run_.add_collective(row);
    return true;
  }

  const TraceFile& file_;
  const OwnRows& own_;
  RankId rank_;
  RunBuilder& run_;
  std::vector<LaneId> lanes_;
  std::vector<GroupId> groups_;
  std::multimap<std::pair<LaneId, RunTime>, std::uint32_t> spans_;
};

}  // namespace

void restore_spans(const TraceFile& file, RunBuilder& run) {
  const StringId kind_key = run.find(keys::own_kind);
  const StringId flags_key = run.find(keys::own_flags);
  if (!file.metadata.own || (!kind_key.is_set() && !flags_key.is_set())) return;
  constexpr std::int64_t all_flags = span_flag::cut_begin | span_flag::cut_end;
  for (std::uint32_t row = file.first_span; row < file.end_span; ++row) {
    const AttributeRange attributes = run.attributes_of(row);
    SpanKind kind = run.spans()[row].kind;
    std::uint8_t flags = run.spans()[row].flags;
    if (const auto told = kind_key.is_set() ? attributes.find(kind_key) : std::nullopt;
        told && told->kind == AttributeKind::text)
      kind = span_kind_from(run.text(told->text)).value_or(kind);
    if (const auto told = flags_key.is_set() ? attributes.find(flags_key) : std::nullopt;
        told && told->kind == AttributeKind::number)
      flags = static_cast<std::uint8_t>(told->number & all_flags);
    run.reclassify(row, kind, flags);
  }
}

void restore_rows(const TraceFile& file, RankId rank, RunBuilder& run) {
  Rows{file, rank, run}.restore();
  const OwnRows& own = *file.metadata.own->rows;
  Process& process = run.process(file.process);
  process.local_rank = own.local_rank;
  process.ending = own.ending;
  process.exit_status = own.exit_status;
  if (own.recorded != TimeRange{}) process.recorded = own.recorded;
}

void restore_quality(std::span<const TraceFile> files, RunBuilder& run) {
  Quality& quality = run.quality();
  auto& places = run.info().places;
  const auto key_of = [](const QualityPlace& place) {
    return std::tuple{place.counter, place.amount, place.where, place.rank};
  };
  std::set<std::tuple<Counter, std::uint64_t, std::string, RankId>> known;
  std::ranges::transform(places, std::inserter(known, known.end()), key_of);
  for (const TraceFile& file : files) {
    if (!file.metadata.own) continue;
    for (const auto& [name, text] : file.metadata.own->quality) {
      const auto counter = counter_from(name);
      const auto value = integer_of(text);
      if (!counter || is_counted_by_build(*counter) || !value || *value < 0) continue;
      const std::uint64_t now = quality.of(*counter);
      if (static_cast<std::uint64_t>(*value) > now) quality.add(*counter, static_cast<std::uint64_t>(*value) - now);
    }
    for (const QualityPlace& place : file.metadata.own->places)
      if (!is_counted_by_build(place.counter) && known.insert(key_of(place)).second) places.push_back(place);
  }
}

}  // namespace rankscope::analyzer::kineto
