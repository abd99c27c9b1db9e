#include "rankscope/gui/models/timeline/tracks.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <numeric>
#include <set>
#include <string_view>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/models/timeline/lane_names.h"

namespace rankscope::gui {
namespace {

constexpr double header_height = 20;
constexpr double counter_height = 30;
constexpr double gap = 3;
constexpr std::uint32_t most_rows = 64;  // Python stacks of real traces are about 40 deep
constexpr std::uint32_t few_rows = 8;    // of a thread, at first, where it would push an accelerator out of sight

bool has_in_any_case(std::string_view text, std::string_view wanted) {
  const auto lower = [](char letter) { return std::tolower(static_cast<unsigned char>(letter)); };
  return wanted.empty() || !std::ranges::search(text, wanted, {}, lower, lower).empty();
}

/// From top to bottom: what the accelerator does, then what the host does.
int place_beside_accelerator(LaneKind kind) {
  switch (kind) {
    case LaneKind::stream:
      return 0;
    case LaneKind::annotation:
      return 1;
    case LaneKind::comm:
      return 2;
    case LaneKind::thread:
      break;
  }
  return 3;
}

/// How busy, how full, how hot: what else was sampled would push the ranks apart. Exports have it, the report some.
constexpr std::array shown_counters{"busy",
                                    "utilization",
                                    "allocated_bytes",
                                    "rss_bytes",
                                    "memory_used",
                                    "cpu_percent",
                                    "power",
                                    "temperature",
                                    "queue",
                                    "sm_active",
                                    "tensor_active",
                                    "dram_read",
                                    "dram_write",
                                    "nvlink_received_bytes_per_second",
                                    "nvlink_sent_bytes_per_second"};

bool is_shown(std::string_view counter) {
  return !counter.starts_with("pressure") && std::ranges::any_of(shown_counters, [counter](const char* part) {
    return counter.find(part) != std::string_view::npos;
  });
}

class Maker {
 public:
  Maker(const lod::RunLod& lod, const TrackOptions& options)
      : lod_(lod),
        run_(lod.run()),
        options_(options),
        ranks_(options.ranks.begin(), options.ranks.end()),
        counters_(run_.processes().size()),
        accelerators_(accelerators_of(run_)) {
    for (std::uint32_t counter = 0; counter < run_.counters().size(); ++counter)
      if (is_shown(run_.text(run_.counters()[counter].name)))
        counters_[run_.counters()[counter].process].push_back(counter);
  }

  TrackList make() {
    for (const LaneId lane : options_.pinned) add_pinned(lane);
    for (const std::uint32_t counter : options_.pinned_counters) add_pinned_counter(counter);
    list_.pinned_height = y_;
    y_ = 0;
    const std::vector<Host> hosts = hosts_in_order();
    for (const Host& host : hosts) {
      if (hosts.size() > 1 && !add_host(host.name)) continue;
      for (const std::uint32_t row : host.processes) add_process(row, hosts.size() > 1 ? 1 : 0);
    }
    if (joined_.size() == 1) add_process(joined_.front(), 0);
    if (joined_.size() > 1) add_joined();
    list_.height = y_;
    return std::move(list_);
  }

 private:
  struct Host {
    StringId name;
    std::vector<std::uint32_t> processes;  // those that are not filtered out
  };

  /// Rows of Run::processes(): ranks that are to stand above all others, then the rest.
  std::vector<std::uint32_t> processes_in_order() const {
    std::vector<std::uint32_t> rows(run_.processes().size());
    std::iota(rows.begin(), rows.end(), 0U);
    if (!options_.first_ranks.empty())
      std::ranges::stable_sort(rows, {}, [this](std::uint32_t row) {
        return std::ranges::find(options_.first_ranks, run_.processes()[row].rank);
      });
    return rows;
  }

  /// The first of them stands for all.
  void add_joined() {
    const std::uint32_t row = joined_.front();
    Track head;
    head.kind = TrackKind::rank;
    head.process = row;
    head.rank = run_.processes()[row].rank;
    head.others = joined_.size() - 1;
    head.folded = true;
    head.name = format("{} and {}", process_name(run_.processes()[row]), counted(head.others, "other"));
    head.full_name = head.name;
    stand_in(head, lanes_of(row));
    add(std::move(head), header_height);
  }

