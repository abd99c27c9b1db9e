#include "exports/perfetto/sequence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <protozero/varint.hpp>

#include "exports/perfetto/fields.h"
#include "rankscope/core/model/run.h"
#include "words/json_text.h"

namespace rankscope::analyzer::perfetto {
namespace {

using protozero::pbf_writer;

constexpr RunTime end_of_time{nanoseconds{std::numeric_limits<std::int64_t>::max()}};

SpanId first_span(const Run& run, const Track& track) {
  return SpanId{track.kind == Track::Kind::row ? run.lanes()[track.of].first_span : 0};
}

/// True for attributes that repeat what `describe` says of a collective.
bool repeats(std::string_view key) {
  constexpr std::array<std::string_view, 6> keys{"group", "seq", "op", "bytes", "dtype", "peer"};
  return std::ranges::find(keys, key) != keys.end();
}

/// A message of two numbers, made aside: for one of unknown length protozero would leave room and move it.
struct SmallMessage {
  std::array<char, 32> bytes;
  std::size_t size = 0;

  SmallMessage(Field first, std::uint64_t first_value, Field second, std::uint64_t second_value) {
    for (const std::uint64_t part :
         {std::uint64_t{first} << 3U, first_value, std::uint64_t{second} << 3U, second_value})
      size += static_cast<std::size_t>(protozero::add_varint_to_buffer(bytes.data() + size, part));
  }
};

/// The TrackEvent that ends a slice: its type is all it has.
constexpr std::array<char, 2> end_event{event::type << 3U, event::slice_end};

}  // namespace

Sequence::Sequence(const Plan& plan, std::uint32_t track, Interner& interner)
    : plan_(plan),
      run_(plan.run()),
      track_(plan.tracks()[track]),
      id_(track + 1),
      interner_(interner),
      links_(run_, plan.origins(), first_span(run_, track_)) {
  interner_.begin_sequence();
}

bool Sequence::append(std::string& out, std::size_t bytes) {
  out_ = &out;
  if (place_ == Place::begin) {
    head();
    place_ = Place::middle;
  }
  return track_.kind == Track::Kind::row ? slices(bytes) : samples(bytes);
}

/// The state that the other packets rely on, and a clock of the sequence's own that counts from the previous packet.
void Sequence::head() {
  {
    pbf_writer file{*out_};
    pbf_writer packet{file, trace::packet};
    packet.add_uint32(packet::sequence_id, id_);
    packet.add_uint32(packet::sequence_flags, packet::state_cleared);
    {
      pbf_writer all{packet, packet::defaults};
      {
        pbf_writer event{all, defaults::track_event};
        event.add_uint64(defaults::track_uuid, track_.uuid);
      }
      all.add_uint32(defaults::timestamp_clock_id, clock_snapshot::own_deltas);
    }
    packet.add_bool(packet::first_on_sequence, true);
  }
  pbf_writer file{*out_};
  pbf_writer packet{file, trace::packet};
  {
    pbf_writer snapshot{packet, packet::clock_snapshot};
    const auto clock = [&](std::uint32_t id, std::int64_t ns, bool incremental) {
      pbf_writer one{snapshot, clock_snapshot::clocks};
      one.add_uint32(clock_snapshot::clock_id, id);
      one.add_uint64(clock_snapshot::timestamp, static_cast<std::uint64_t>(ns));
      if (incremental) one.add_bool(clock_snapshot::is_incremental, true);
    };
    clock(clock_snapshot::boottime, 0, false);
    const auto origin = run_.info().origin_unix_ns;
    if (origin > 0) clock(clock_snapshot::realtime, origin + plan_.zero_ns(), false);
    clock(clock_snapshot::own_deltas, 0, true);
  }
  packet.add_uint32(packet::sequence_id, id_);
  packet.add_uint32(packet::sequence_flags, packet::needs_state);
}

bool Sequence::slices(std::size_t bytes) {
  const auto spans = run_.spans_of(run_.lanes()[track_.of]);
  const auto& rows = plan_.rows_of(track_.of);
  for (; next_ < spans.size(); ++next_) {
    if (out_->size() >= bytes) return true;
    if (!rows.empty() && rows[next_] != track_.row) continue;
    slice(spans[next_]);
  }
  instants_before(end_of_time);
  close_until(end_of_time);
  place_ = Place::done;
  return false;
}

void Sequence::stamp(pbf_writer& packet, RunTime time) {
  const std::int64_t ns = ns_of(time) - plan_.zero_ns();
  packet.add_uint64(packet::timestamp, static_cast<std::uint64_t>(ns - last_ns_));
  packet.add_uint32(packet::sequence_id, id_);
  last_ns_ = ns;
}

void Sequence::close_until(RunTime time) {
  for (; !open_.empty() && open_.back() <= time; open_.pop_back()) {
    pbf_writer file{*out_};
    pbf_writer packet{file, trace::packet};
    stamp(packet, open_.back());
    packet.add_message(packet::track_event, end_event.data(), end_event.size());
    packet.add_uint32(packet::sequence_flags, packet::needs_state);
  }
}

void Sequence::instants_before(RunTime time) {
  while (!arrivals_.empty() && arrivals_.front().time < time) {
    const Arrival next = arrivals_.front();
    arrivals_.erase(arrivals_.begin());
    instants_of_lane_before(next.time);
    close_until(next.time);
    arrival(next);
  }
  instants_of_lane_before(time);
}

void Sequence::instants_of_lane_before(RunTime time) {
  if (track_.row != 0) return;  // they lie on the first row of the lane
  const auto& instants = plan_.instants_of(track_.of);
  for (; next_instant_ < instants.size() && instants[next_instant_].time < time; ++next_instant_) {
    close_until(instants[next_instant_].time);
    instant(instants[next_instant_]);
  }
}

/// Where the span begins on the drawing; collects its arrows on the way.
RunTime Sequence::begin_of(const Span& span) {
  leaving_.clear();
  arriving_.clear();
  clamped_ns_ = launch_after_ns_ = 0;
  RunTime begin = span.time.begin;
  const SpanId id = run_.id_of(span);
  links_.leaving(id, [&](std::uint32_t row) {
    if (drawn_begin(run_, run_.links()[row])) leaving_.push_back(row);
  });
  links_.arriving(id, [&](std::uint32_t row) {
    const Link& link = run_.links()[row];
    if (const auto drawn = drawn_begin(run_, link)) {
      begin = std::max(begin, *drawn);
      arriving_.push_back(row);
    } else if (link.kind == LinkKind::launch) {
      launch_after_ns_ = (run_.span(link.from).time.begin - span.time.begin).count();
    }
  });
  clamped_ns_ = (begin - span.time.begin).count();
  return begin;
}

void Sequence::slice(const Span& span) {
  const RunTime begin = begin_of(span);
  instants_before(begin);
  close_until(begin);
  pbf_writer file{*out_};
  pbf_writer packet{file, trace::packet};
  stamp(packet, begin);
  {
    pbf_writer event{packet, packet::track_event};
    event.add_uint64(event::category_iids, interner_.category(span.kind));
    arguments(event, span);
    event.add_enum(event::type, event::slice_begin);
    event.add_uint64(event::name_iid, interner_.event_name(span.name));
    flows(event, span);
  }
  interner_.declare(packet);
  packet.add_uint32(packet::sequence_flags, packet::needs_state);
  open_.push_back(span.time.end);
}

void Sequence::flows(pbf_writer& event, const Span& span) {
  for (const std::uint32_t row : leaving_) event.add_fixed64(event::flow_ids, plan_.flow_of_link(row));
  for (const std::uint32_t row : arriving_) event.add_fixed64(event::terminating_flow_ids, plan_.flow_of_link(row));
  if (span.collective == Span::no_collective) return;
  const Flow& flow = plan_.flows()[span.collective];
  if (flow.phase == FlowPhase::none) return;
  const auto id = static_cast<std::uint64_t>(flow.id);
  event.add_uint64(event::correlation_id, id);
  if (flow.at > span.time.begin) {
    // The direction of an arrow is that of time: it ends after its begin, not where this slice begins.
    const RunTime end = flow.at + nanoseconds{1};
    const auto place = std::ranges::upper_bound(arrivals_, end, {}, &Arrival::time);
    arrivals_.insert(place, Arrival{.time = end, .collective = span.collective});
    return;
  }
  // Never a terminating one: of members that start in the same nanosecond any may be read first.
  event.add_fixed64(event::flow_ids, id);
}

void Sequence::arguments(pbf_writer& event, const Span& span) {
  if (span.flags != 0) {
    const bool begin = (span.flags & span_flag::cut_begin) != 0;
    const bool end = (span.flags & span_flag::cut_end) != 0;
    plain(event, Key::cut, begin && end ? "both" : begin ? "begin" : "end");
  }
  if (clamped_ns_ != 0) number(event, Key::clamped, clamped_ns_);
  if (launch_after_ns_ != 0) number(event, Key::launch_late, launch_after_ns_);
  const bool in_collective = span.collective != Span::no_collective;
  if (in_collective) describe(event, span);
  attributes(event, run_.attributes_of(run_.id_of(span)), in_collective ? Described::yes : Described::no);
}

void Sequence::describe(pbf_writer& event, const Span& span) {
  const Collective& member = run_.collectives()[span.collective];
  const Flow& flow = plan_.flows()[span.collective];
  if (member.group.is_set()) text(event, Key::group, run_.groups()[member.group.index()].name);
  if (member.sequence >= 0) number(event, Key::sequence, member.sequence);
  if (member.op.is_set()) text(event, Key::op, member.op);
  if (member.bytes >= 0) number(event, Key::bytes, member.bytes);
  if (member.dtype.is_set()) text(event, Key::dtype, member.dtype);
  if (member.peer >= 0) number(event, Key::peer, member.peer);
  if (member.state != CommState::finished) plain(event, Key::state, "never finished");
  if (member.state != CommState::enqueued)
    number(event, Key::enqueued, (member.started - member.enqueued).count());  // time in the queue before its start
  if (flow.phase != FlowPhase::none) number(event, Key::members, flow.members);
  const auto& parts = plan_.matching().parts;
  if (span.collective >= parts.size() || member.state != CommState::finished) return;
  const MemberPart& part = parts[span.collective];
  if (!part.split) return;
  number(event, Key::wait, part.wait_ns);
  if (part.waited_for.is_set()) number(event, Key::waited_for, part.waited_for.value);
  if (part.rest_is_transfer) number(event, Key::transfer, (member.finished - member.started).count() - part.wait_ns);
}

void Sequence::attributes(pbf_writer& event, const AttributeRange& all, Described described) {
  for (const Attribute& attribute : all) {
    if (described == Described::yes && repeats(run_.text(attribute.key))) continue;
    this->attribute(event, attribute);
  }
}

void Sequence::attribute(pbf_writer& event, const Attribute& attribute) {
  const std::uint32_t name = interner_.annotation_name(attribute.key);
  switch (attribute.value.kind) {
    case AttributeKind::number:
      return number(event, name, attribute.value.number);
    case AttributeKind::text:
    case AttributeKind::json:  // in its own words: lists and fractions read well as they stand
      return text(event, name, interner_.value(attribute.value.text));
  }
}

void Sequence::number(pbf_writer& event, std::uint32_t name, std::int64_t value) {
  const SmallMessage argument{annotation::name_iid, name, annotation::int_value, static_cast<std::uint64_t>(value)};
  event.add_message(event::debug_annotations, argument.bytes.data(), argument.size);
}

void Sequence::text(pbf_writer& event, std::uint32_t name, std::uint32_t value) {
  const SmallMessage argument{annotation::name_iid, name, annotation::string_value_iid, value};
  event.add_message(event::debug_annotations, argument.bytes.data(), argument.size);
}

void Sequence::plain(pbf_writer& event, Key key, std::string_view value) {
  const std::uint32_t name = interner_.annotation_name(key);
  pbf_writer argument{event, event::debug_annotations};
  argument.add_uint64(annotation::name_iid, name);
  argument.add_string(annotation::string_value, value.data(), value.size());
}

void Sequence::arrival(const Arrival& arrival) {
  pbf_writer file{*out_};
  pbf_writer packet{file, trace::packet};
  stamp(packet, arrival.time);
  {
    pbf_writer event{packet, packet::track_event};
    event.add_uint64(event::category_iids, interner_.category(SpanKind::comm));
    plain(event, Key::state, "the matching send begins");
    event.add_enum(event::type, event::instant);
    event.add_uint64(event::name_iid, interner_.event_name(run_.collectives()[arrival.collective].op));
    event.add_fixed64(event::flow_ids, static_cast<std::uint64_t>(plan_.flows()[arrival.collective].id));
  }
  interner_.declare(packet);
  packet.add_uint32(packet::sequence_flags, packet::needs_state);
}

void Sequence::instant(const Instant& instant) {
  pbf_writer file{*out_};
  pbf_writer packet{file, trace::packet};
  stamp(packet, instant.time);
  {
    pbf_writer event{packet, packet::track_event};
    event.add_enum(event::type, event::instant);
    if (instant.is_mark) {
      const Mark& mark = run_.marks()[instant.row];
      event.add_uint64(event::category_iids, interner_.mark_category());
      event.add_uint64(event::name_iid, interner_.event_name(mark.name));
      attributes(event, run_.attributes_of(mark), Described::no);
    } else {
      const Collective& member = run_.collectives()[instant.row];
      event.add_uint64(event::category_iids, interner_.category(SpanKind::comm));
      event.add_uint64(event::name_iid, interner_.event_name(member.op));
      plain(event, Key::state, "enqueued, never started");
    }
  }
  interner_.declare(packet);
  packet.add_uint32(packet::sequence_flags, packet::needs_state);
}

bool Sequence::samples(std::size_t bytes) {
  const auto samples = run_.samples_of(run_.counters()[track_.of]);
  for (; next_ < samples.size(); ++next_) {
    if (out_->size() >= bytes) return true;
    const CounterSample& sample = samples[next_];
    if (!std::isfinite(sample.value)) continue;  // no viewer can draw it
    pbf_writer file{*out_};
    pbf_writer packet{file, trace::packet};
    stamp(packet, sample.time);
    {
      pbf_writer event{packet, packet::track_event};
      event.add_enum(event::type, event::counter);
      event.add_double(event::double_counter_value, sample.value);
    }
    packet.add_uint32(packet::sequence_flags, packet::needs_state);
  }
  place_ = Place::done;
  return false;
}

}  // namespace rankscope::analyzer::perfetto
