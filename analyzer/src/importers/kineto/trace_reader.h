// The text of one trace file, or of a stretch of one, from front to back: events go to a Part, the rest to Metadata.
// The text may come piece by piece. What is damaged is skipped up to the next event and counted.
#pragma once

#include <cstddef>
#include <span>

#include "importers/kineto/event.h"
#include "importers/kineto/metadata.h"
#include "importers/kineto/part.h"

namespace rankscope::analyzer::kineto {

enum class MoreComes : std::uint8_t { no, yes };

class TraceReader {
 public:
  /// Of a file from its beginning.
  TraceReader(Part& part, Metadata& metadata);
  /// From the first event of a later stretch.
  static TraceReader inside_events(Part& part, Metadata& metadata);
  /// Places at which the reading of events ends, because others read on from there; ascending.
  void stop_at(std::span<const char* const> places) { stops_ = places; }

  /// Reads [begin, end) and returns the place up to which it was read. If more comes, the rest must come again with it.
  const char* read(const char* begin, const char* end, MoreComes more);

  [[nodiscard]] bool stopped() const { return place_ == Place::stopped; }
  [[nodiscard]] bool is_trace() const { return found_events_; }
  /// To be called once, behind the last piece: counts a file that ends early.
  void finish();

 private:
  enum class Place : std::uint8_t { start, members, events, stopped, done };

  const char* start(const char* at, const char* end);
  const char* member(const char* at, const char* end, MoreComes more);
  const char* event(const char* at, const char* end, MoreComes more);
  const char* recover(const char* at, const char* end, Scan why, MoreComes more);
  const char* lose_rest(const char* end);
  bool is_stop(const char* at);

  Part& part_;
  Metadata& metadata_;
  Event event_;
  std::span<const char* const> stops_;
  Place place_ = Place::start;
  std::ptrdiff_t reach_;    // how far the end of an event is sought
  bool bare_list_ = false;  // no object around the events
  bool found_events_ = false;
  bool cut_ = false;
};

/// Where the list of events ends and other members follow, or the file: the place of its ]; `end` if nowhere.
[[nodiscard]] const char* find_end_of_events(const char* from, const char* end);

}  // namespace rankscope::analyzer::kineto