  /// By the first process of each.
  std::vector<Host> hosts_in_order() {
    std::vector<Host> hosts;
    std::map<StringId, std::size_t> places;
    for (const std::uint32_t row : processes_in_order()) {
      const Process& process = run_.processes()[row];
      if (!ranks_.empty() && !ranks_.contains(process.rank)) continue;
      if (options_.joins(process.rank)) {
        joined_.push_back(row);
        continue;
      }
      const auto [place, is_new] = places.try_emplace(process.host, hosts.size());
      if (is_new) hosts.push_back({process.host, {}});
      hosts[place->second].processes.push_back(row);
    }
    return hosts;
  }

  void add(Track track, double height) {
    track.y = y_;
    track.height = height;
    y_ += height + gap;
    list_.tracks.push_back(std::move(track));
  }

  /// False if it is folded.
  bool add_host(StringId host) {
    Track track;
    track.kind = TrackKind::host;
    track.host = host;
    const std::string_view name = run_.text(host);
    track.name = track.full_name = name.empty() ? "unknown host" : std::string{name};
    track.folded = options_.folded_hosts.contains(host);
    const bool folded = track.folded;
    add(std::move(track), header_height);
    return !folded;
  }

  std::string process_name(const Process& process) const {
    if (process.rank.is_set()) return format("rank {}", process.rank.value);
    const std::string_view program = run_.text(process.program);
    if (process.pid == Process::no_pid) return std::string{program};
    return format("{} (pid {})", program.empty() ? "process" : program, process.pid);
  }

  std::vector<LaneId> lanes_of(std::uint32_t row) const {
    std::vector<LaneId> lanes;
    for (const Lane& lane : std::ranges::equal_range(run_.lanes(), row, {}, &Lane::process))
      if (lane.span_count > 0) lanes.push_back(run_.id_of(lane));
    const bool accelerated = has_streams(lanes);
    std::ranges::stable_sort(lanes, [&](LaneId a, LaneId b) {
      const Lane& left = run_.lane(a);
      const Lane& right = run_.lane(b);
      if (left.kind != right.kind)
        return accelerated ? place_beside_accelerator(left.kind) < place_beside_accelerator(right.kind)
                           : left.kind < right.kind;
      return comes_before(run_.text(left.name), run_.text(right.name));
    });
    if (const auto chosen = options_.order.find(row); chosen != options_.order.end())
      std::ranges::stable_sort(lanes, {}, [&](LaneId lane) { return std::ranges::find(chosen->second, lane); });
    return lanes;
  }

  bool has_streams(const std::vector<LaneId>& lanes) const {
    return std::ranges::any_of(lanes, [this](LaneId lane) { return run_.lane(lane).kind == LaneKind::stream; });
  }

  bool is_wanted(LaneId id) const {
    const Lane& lane = run_.lane(id);
    return !options_.hidden_lanes.contains(id) && (has_in_any_case(run_.text(lane.name), options_.lanes) ||
                                                   has_in_any_case(lane_title(run_, lane), options_.lanes));
  }

  bool is_wanted(std::uint32_t counter) const {
    const std::string_view name = run_.text(run_.counters()[counter].name);
    return !options_.hidden_counters.contains(counter) &&
           (has_in_any_case(name, options_.lanes) || has_in_any_case(counter_title(name), options_.lanes));
  }

  void add_process(std::uint32_t row, int indent) {
    const Process& process = run_.processes()[row];
    const std::vector<LaneId> lanes = lanes_of(row);
    Track head;
    head.kind = TrackKind::rank;
    head.process = row;
    head.rank = process.rank;
    head.indent = indent;
    head.name = head.full_name = process_name(process);
    head.note = accelerators_[row];
    head.folded = options_.folded_processes.contains(row);
    if (head.folded) stand_in(head, lanes);
    const bool folded = head.folded;
    add(head, header_height);
    if (folded) return;
    head.indent = indent + 1;
    if (process.rank.is_set()) add_steps(head);
    const std::uint32_t rows_of_threads = has_streams(lanes) ? few_rows : most_rows;
    for (const LaneId lane : lanes)
      if (is_wanted(lane)) add_lane(lane, indent + 1, rows_of_threads);
    add_counters(head);
  }

  /// Those of the host have a head of their own, which is folded at first: many are flat.
  void add_counters(Track head) {
    head.note.clear();
    std::vector<std::uint32_t> of_host;
    for (const std::uint32_t counter : counters_[head.process]) {
      if (!is_wanted(counter)) continue;
      if (is_of_host(run_.text(run_.counters()[counter].name)))
        of_host.push_back(counter);
      else
        add_counter(head, counter);
    }
    const bool found = !options_.lanes.empty();  // what is looked for is shown
    if (of_host.size() > 1 && !found) {
      Track track = head;
      track.kind = TrackKind::counters;
      track.lane = {};
      track.name = format("{} of the host", counted(of_host.size(), "counter"));
      track.full_name += " / " + track.name;
      track.folded = !options_.unfolded_counters.contains(head.process);
      const bool folded = track.folded;
      add(std::move(track), header_height);
      if (folded) return;
      ++head.indent;
    }
    for (const std::uint32_t counter : of_host) add_counter(head, counter);
  }

