#include "support/perfetto_trace.h"

#include <algorithm>
#include <protozero/pbf_reader.hpp>

#include "rankscope/core/format.h"

namespace rankscope::testing {
namespace {

using protozero::pbf_reader;

/// What the packets of one sequence have established.
struct SequenceState {
  bool cleared = false;
  std::uint64_t track = 0;
  std::uint64_t clock = 0;
  std::int64_t now = 0;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::string> interned;  // (field of InternedData, iid)
  std::vector<std::size_t> open;                                            // rows of events
};

struct Packet {
  std::uint64_t sequence = 0;
  std::uint64_t flags = 0;
  std::int64_t timestamp = 0;
  std::string event;
  std::string interned;
  std::string defaults;
  std::string clocks;
  std::string track;
};

Packet packet_of(pbf_reader reader) {
  Packet packet;
  while (reader.next()) {
    switch (reader.tag()) {
      case 6:
        packet.clocks = reader.get_string();
        break;
      case 8:
        packet.timestamp = static_cast<std::int64_t>(reader.get_uint64());
        break;
      case 10:
        packet.sequence = reader.get_uint32();
        break;
      case 11:
        packet.event = reader.get_string();
        break;
      case 12:
        packet.interned = reader.get_string();
        break;
      case 13:
        packet.flags = reader.get_uint32();
        break;
      case 59:
        packet.defaults = reader.get_string();
        break;
      case 60:
        packet.track = reader.get_string();
        break;
      default:
        reader.skip();
    }
  }
  return packet;
}

std::string unit_name(int unit) { return unit == 3 ? "bytes" : unit == 2 ? "count" : "ns"; }

void read_process(pbf_reader process, PerfettoTrack& track) {
  track.kind = "process";
  while (process.next()) {
    if (process.tag() == 1)
      track.pid = process.get_int32();
    else if (process.tag() == 6)
      track.name = process.get_string();
    else
      process.skip();
  }
}

void read_thread(pbf_reader thread, PerfettoTrack& track) {
  track.kind = "thread";
  while (thread.next()) {
    if (thread.tag() == 1)
      track.pid = thread.get_int32();
    else if (thread.tag() == 2)
      track.tid = thread.get_int64();
    else if (thread.tag() == 5)
      track.name = thread.get_string();
    else
      thread.skip();
  }
}

void read_counter(pbf_reader counter, PerfettoTrack& track) {
  track.kind = "counter";
  while (counter.next()) {
    if (counter.tag() == 3)
      track.unit = unit_name(counter.get_enum());
    else if (counter.tag() == 6)
      track.unit = counter.get_string();
    else
      counter.skip();
  }
}

PerfettoTrack track_of(pbf_reader reader) {
  PerfettoTrack track;
  while (reader.next()) {
    switch (reader.tag()) {
      case 1:
        track.uuid = reader.get_uint64();
        break;
      case 2:
        track.name = reader.get_string();
        break;
      case 3:
        read_process(reader.get_message(), track);
        break;
      case 4:
        read_thread(reader.get_message(), track);
        break;
      case 5:
        track.parent = reader.get_uint64();
        break;
      case 8:
        read_counter(reader.get_message(), track);
        break;
      case 12:
        track.order = reader.get_int32();
        break;
      case 15:
        track.merge = reader.get_enum();
        break;
      default:
        reader.skip();
    }
  }
  if (track.kind.empty()) track.kind = track.uuid == 0 ? "root" : "track";
  return track;
}

class Reader {
 public:
  PerfettoTrace read(const std::string& bytes) {
    pbf_reader file{bytes};
    while (file.next(1)) packet(packet_of(file.get_message()));
    for (const auto& [id, state] : states_)
      if (!state.open.empty()) problem(format("sequence {} leaves {} slices open", id, state.open.size()));
    return std::move(trace_);
  }

 private:
  void problem(std::string text) { trace_.problems.push_back(std::move(text)); }

  void packet(const Packet& packet) {
    if (!packet.track.empty()) trace_.tracks.push_back(track_of(pbf_reader{packet.track}));
    if (packet.sequence == 0) return;
    SequenceState& state = states_[packet.sequence];
    if ((packet.flags & 1U) != 0) {
      state = {};
      state.cleared = true;
    }
    if ((packet.flags & 2U) != 0 && !state.cleared) problem("a packet needs state that nothing established");
    if (!packet.defaults.empty()) defaults(pbf_reader{packet.defaults}, state);
    if (!packet.interned.empty()) interned(pbf_reader{packet.interned}, state);
    if (!packet.clocks.empty()) clocks(pbf_reader{packet.clocks}, state);
    if (packet.event.empty()) return;
    if (state.clock != 64) problem("an event before the clock of its sequence");
    if (packet.timestamp < 0) problem("time runs backwards");
    state.now += packet.timestamp;
    event(pbf_reader{packet.event}, state);
  }

  static void defaults(pbf_reader reader, SequenceState& state) {
    while (reader.next()) {
      if (reader.tag() != 11) {
        reader.skip();
        continue;
      }
      auto event = reader.get_message();
      while (event.next(11)) state.track = event.get_uint64();
    }
  }

  static void clocks(pbf_reader reader, SequenceState& state) {
    while (reader.next(1)) {
      std::uint64_t id = 0;
      auto clock = reader.get_message();
      while (clock.next()) {
        if (clock.tag() == 1)
          id = clock.get_uint32();
        else if (clock.tag() == 2 && id == 64)
          state.now = static_cast<std::int64_t>(clock.get_uint64());
        else
          clock.skip();
      }
      if (id == 64) state.clock = id;
    }
  }

