// A .rankscope folder -> Run.
#include <algorithm>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run_builder.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"
#include "rankscope/core/side_by_side.h"
#include "recording/decode/segment_decoder.h"
#include "recording/decode/sources.h"
#include "recording/format/field_text.h"
#include "recording/format/segment_work.h"

namespace rankscope::recording {
namespace {

namespace fs = std::filesystem;

constexpr nanoseconds same_host_error{1'000};         // metrics.md 7.4: times of hosts
constexpr nanoseconds same_host_device_error{5'000};  // of their accelerators
constexpr nanoseconds wall_clock_error{10'000'000};

struct Opened {
  SegmentFile file;
  std::string name;  ///< of the file
  TickMap ticks;
  std::string boot;
};

Result<void> check_folder(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return fail(ErrorKind::unreadable, format("{} does not exist", path.string()));
  if (!fs::is_directory(path, error))
    return fail(ErrorKind::unreadable, format("{} is a file; a recording is a folder NAME.rankscope", path.string()));
  if (fs::is_empty(path, error)) return fail(ErrorKind::unreadable, format("{} is an empty folder", path.string()));
  return {};
}

/// A manifest of a newer major version is refused; an absent or broken one only lacks facts.
Result<void> check_version(const fs::path& path) {
  const auto manifest = read_manifest(path);
  if (!manifest || manifest->major <= format_major) return {};
  return fail(ErrorKind::unreadable,
              format("{} was recorded in format {}.{}; this rankscope reads formats up to {}.x: use a newer rankscope",
                     path.string(), manifest->major, manifest->minor, format_major));
}

tl::unexpected<Error> no_segments(const fs::path& path) {
  const auto marks = spool_marks_of(path);
  if (marks.empty())
    return fail(
        ErrorKind::unreadable,
        format("{} contains no segments: no process could be recorded, or the copy is incomplete", path.string()));
  return fail(
      ErrorKind::unreadable,
      format("{} contains no segments yet: its recorder {} is still running, or was killed before it gathered them "
             "from {}; to gather them, run `rankscope record --recover {}` on that host",
             path.string(), marks.front().recorder, marks.front().spool.string(), marks.front().spool.string()));
}

struct OpenSegments {
  std::vector<Opened> segments;
  std::vector<Error> refused;
};

OpenSegments open_segments(const std::vector<fs::path>& paths) {
  std::vector<std::optional<Result<SegmentFile>>> files(paths.size());
  side_by_side(paths.size(), [&](std::size_t i) { files[i] = read_segment(paths[i]); });
  OpenSegments result;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    Result<SegmentFile>& file = *files[i];
    if (!file) {
      result.refused.push_back(std::move(file).error());
      continue;
    }
    TickMap ticks{file->clock_pairs, file->fixed.ticks_per_ns};
    std::string boot{field_text(file->fixed.boot_id)};
    result.segments.push_back({std::move(*file), paths[i].filename().string(), std::move(ticks), std::move(boot)});
  }
  return result;
}

RankId rank_of(const SegmentFile& file) {
  if (file.fixed.rank >= 0) return RankId{static_cast<std::uint32_t>(file.fixed.rank)};
  if (file.counters.late_rank > 0) return RankId{static_cast<std::uint32_t>(file.counters.late_rank - 1)};
  return RankId::none();
}

bool has_rank(const Opened& opened) { return has_rank(opened.file); }
bool is_watched(const Opened& opened) { return is_watched(opened.file); }
bool has_events(const Opened& opened) { return !opened.file.chunks.empty() && !is_watched(opened); }

/// The level of a process that has a rank is not asked for.
std::vector<RankEvidence> evidence_of(const std::vector<Opened>& segments) {
  std::vector<RankEvidence> evidence(segments.size());
  side_by_side(segments.size(), [&](std::size_t i) {
    const SegmentFile& file = segments[i].file;
    evidence[i] = has_rank(file) ? RankEvidence{.has_rank = true} : RankEvidence{.level = work_level_of(file)};
  });
  return evidence;
}

/// No job has more ranks; a larger number is damage.
constexpr std::int64_t most_ranks = std::int64_t{1} << 24;

/// Of those that can be: what is above is counted, as a fact that is missing.
std::int64_t world_size_among(std::initializer_list<std::int64_t> sizes, Quality& quality) {
  std::int64_t world = 0;
  for (const std::int64_t size : sizes) {
    if (size > most_ranks) quality.add(Counter::manifest_unreadable);
    if (size <= most_ranks) world = std::max(world, size);
  }
  return world;
}

std::int64_t world_size_of(const std::vector<Opened>& segments, Quality& quality) {
  std::int64_t world = 0;
  for (const Opened& opened : segments)
    world = std::max(world,
                     world_size_among({opened.file.fixed.world_size, opened.file.counters.late_world_size}, quality));
  return world;
}

/// Hosts share CLOCK_MONOTONIC only with themselves; between hosts there is no more than wall time here.
std::vector<SegmentClock> make_clocks(std::vector<Opened>& segments, RunInfo& info) {
  std::map<std::string, std::int64_t> unix_minus_host;
  for (const Opened& opened : segments)
    unix_minus_host.try_emplace(opened.boot, opened.ticks.unix_minus_monotonic_ns());
  const bool one_host = unix_minus_host.size() == 1;
  info.clock = one_host ? ClockInfo{"same_host", same_host_error} : ClockInfo{"wall_clock", wall_clock_error};
  std::int64_t origin = std::numeric_limits<std::int64_t>::max();
  const auto wall = [&unix_minus_host](const Opened& opened) {
    return opened.ticks.host_time(opened.file.fixed.first_pair.ticks).time_since_epoch().count() +
           unix_minus_host.at(opened.boot);
  };
  for (const Opened& opened : segments) origin = std::min(origin, wall(opened));
  info.origin_unix_ns = origin;
  std::vector<SegmentClock> clocks;
  for (Opened& opened : segments)
    clocks.push_back({std::move(opened.ticks), nanoseconds{unix_minus_host.at(opened.boot) - origin}});
  return clocks;
}

void apply_manifest(const fs::path& path, RunBuilder& builder) {
  const auto manifest = read_manifest(path);
  if (!manifest) return builder.quality().add(Counter::manifest_unreadable);
  RunInfo& info = builder.info();
  info.world_size = std::max(info.world_size, world_size_among({manifest->world_size}, builder.quality()));
  info.metadata = manifest->metadata;
  std::string command;
  for (const std::string& word : manifest->command) command += (command.empty() ? "" : " ") + word;
  if (!command.empty()) info.metadata.emplace_back("command", command);
  if (!manifest->launcher.empty()) info.metadata.emplace_back("launcher", manifest->launcher);
  if (manifest->exit_status >= 0) info.metadata.emplace_back("exit_status", std::to_string(manifest->exit_status));
  if (manifest->spooled) builder.quality().add(Counter::not_gathered);
  for (const auto& [name, value] : manifest->losses)
    if (const auto counter = counter_from(name)) builder.quality().add(*counter, value);
}

/// Counts, and says where: what to copy again, or whose ring to enlarge.
void count_at(RunBuilder& builder, Counter counter, std::uint64_t amount, const std::string& where) {
  if (amount == 0) return;
  builder.quality().add(counter, amount);
  builder.info().places.push_back({counter, amount, where});
}

void count_losses(const Opened& opened, RankId rank, RunBuilder& builder) {
  const SegmentFile& file = opened.file;
  const std::string where = rank.is_set() ? format("{} (rank {})", opened.name, rank.value)
                                          : format("{} (pid {}, no rank)", opened.name, file.fixed.pid);
  // The same loss has two causes with different remedies.
  const bool disk_full = file.counters.extents_refused > 0;
  count_at(builder, disk_full ? Counter::disk_full : Counter::events_dropped, file.counters.events_dropped, where);
  count_at(builder, Counter::names_shortened, file.counters.names_truncated, where);
  for (const CounterInfo& info : counter_table()) count_at(builder, info.counter, file.quality.of(info.counter), where);
}

/// What one segment gave; decoded beside the others, put together in the order of the files.
struct Decoded {
  RunBuilder rows;
  RankId rank;
  std::uint64_t events = 0;
};

std::vector<std::unique_ptr<Decoded>> decode_all(const std::vector<Opened>& segments,
                                                 const std::vector<SegmentClock>& clocks,
                                                 std::optional<std::size_t> rank_0) {
  std::vector<std::unique_ptr<Decoded>> decoded(segments.size());
  Communicators communicators;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    decoded[i] = std::make_unique<Decoded>();
    decoded[i]->rank = i == rank_0 ? RankId{0} : rank_of(segments[i].file);
    communicators.add(segments[i].file, decoded[i]->rank);
  }
  side_by_side(segments.size(), [&](std::size_t i) {
    Decoded& part = *decoded[i];
    part.events = SegmentDecoder{part.rows, segments[i].file, clocks[i], {part.rank, communicators}}.decode();
  });
  return decoded;
}

/// Of ranks that have not ended, as a fact of the run: what is missing at their end is not lost.
void note_running(const std::vector<Opened>& segments, RunBuilder& builder) {
  const auto running = std::ranges::count_if(
      segments, [](const Opened& opened) { return has_events(opened) && still_runs(opened.file); });
  if (running == 0) return;
  const auto all = std::ranges::count_if(segments, has_events);
  builder.info().metadata.emplace_back("still_running", format("{} of {} processes", running, all));
}

/// Processes with events and without a rank: ranks that are not known, and launchers.
void count_unranked(std::span<const RankEvidence> evidence, std::optional<std::size_t> rank_0, Quality& quality) {
  const WorkLevel unknown = level_of_unknown_ranks(evidence);
  for (std::size_t i = 0; i < evidence.size(); ++i) {
    if (evidence[i].has_rank || i == rank_0 || evidence[i].level < WorkLevel::events) continue;
    quality.add(evidence[i].level >= unknown ? Counter::rank_unknown : Counter::processes_without_rank);
  }
}

void count_ranks(const std::vector<Opened>& segments, RunBuilder& builder) {
  std::set<RankId> present;
  for (const Opened& opened : segments)
    if (has_rank(opened)) present.insert(rank_of(opened.file));
  const auto world = static_cast<std::uint64_t>(std::max<std::int64_t>(builder.info().world_size, 0));
  if (world > present.size() && !present.empty()) builder.quality().add(Counter::ranks_missing, world - present.size());
}

/// Clocks of accelerators are converted to that of their host less exactly than it is read.
void doubt_device_times(RunBuilder& builder) {
  ClockInfo& clock = builder.info().clock;
  const bool on_device =
      std::ranges::any_of(builder.lanes(), [](const Lane& lane) { return lane.kind == LaneKind::stream; });
  if (on_device && clock.method == "same_host") clock.error = same_host_device_error;
}

}  // namespace

bool looks_like_recording(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error) &&
         (fs::exists(path / manifest_name, error) || !segments_of(path).empty() || !spool_marks_of(path).empty());
}

