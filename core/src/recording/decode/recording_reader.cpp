// A .rankscope folder -> Run.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <system_error>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run_builder.h"
#include "rankscope/core/most_ranks.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"
#include "rankscope/core/regular_file.h"
#include "rankscope/core/secrets.h"
#include "rankscope/core/side_by_side.h"
#include "recording/decode/full_part.h"
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

tl::unexpected<Error> may_not_read(const fs::path& path) {
  return fail(ErrorKind::unreadable,
              format("cannot read {}: {}; read it as the user who recorded it, or ask that user for read access",
                     path.string(), std::generic_category().message(EACCES)));
}

/// What may not be listed looks empty.
bool is_barred(const fs::path& path) { return ::access(path.c_str(), R_OK | X_OK) != 0 && errno == EACCES; }

Result<void> check_folder(const fs::path& path) {
  std::error_code error;
  const bool there = fs::exists(path, error);
  if (error == std::errc::permission_denied) return may_not_read(path);
  if (!there) return fail(ErrorKind::unreadable, format("{} does not exist", path.string()));
  if (is_special_file(path)) return refuse_special_file(path);
  if (!fs::is_directory(path, error))
    return fail(ErrorKind::unreadable, format("{} is a file; a recording is a folder NAME.rankscope", path.string()));
  for (const fs::path& folder : {path, path / segment_folder})
    if (is_barred(folder)) return may_not_read(folder);
  if (fs::is_empty(path, error)) return fail(ErrorKind::unreadable, format("{} is an empty folder", path.string()));
  return {};
}

/// Anybody can put a pipe or a device into a folder, and its reader would wait for ever.
Result<void> refuse_special_files(const fs::path& path) {
  std::vector<fs::path> files = segments_of(path);
  files.push_back(path / manifest_name);
  for (const fs::path& file : files)
    if (is_special_file(file)) return refuse_special_file(file);
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
      format("{} contains no segments yet: its recorder ({}, as HOST-PID) is still running, or was killed before it "
             "gathered them from {}; if it was killed, run `rankscope record --recover {}` on that host",
             path.string(), marks.front().recorder, marks.front().spool.string(), marks.front().spool.string()));
}

struct OpenSegments {
  std::vector<Opened> segments;
  std::vector<Error> refused;
};