  static void interned(pbf_reader reader, SequenceState& state) {
    while (reader.next()) {
      const auto field = reader.tag();
      auto entry = reader.get_message();
      std::uint64_t iid = 0;
      std::string name;
      while (entry.next()) {
        if (entry.tag() == 1)
          iid = entry.get_uint64();
        else if (entry.tag() == 2)
          name = entry.get_string();
        else
          entry.skip();
      }
      state.interned[{field, iid}] = name;
    }
  }

  std::string lookup(const SequenceState& state, std::uint32_t field, std::uint64_t iid) {
    const auto found = state.interned.find({field, iid});
    if (found != state.interned.end()) return found->second;
    problem(format("string {} of kind {} was never declared", iid, field));
    return "?";
  }

  void argument(pbf_reader reader, const SequenceState& state, PerfettoEvent& event) {
    std::string name;
    std::string value;
    while (reader.next()) {
      switch (reader.tag()) {
        case 1:
          name = lookup(state, 3, reader.get_uint64());
          break;
        case 4:
          value = std::to_string(reader.get_int64());
          break;
        case 6:
          value = reader.get_string();
          break;
        case 17:
          value = lookup(state, 29, reader.get_uint64());
          break;
        default:
          problem(format("argument field {}", static_cast<unsigned>(reader.tag())));
          reader.skip();
      }
    }
    event.arguments.emplace_back(name, value);
  }

  void event(pbf_reader reader, SequenceState& state) {
    PerfettoEvent event;
    event.track = state.track;
    event.begin = state.now;
    int type = 0;
    double value = 0;
    while (reader.next()) {
      switch (reader.tag()) {
        case 3:
          event.category = lookup(state, 1, reader.get_uint64());
          break;
        case 4:
          argument(reader.get_message(), state, event);
          break;
        case 9:
          type = reader.get_enum();
          break;
        case 10:
          event.name = lookup(state, 2, reader.get_uint64());
          break;
        case 44:
          value = reader.get_double();
          break;
        case 47:
          event.flows.push_back(reader.get_fixed64());
          break;
        case 48:
          event.ending_flows.push_back(reader.get_fixed64());
          break;
        case 52:
          event.correlation = reader.get_uint64();
          break;
        default:
          problem(format("event field {}", static_cast<unsigned>(reader.tag())));
          reader.skip();
      }
    }
    keep(event, type, value, state);
  }

  void keep(PerfettoEvent& event, int type, double value, SequenceState& state) {
    if (type == 1) {
      event.duration = -1;
      state.open.push_back(trace_.events.size());
      trace_.events.push_back(event);
    } else if (type == 2 && state.open.empty()) {
      problem("an end without a begin");
    } else if (type == 2) {
      PerfettoEvent& slice = trace_.events[state.open.back()];
      slice.duration = state.now - slice.begin;
      state.open.pop_back();
    } else if (type == 3) {
      event.instant = true;
      trace_.events.push_back(event);
    } else if (type == 4) {
      trace_.samples.push_back({state.track, state.now, value});
    } else {
      problem(format("event type {}", type));
    }
  }

  PerfettoTrace trace_;
  std::map<std::uint64_t, SequenceState> states_;
};

std::string line_of(const PerfettoEvent& event) {
  std::string line = event.instant
                         ? format("    {} instant {} {}", event.begin, event.category, event.name)
                         : format("    {} +{} {} {}", event.begin, event.duration, event.category, event.name);
  for (const auto& [key, value] : event.arguments) line += format(" {}={}", key, value);
  for (const auto flow : event.flows) line += format(" ->{}", flow);
  for (const auto flow : event.ending_flows) line += format(" <-{}", flow);
  if (event.correlation != 0) line += format(" correlation {}", event.correlation);
  return line + "\n";
}

}  // namespace

std::string PerfettoEvent::argument(std::string_view key) const {
  for (const auto& [known, value] : arguments)
    if (known == key) return value;
  return "";
}

const PerfettoTrack& PerfettoTrace::track(std::uint64_t uuid) const {
  static const PerfettoTrack none;
  const auto found = std::ranges::find(tracks, uuid, &PerfettoTrack::uuid);
  return found == tracks.end() ? none : *found;
}

std::vector<PerfettoEvent> PerfettoTrace::named(std::string_view name) const {
  std::vector<PerfettoEvent> found;
  std::ranges::copy_if(events, std::back_inserter(found),
                       [&](const PerfettoEvent& event) { return event.name == name; });
  return found;
}

PerfettoTrace read_perfetto(const std::string& bytes) { return Reader{}.read(bytes); }

std::string text_of(const PerfettoTrace& trace) {
  std::string text;
  for (const PerfettoTrack& track : trace.tracks) {
    text += format("{} {} \"{}\"", track.kind, track.uuid, track.name);
    if (track.parent != 0) text += format(" in {}", track.parent);
    if (track.pid != 0) text += format(" pid {}", track.pid);
    if (track.tid != 0) text += format(" tid {}", track.tid);
    if (!track.unit.empty()) text += format(" unit {}", track.unit);
    text += '\n';
    for (const PerfettoEvent& event : trace.events)
      if (event.track == track.uuid) text += line_of(event);
    for (const PerfettoSample& sample : trace.samples)
      if (sample.track == track.uuid) text += format("    {} = {}\n", sample.time, sample.value);
  }
  for (const std::string& problem : trace.problems) text += "PROBLEM: " + problem + "\n";
  return text;
}

}  // namespace rankscope::testing
