// One track of a Perfetto trace as packets.
#pragma once

#include <string>
#include <vector>

#include "exports/perfetto/interner.h"
#include "exports/perfetto/plan.h"
#include "exports/shared/links_drawn.h"

namespace rankscope::analyzer::perfetto {

/// Encodes a track from its first packet to its last, in portions. The interner belongs to one sequence at a time.
class Sequence {
 public:
  Sequence(const Plan& plan, std::uint32_t track, Interner& interner);

  /// Appends packets until `out` holds at least `bytes`; false when the track is complete.
  bool append(std::string& out, std::size_t bytes);
  /// Spans and samples so far.
  [[nodiscard]] std::uint64_t events() const { return next_; }

 private:
  /// Where an arrow ends inside a slice that began before the arrow did: a receiver waits for its sender.
  struct Arrival {
    RunTime time;
    std::uint32_t collective = 0;
  };
  enum class Place : std::uint8_t { begin, middle, done };
  enum class Described : std::uint8_t { no, yes };  ///< what describe() says of a collective is not said again

  void head();
  bool slices(std::size_t bytes);
  bool samples(std::size_t bytes);
  void close_until(RunTime time);
  void instants_before(RunTime time);
  void instants_of_lane_before(RunTime time);
  void slice(const Span& span);
  void instant(const Instant& instant);
  void arrival(const Arrival& arrival);
  void arguments(protozero::pbf_writer& event, const Span& span);
  void describe(protozero::pbf_writer& event, const Span& span);
  void attributes(protozero::pbf_writer& event, const AttributeRange& all, Described described);
  void attribute(protozero::pbf_writer& event, const Attribute& attribute);
  void number(protozero::pbf_writer& event, std::uint32_t name, std::int64_t value);
  void text(protozero::pbf_writer& event, std::uint32_t name, std::uint32_t value);
  void number(protozero::pbf_writer& event, Key key, std::int64_t value) {
    number(event, interner_.annotation_name(key), value);
  }
  void text(protozero::pbf_writer& event, Key key, StringId value) {
    text(event, interner_.annotation_name(key), interner_.value(value));
  }
  void plain(protozero::pbf_writer& event, Key key, std::string_view value);
  void flows(protozero::pbf_writer& event, const Span& span);
  void stamp(protozero::pbf_writer& packet, RunTime time);
  RunTime begin_of(const Span& span);

  const Plan& plan_;
  const Run& run_;
  const Track& track_;
  std::uint32_t id_;
  Interner& interner_;
  std::string* out_ = nullptr;
  Place place_ = Place::begin;
  std::size_t next_ = 0;  // span of the lane, or sample of the counter
  std::size_t next_instant_ = 0;
  std::int64_t last_ns_ = 0;       // timestamp of the previous packet
  std::vector<Arrival> arrivals_;  // still to come, by time
  std::vector<RunTime> open_;      // ends of the slices that are open, the innermost last
  LinkCursor links_;
  std::vector<std::uint32_t> leaving_;  // links of the current span that are drawn
  std::vector<std::uint32_t> arriving_;
  std::int64_t clamped_ns_ = 0;       // how far the current span's begin was moved
  std::int64_t launch_after_ns_ = 0;  // how long after its begin the launch was, where that cannot be drawn
};

}  // namespace rankscope::analyzer::perfetto
