// Run -> text form; the grammar is in text.h.
#include <algorithm>
#include <string>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "rankscope/core/numbers.h"
#include "text_words.h"

namespace rankscope {
namespace {

using text::quote;

std::string rank_word(RankId rank) { return rank.is_set() ? std::to_string(rank.value) : "-"; }

std::string members_of(const Group& group) {
  std::string members;
  for (const RankId member : group.members) members += (members.empty() ? "" : ",") + rank_word(member);
  return members;
}

/// A text value that would be read back as a number is quoted.
std::string text_value(std::string_view value) {
  const bool misread = number_from<std::int64_t>(value).has_value() || value.starts_with('@');
  return misread ? text::quote_always(value) : quote(value);
}

/// Attributes of a span; of a mark, which has a lane only, as of the plainest span.
void write_attributes(const Run& run, SpanKind owner, const AttributeRange& attributes, std::ostream& out) {
  for (const Attribute& attribute : attributes) {
    const std::string_view key = run.text(attribute.key);
    out << ' ' << (text::is_own_key(owner, key) ? text::quote_always(key) : quote(key)) << '=';
    switch (attribute.value.kind) {
      case AttributeKind::number:
        out << attribute.value.number;
        break;
      case AttributeKind::text:
        out << text_value(run.text(attribute.value.text));
        break;
      case AttributeKind::json:
        out << '@' << text::quote_always(run.text(attribute.value.text));
        break;
    }
  }
}

void write_place(const QualityPlace& place, std::ostream& out) {
  out << format("@quality {} {} {}", info_of(place.counter).name, place.amount, quote(place.where));
  if (place.rank.is_set()) out << " rank=" << rank_word(place.rank);
  if (place.time) out << format(" time={}:{}", ns_of(place.time->begin), ns_of(place.time->end));
  out << '\n';
}

void write_quality(const Run& run, const CounterInfo& counter, std::ostream& out) {
  std::uint64_t rest = run.quality().of(counter.counter);
  for (const QualityPlace& place : run.info().places) {
    if (place.counter != counter.counter || place.amount > rest) continue;
    write_place(place, out);
    rest -= place.amount;
  }
  if (rest > 0) out << format("@quality {} {}\n", counter.name, rest);
}

void write_run(const Run& run, std::ostream& out) {
  const RunInfo& info = run.info();
  out << format("@run source={} world_size={} clock={} clock_error={}", quote(info.source), info.world_size,
                quote(info.clock.method), info.clock.error.count());
  if (info.origin_unix_ns != 0) out << " origin_unix=" << info.origin_unix_ns;
  for (const auto& [key, value] : info.metadata) out << format(" {}={}", quote("meta." + key), quote(value));
  out << '\n';
  for (const CounterInfo& counter : counter_table())
    if (!is_counted_by_build(counter.counter)) write_quality(run, counter, out);
  for (const Group& group : run.groups())
    out << format("@group {} {}\n", quote(run.text(group.name)), group.members.empty() ? "\"\"" : members_of(group));
}

void write_process(const Run& run, const Process& process, std::ostream& out) {
  out << format("@rank {} pid={}", rank_word(process.rank), process.pid);
  if (process.host.is_set()) out << " host=" << quote(run.text(process.host));
  if (process.program.is_set()) out << " program=" << quote(run.text(process.program));
  if (process.local_rank >= 0) out << " local_rank=" << process.local_rank;
  out << format(" recorded={}:{} ended={}:{}", ns_of(process.recorded.begin), ns_of(process.recorded.end),
                name_of(process.ending), process.exit_status);
  for (const auto& [key, value] : process.metadata)
    out << format(" {}={}", quote("meta." + std::string{run.text(key)}), quote(run.text(value)));
  out << '\n';
}

void write_device(const Run& run, const Device& device, std::ostream& out) {
  out << format("@device {} {}", rank_word(run.processes()[device.process].rank), device.ordinal);
  if (device.name.is_set()) out << " name=" << quote(run.text(device.name));
  if (device.uuid.is_set()) out << " uuid=" << quote(run.text(device.uuid));
  for (const auto& [key, value] : device.metadata)
    out << format(" {}={}", quote("meta." + std::string{run.text(key)}), quote(run.text(value)));
  out << '\n';
}

void write_lane(const Run& run, const Lane& lane, std::ostream& out) {
  out << format("@lane {} {} kind={} number={}", rank_word(lane.rank), quote(run.text(lane.name)), name_of(lane.kind),
                lane.number);
  if (lane.device >= 0) out << " device=" << lane.device;
  out << '\n';
}

void write_mark(const Run& run, const Lane& lane, const Mark& mark, std::ostream& out) {
  out << format("{} mark {} {} lane={}", rank_word(lane.rank), ns_of(mark.time), quote(run.text(mark.name)),
                quote(run.text(lane.name)));
  write_attributes(run, SpanKind::user, run.attributes_of(mark), out);
  out << '\n';
}

/// The group's name, and its members where a rank has several groups of one name.
std::string group_words(const Run& run, const Collective& collective) {
  if (!collective.group.is_set()) return "-";
  const Group& own = run.groups()[collective.group.index()];
  const auto alike = std::ranges::count_if(run.groups(), [&](const Group& group) {
    return group.name == own.name && std::ranges::find(group.members, collective.rank) != group.members.end();
  });
  const bool member = std::ranges::find(own.members, collective.rank) != own.members.end();
  const std::string name = quote(run.text(own.name));
  return alike == 1 && member ? name : format("{} members={}", name, own.members.empty() ? "\"\"" : members_of(own));
}

std::string collective_words(const Run& run, const Collective& collective) {
  std::string words = format(" group={} seq={} op={} enqueued={}", group_words(run, collective), collective.sequence,
                             quote(run.text(collective.op)), ns_of(collective.enqueued));
  if (collective.bytes >= 0) words += format(" bytes={}", collective.bytes);
  if (collective.dtype.is_set()) words += format(" dtype={}", quote(run.text(collective.dtype)));
  if (collective.peer >= 0) words += format(" peer={}", collective.peer);
  if (collective.enqueued_on.is_set())
    words += format(" on={}", quote(run.text(run.lane(collective.enqueued_on).name)));
  if (collective.state == CommState::started) words += " state=started";
  return words;
}

std::string_view cut_word(std::uint8_t flags) {
  const bool begin = (flags & span_flag::cut_begin) != 0;
  const bool end = (flags & span_flag::cut_end) != 0;
  if (begin && end) return " cut=both";
  if (begin) return " cut=begin";
  return end ? " cut=end" : "";
}

void write_span(const Run& run, const Lane& lane, const Span& span, std::ostream& out) {
  out << format("{} {} {} {} {} lane={}{}", rank_word(lane.rank), name_of(span.kind), ns_of(span.time.begin),
                ns_of(span.time.end), quote(run.text(span.name)), quote(run.text(lane.name)), cut_word(span.flags));
  if (span.collective != Span::no_collective) out << collective_words(run, run.collectives()[span.collective]);
  write_attributes(run, span.kind, run.attributes_of(run.id_of(span)), out);
  out << '\n';
}

void write_unstarted(const Run& run, std::size_t process, std::ostream& out) {
  const RankId rank = run.processes()[process].rank;
  for (const Collective& collective : run.collectives())
    if (collective.rank == rank && !collective.span.is_set())
      out << format("{} comm {} - {}{}\n", rank_word(rank), ns_of(collective.enqueued), quote(run.text(collective.op)),
                    collective_words(run, collective));
}

}  // namespace

void write_text(const Run& run, std::ostream& out) {
  write_run(run, out);
  for (std::size_t process = 0; process < run.processes().size(); ++process) {
    write_process(run, run.processes()[process], out);
    for (const Device& device : run.devices())
      if (device.process == process) write_device(run, device, out);
    for (const Lane& lane : run.lanes()) {
      if (lane.process != process) continue;
      write_lane(run, lane, out);
      for (const Span& span : run.spans_of(lane)) write_span(run, lane, span, out);
      for (const Mark& mark : run.marks())
        if (mark.lane == run.id_of(lane)) write_mark(run, lane, mark, out);
    }
    const bool last_of_rank =
        process + 1 == run.processes().size() || run.processes()[process + 1].rank != run.processes()[process].rank;
    if (last_of_rank) write_unstarted(run, process, out);
    for (const CounterTrack& track : run.counters())
      if (track.process == process)
        for (const CounterSample& sample : run.samples_of(track))
          out << format("{} counter {} {} {}\n", rank_word(track.rank), ns_of(sample.time), sample.value,
                        quote(run.text(track.name)));
  }
  for (const Link& link : run.links())
    out << format("@link {} {} {}\n", name_of(link.kind), link.from.value, link.to.value);
}

}  // namespace rankscope