  /// A stream before a thread, and of these the row with most spans; beside it the lane on which most communication
  /// runs.
  void stand_in(Track& head, const std::vector<LaneId>& lanes) const {
    const auto weight = [this](LaneId id) {
      const Lane& lane = run_.lane(id);
      return std::pair{lane.kind == LaneKind::stream, lane.span_count};
    };
    const auto best = std::ranges::max_element(lanes, {}, weight);
    if (best == lanes.end()) return;
    head.lane = *best;
    head.first_row = fullest_row(*best);
    std::uint32_t most = 0;
    for (const LaneId id : lanes) {
      const Lane& lane = run_.lane(id);
      const bool communicates = lane.kind == LaneKind::comm || is_of_communication(run_, lane);
      if (id == head.lane || !communicates || lane.span_count <= most) continue;
      most = lane.span_count;
      head.comm_lane = id;
      head.comm_row = fullest_row(id);
    }
  }

  std::uint32_t fullest_row(LaneId lane) const {
    const auto& rows = lod_.lane(lane).rows;
    return static_cast<std::uint32_t>(
        std::ranges::max_element(rows, {}, [](const lod::RowLod& one) { return one.size(); }) - rows.begin());
  }

  void add_steps(Track track) {
    track.kind = TrackKind::steps;
    track.note.clear();
    track.name = "steps";
    track.full_name += " / steps";
    track.lane = {};
    add(std::move(track), options_.row_height);
  }

  void add_lane(LaneId id, int indent, std::uint32_t rows_of_threads) { add(lane_track(id, indent, rows_of_threads)); }

  void add_pinned(LaneId id) {
    Track track = lane_track(id, 0, few_rows);
    track.pinned = true;
    add(std::move(track));
  }

  void add_pinned_counter(std::uint32_t counter) {
    Track track;
    track.rank = run_.counters()[counter].rank;
    track.process = run_.counters()[counter].process;
    track.full_name = process_name(run_.processes()[track.process]);
    track.pinned = true;
    add_counter(std::move(track), counter);
  }

  Track lane_track(LaneId id, int indent, std::uint32_t rows_of_threads) const {
    const Lane& lane = run_.lane(id);
    Track track;
    track.rank = lane.rank;
    track.process = lane.process;
    track.lane = id;
    track.indent = indent;
    track.name = lane_title(run_, lane);
    track.full_name = format("{} / {}", process_name(run_.processes()[lane.process]), track.name);
    const auto depth = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(lod_.lane(id).rows.size()));
    const std::uint32_t drawable = std::min(depth, most_rows);
    const auto chosen = options_.lane_rows.find(id);
    const std::uint32_t at_first = lane.kind == LaneKind::thread ? rows_of_threads : most_rows;
    const std::uint32_t wanted = chosen == options_.lane_rows.end() ? at_first
                                 : chosen->second == LaneRows::all  ? most_rows
                                                                    : 1;
    track.rows = std::min(drawable, wanted);
    track.deeper_rows = depth - track.rows;
    track.folded = track.rows < drawable;
    return track;
  }

  void add(Track track) {
    const double height = options_.row_height * track.rows;
    add(std::move(track), height);
  }

  void add_counter(Track track, std::uint32_t counter) {
    track.kind = TrackKind::counter;
    track.counter = counter;
    track.note.clear();
    track.name = counter_title(run_.text(run_.counters()[counter].name));
    track.full_name += " / " + track.name;
    track.lane = {};
    add(std::move(track), counter_height);
  }

  const lod::RunLod& lod_;
  const Run& run_;
  const TrackOptions& options_;
  std::set<RankId> ranks_;                            // only these; empty = all
  std::vector<std::vector<std::uint32_t>> counters_;  // that are shown, by row of Run::processes()
  std::vector<std::string> accelerators_;             // by row of Run::processes()
  std::vector<std::uint32_t> joined_;                 // rows of Run::processes() that are one track
  TrackList list_;
  double y_ = 0;
};

}  // namespace

TrackList make_tracks(const lod::RunLod& lod, const TrackOptions& options) { return Maker(lod, options).make(); }

}  // namespace rankscope::gui
