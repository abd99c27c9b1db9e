// What a Perfetto trace of a run consists of, known before the first event is written.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/find.h"
#include "exports/shared/flows.h"
#include "exports/shared/links_drawn.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer::perfetto {

/// A moment to mark on a lane: a row of Run::marks(), or of Run::collectives() for one that never started.
struct Instant {
  RunTime time;
  std::uint32_t row = 0;
  bool is_mark = true;
};

/// One track of the trace, which is one packet sequence: a nesting row of a lane, or a counter.
struct Track {
  enum class Kind : std::uint8_t { row, counter } kind = Kind::row;
  std::uint32_t of = 0;   ///< row of Run::lanes() or Run::counters()
  std::uint32_t row = 0;  ///< of the lane, from 0
  std::uint64_t uuid = 0;
  std::uint64_t events = 0;  ///< about how many
};

/// Tracks, their numbers, and what lies on them. Immutable, read by several threads.
class Plan {
 public:
  explicit Plan(const Run& run);

  [[nodiscard]] const Run& run() const { return run_; }
  [[nodiscard]] const std::vector<Track>& tracks() const { return tracks_; }
  /// The nesting row of each span of a lane; empty where all are in row 0.
  [[nodiscard]] const std::vector<std::uint32_t>& rows_of(std::uint32_t lane) const { return rows_[lane]; }
  [[nodiscard]] const std::vector<Instant>& instants_of(std::uint32_t lane) const { return instants_[lane]; }
  [[nodiscard]] const std::vector<Flow>& flows() const { return flows_; }
  [[nodiscard]] const Matching& matching() const { return matching_; }
  [[nodiscard]] const LinksByOrigin& origins() const { return origins_; }
  /// Run time of timestamp 0.
  [[nodiscard]] std::int64_t zero_ns() const { return zero_ns_; }
  /// Arrows of links are numbered behind those of collectives.
  [[nodiscard]] std::uint64_t flow_of_link(std::uint32_t row) const { return first_link_flow_ + row; }

 private:
  void add_rows(std::uint32_t lane);
  void collect_instants();

  const Run& run_;
  std::int64_t zero_ns_ = 0;
  std::vector<Flow> flows_;
  Matching matching_;
  LinksByOrigin origins_;
  std::uint64_t first_link_flow_ = 1;
  std::vector<Track> tracks_;
  std::vector<std::vector<std::uint32_t>> rows_;  // by lane
  std::vector<std::vector<Instant>> instants_;    // by lane
};

}  // namespace rankscope::analyzer::perfetto