OpenSegments open_segments(const std::vector<fs::path>& paths) {
  std::vector<std::optional<Result<SegmentFile>>> files(paths.size());
  side_by_side(paths.size(), [&](std::size_t i) { files[i] = read_segment(paths[i], Segments::in_use); });
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

/// Counts, and says where: what to copy again, or whose ring to enlarge.
void count_at(RunBuilder& builder, Counter counter, std::uint64_t amount, const std::string& where) {
  if (amount == 0) return;
  builder.quality().add(counter, amount);
  builder.info().places.push_back({counter, amount, where});
}

/// An absent one lacks facts; one that is there may also have listed what was lost.
void count_lost_manifest(const fs::path& path, const Error& why, RunBuilder& builder) {
  std::error_code error;
  if (!fs::exists(path / manifest_name, error)) return builder.quality().add(Counter::manifest_unreadable);
  count_at(builder, Counter::manifest_damaged, 1, why.message);
}

/// Recorders of earlier versions knew fewer forms of secrets.
std::vector<std::string> command_of(const Manifest& manifest, Texts texts, Quality& quality) {
  if (texts == Texts::as_recorded) return manifest.command;
  std::vector<std::string> command = scrub(manifest.command);
  for (std::size_t i = 0; i < command.size(); ++i)
    if (command[i] != manifest.command[i]) quality.add(Counter::texts_hidden);
  return command;
}

void apply_manifest(const fs::path& path, Texts texts, RunBuilder& builder) {
  const auto manifest = read_manifest(path);
  if (!manifest) return count_lost_manifest(path, manifest.error(), builder);
  RunInfo& info = builder.info();
  info.world_size = std::max(info.world_size, world_size_among({manifest->world_size}, builder.quality()));
  info.metadata = manifest->metadata;
  std::string command;
  for (const std::string& word : command_of(*manifest, texts, builder.quality()))
    command += (command.empty() ? "" : " ") + word;
  if (!command.empty()) info.metadata.emplace_back("command", command);
  if (!manifest->launcher.empty()) info.metadata.emplace_back("launcher", manifest->launcher);
  if (manifest->exit_status >= 0) info.metadata.emplace_back("exit_status", std::to_string(manifest->exit_status));
  if (manifest->spooled) builder.quality().add(Counter::not_gathered);
  for (const auto& [name, value] : manifest->losses)
    if (const auto counter = counter_from(name)) builder.quality().add(*counter, value);
}

/// What one segment gave; decoded beside the others, put together in the order of the files.
struct Decoded {
  explicit Decoded(Texts texts) : rows(texts) {}
  RunBuilder rows;
  RankId rank;
  std::uint64_t events = 0;
  Quality quality{};  // what the decoder counted; `rows` has it, too
  std::vector<SegmentDecoder::Gap> gaps{};
};

/// Says whose the losses of one segment are, and when its missing chunks were written. The decoder's were counted with
/// its rows.
class SegmentLosses {
 public:
  SegmentLosses(const Opened& opened, const Decoded& part, RunBuilder& builder)
      : file_(opened.file), part_(part), builder_(builder), place_{.rank = part.rank} {
    place_.where = part.rank.is_set() ? format("{} (rank {})", opened.name, part.rank.value)
                                      : format("{} (pid {}, no rank)", opened.name, file_.fixed.pid);
  }

  void count() {
    // The same loss has two causes with different remedies.
    const bool disk_full = file_.counters.extents_refused > 0;
    add(disk_full ? Counter::disk_full : Counter::events_dropped, file_.counters.events_dropped);
    add(Counter::names_shortened, file_.counters.names_truncated);
    for (const CounterInfo& info : counter_table())
      builder_.quality().add(info.counter, file_.quality.of(info.counter));
    place_gaps();
    for (const CounterInfo& info : counter_table()) place_rest(info);
  }

 private:
  void add(Counter counter, std::uint64_t amount) {
    builder_.quality().add(counter, amount);
    note(counter, amount, std::nullopt);
  }
  void note(Counter counter, std::uint64_t amount, std::optional<TimeRange> time) {
    if (amount == 0) return;
    place_.counter = counter;
    place_.amount = amount;
    place_.time = time;
    builder_.info().places.push_back(place_);
    placed_.add(counter, amount);
  }
  /// Damaged chunks are left out, so that the first gaps are theirs; what has no gap was the end of a thread.
  void place_gaps() {
    std::uint64_t damaged = file_.quality.of(Counter::chunks_corrupt);
    for (const SegmentDecoder::Gap& gap : part_.gaps) {
      const std::uint64_t left_out = std::min(gap.chunks, damaged);
      note(Counter::chunks_corrupt, left_out, gap.time);
      note(Counter::chunks_missing, gap.chunks - left_out, gap.time);
      damaged -= left_out;
    }
  }
  void place_rest(const CounterInfo& info) {
    const bool own = file_.quality.of(info.counter) > 0 || info.severity == Severity::data_loss;
    const std::uint64_t all = file_.quality.of(info.counter) + part_.quality.of(info.counter);
    const std::uint64_t placed = placed_.of(info.counter);
    if (own && all > placed) note(info.counter, all - placed, std::nullopt);
  }

  const SegmentFile& file_;
  const Decoded& part_;
  RunBuilder& builder_;
  QualityPlace place_;
  Quality placed_{};
};

std::vector<std::unique_ptr<Decoded>> decode_all(const std::vector<Opened>& segments,
                                                 const std::vector<SegmentClock>& clocks, Texts texts,
                                                 std::optional<std::size_t> rank_0) {
  std::vector<std::unique_ptr<Decoded>> decoded(segments.size());
  std::vector<const SegmentFile*> files;
  for (const Opened& opened : segments) files.push_back(&opened.file);
  const std::vector<FullPart> full = full_parts(files, clocks);
  Communicators communicators;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    decoded[i] = std::make_unique<Decoded>(texts);
    decoded[i]->rank = i == rank_0 ? RankId{0} : rank_of(segments[i].file);
    communicators.add(segments[i].file, decoded[i]->rank);
  }
  side_by_side(segments.size(), [&](std::size_t i) {
    Decoded& part = *decoded[i];
    SegmentDecoder decoder{part.rows, segments[i].file, clocks[i], {part.rank, communicators, full[i]}};
    part.events = decoder.decode();
    part.gaps.assign(decoder.gaps().begin(), decoder.gaps().end());
    part.quality = part.rows.quality();
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

Result<std::shared_ptr<const Run>> read_recording(const fs::path& path, Texts texts) {
  RS_TRY_VOID(check_folder(path));
  RS_TRY_VOID(refuse_special_files(path));
  RS_TRY_VOID(check_version(path));
  const auto [manifest, paths] = sources_of(path);
  if (paths.empty() && !looks_like_recording(path))
    return fail(ErrorKind::unreadable,
                format("{} is not a recording: it has no {} and no segments", path.string(), manifest_name));
  if (paths.empty()) return no_segments(path);
  OpenSegments opened = open_segments(paths);
  if (opened.segments.empty()) return tl::make_unexpected(opened.refused.front());
  RunBuilder builder{texts};
  for (const Error& refused : opened.refused) count_at(builder, Counter::segments_unreadable, 1, refused.message);
  builder.info().world_size = world_size_of(opened.segments, builder.quality());
  const std::vector<SegmentClock> clocks = make_clocks(opened.segments, builder.info());
  apply_manifest(manifest, texts, builder);
  if (manifest == path) builder.quality().add(Counter::not_gathered, spools_waiting_for(path).size());
  note_running(opened.segments, builder);
  const std::vector<RankEvidence> evidence = evidence_of(opened.segments);
  const std::optional<std::size_t> rank_0 = only_rank(evidence);
  count_unranked(evidence, rank_0, builder.quality());
  auto decoded = decode_all(opened.segments, clocks, texts, rank_0);
  for (std::size_t i = 0; i < decoded.size(); ++i) {
    Decoded& part = *decoded[i];
    builder.absorb(std::move(part.rows), PartProcesses::new_rows);
    const bool watched = is_watched(opened.segments[i]);
    if ((!watched || has_rank(opened.segments[i])) && part.events == 0)
      builder.quality().add(Counter::processes_without_events);
    SegmentLosses{opened.segments[i], part, builder}.count();
    decoded[i].reset();  // half the memory
  }
  count_ranks(opened.segments, builder);
  doubt_device_times(builder);
  return std::move(builder).build().map_error(while_doing(path.string()));
}

}  // namespace rankscope::recording