Result<std::shared_ptr<const Run>> read_recording(const fs::path& path) {
  RS_TRY_VOID(check_folder(path));
  RS_TRY_VOID(check_version(path));
  const auto [manifest, paths] = sources_of(path);
  if (paths.empty() && !looks_like_recording(path))
    return fail(ErrorKind::unreadable,
                format("{} is not a recording: it has no {} and no segments", path.string(), manifest_name));
  if (paths.empty()) return no_segments(path);
  OpenSegments opened = open_segments(paths);
  if (opened.segments.empty()) return tl::make_unexpected(opened.refused.front());
  RunBuilder builder;
  for (const Error& refused : opened.refused) count_at(builder, Counter::segments_unreadable, 1, refused.message);
  builder.info().world_size = world_size_of(opened.segments, builder.quality());
  const std::vector<SegmentClock> clocks = make_clocks(opened.segments, builder.info());
  apply_manifest(manifest, builder);
  if (manifest == path) builder.quality().add(Counter::not_gathered, spool_marks_of(path).size());
  note_running(opened.segments, builder);
  const std::vector<RankEvidence> evidence = evidence_of(opened.segments);
  const std::optional<std::size_t> rank_0 = only_rank(evidence);
  count_unranked(evidence, rank_0, builder.quality());
  auto decoded = decode_all(opened.segments, clocks, rank_0);
  for (std::size_t i = 0; i < decoded.size(); ++i) {
    Decoded& part = *decoded[i];
    builder.absorb(std::move(part.rows), PartProcesses::new_rows);
    const bool watched = is_watched(opened.segments[i]);
    if (!watched && part.events == 0) builder.quality().add(Counter::processes_without_events);
    count_losses(opened.segments[i], part.rank, builder);
    decoded[i].reset();  // half the memory
  }
  count_ranks(opened.segments, builder);
  doubt_device_times(builder);
  return std::move(builder).build().map_error(while_doing(path.string()));
}

}  // namespace rankscope::recording
