#include "rankscope/core/recording/thinner.h"

#include <sys/stat.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

#include "rankscope/core/format.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/segment_writer.h"
#include "recording/decode/chunk_ticks.h"
#include "recording/live/decoder.h"
#include "recording/live/segment.h"
#include "recording/thin/chosen.h"
#include "recording/thin/chunk_facts.h"
#include "recording/thin/chunk_file.h"

namespace rankscope::recording {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kept_steps = 5;  // the latest, whatever their age: fewer are too few to compare ranks
constexpr double facts_apart_ns = 10e9;
constexpr nanoseconds clocks_apart{1'000'000'000};  // less is how exactly clocks are compared
constexpr std::uint32_t sums_ring_kib = 64;
constexpr std::uint64_t steps_per_refill = 64;  // some KiB

HostTime host_now() { return HostTime{nanoseconds{static_cast<std::int64_t>(TickClock::now_monotonic())}}; }

std::optional<ino_t> inode_of(const fs::path& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 ? std::optional{facts.st_ino} : std::nullopt;
}

struct EndedStep {
  HostTime begin{};
  HostTime end{};
  std::uint64_t end_ticks = 0;
  bool has_sums = true;
};

/// Up to which moment events are given up.
struct Cut {
  HostTime time{};
  std::uint64_t step_end_ticks = 0;  ///< of whole steps
  bool tears_steps = false;          ///< apart, or gives up some that have no sums
};

}  // namespace

struct Thinner::State {
  State(fs::path segment, const LiveLimits& of_steps)
      : path(std::move(segment)), limits(of_steps), live(path, Follower::its_recorder), inode(inode_of(path)) {}

  fs::path path;
  LiveLimits limits;
  LiveSegment live;
  std::optional<ino_t> inode;
  std::optional<LiveDecoder> decoder{};
  ReadChunks read{};
  std::deque<EndedStep> windows{};  // of settled steps that were not given up
  std::deque<PageRun> listed{};     // as given up, and not emptied yet
  std::vector<PageRun> waiting{};   // for a place in the ring
  std::unique_ptr<SegmentWriter> sums{};
  std::unique_ptr<ThreadWriter> pen{};  // declared after the file that it writes to
  std::optional<ChunkFacts> facts{};
  std::uint64_t stored = 0;  // sums
  bool ended = false;        // the process seals no chunk any more, and takes none back
  bool has_given_up = false;

  [[nodiscard]] std::uint64_t ticks_at(HostTime time) const;
  [[nodiscard]] ReadChunk read_now(const LiveChunk& chunk) const;
  [[nodiscard]] std::uint64_t cut_ticks(const Cut& cut, std::span<const std::uint64_t> offsets) const;
  [[nodiscard]] std::optional<Cut> cut(HostTime until, Steps steps);
  [[nodiscard]] Cut torn_cut(HostTime until);
  Result<void> open_sums();
  void store(const std::vector<SettledStep>& steps);
  [[nodiscard]] bool is_stored(std::uint64_t dropped_before);
  [[nodiscard]] std::uint64_t dropped() const;
  [[nodiscard]] tl::unexpected<Error> no_space() const;
  Result<void> keep_facts(const ChunkFile& file, std::span<const std::uint64_t> offsets);
  Result<std::uint64_t> list(std::span<const std::uint64_t> offsets, const Cut& cut);
  Result<std::uint64_t> empty_listed(ChunkFile& file);
  void hand_back(ChunkFile& file);
  void note_listed(const Chosen& chosen);
  [[nodiscard]] std::vector<std::uint64_t> by_thread(std::span<const std::uint64_t> offsets) const;
};

/// Linear, from now if the process counts the ticks that we count. Its clock may be another one than ours (in a
/// container with a time namespace): then its own rate is used.
std::uint64_t Thinner::State::ticks_at(HostTime time) const {
  const SegmentStatic& fixed = *live.fixed();
  const TickClock clock = TickClock::detect();
  const ClockPair from = clock.source() == fixed.clock ? clock.pair() : fixed.first_pair;
  const auto since_start = static_cast<double>(from.ticks - fixed.first_pair.ticks);
  const double measured = since_start / static_cast<double>(from.monotonic_ns - fixed.first_pair.monotonic_ns);
  const bool is_likely = measured > 0.999 * fixed.ticks_per_ns && measured < 1.001 * fixed.ticks_per_ns;
  const double ticks_per_ns = is_likely ? measured : fixed.ticks_per_ns;
  const auto later_ns = static_cast<double>(time.time_since_epoch().count() - from.monotonic_ns);
  return fixed.first_pair.ticks + static_cast<std::uint64_t>(std::max(0.0, since_start + later_ns * ticks_per_ns));
}

/// What was read up to now.
ReadChunk Thinner::State::read_now(const LiveChunk& chunk) const {
  ReadChunk now{.bytes = chunk.bytes, .thread = chunk.thread, .sequence = chunk.sequence, .seen = host_now()};
  const TickClock clock = TickClock::detect();
  if (!decoder || clock.source() != live.fixed()->clock) return now;
  now.seen_ticks = clock.now();
  const HostTime own = decoder->time_at(now.seen_ticks);
  const bool is_same_clock = own < now.seen + clocks_apart && now.seen < own + clocks_apart;
  if (!is_same_clock) now.seen = own;
  return now;
}

/// Never before an event that is given up. Where no whole steps are, also not later, so that what is still there of the
/// time after it is used.
std::uint64_t Thinner::State::cut_ticks(const Cut& cut, std::span<const std::uint64_t> offsets) const {
  std::uint64_t ticks = cut.step_end_ticks;
  for (const std::uint64_t offset : offsets) {
    const ReadChunk& chunk = read.at(offset);
    const std::uint64_t seen = chunk.seen_ticks != 0 ? chunk.seen_ticks : ticks_at(cut.time);
    ticks = std::max(ticks, chunk.last_ticks != 0 ? chunk.last_ticks + 1 : seen);
  }
  return ticks;
}

/// Nothing if there is none before `until`. A step without sums is a barrier.
std::optional<Cut> Thinner::State::cut(HostTime until, Steps steps) {
  if (!decoder || !decoder->has_steps()) return Cut{until};
  if (steps == Steps::any) return torn_cut(until);
  std::optional<Cut> found;
  if (windows.size() <= kept_steps) return found;
  const auto last = windows.end() - static_cast<std::ptrdiff_t>(kept_steps);
  for (auto window = windows.begin(); window != last && window->end <= until && window->has_sums; ++window)
    found = Cut{window->end, window->end_ticks};
  return found;
}

Cut Thinner::State::torn_cut(HostTime until) {
  decoder->settle_last(live.waiting());
  store(decoder->take_settled());
  const bool lacks_sums = std::ranges::any_of(
      windows, [until](const EndedStep& window) { return !window.has_sums && window.begin < until; });
  return {until, 0, lacks_sums || decoder->has_unsettled(until)};
}

Result<void> Thinner::State::open_sums() {
  if (sums != nullptr) return {};
  const fs::path file = sums_of(path);
  std::error_code error;
  fs::create_directory(file.parent_path(), error);
  const SegmentStatic& fixed = *live.fixed();
  RS_TRY(sums, SegmentWriter::create({.path = file,
                                      .ring_kib = sums_ring_kib,
                                      .rank_source = watched_source,
                                      .watched_pid = fixed.pid,
                                      .begun = fixed.first_pair}));
  pen = sums->thread();
  facts.emplace(*sums, *pen, static_cast<std::uint64_t>(facts_apart_ns * fixed.ticks_per_ns));
  return {};
}

std::uint64_t Thinner::State::dropped() const { return sums->header().events_dropped.load(std::memory_order_relaxed); }

tl::unexpected<Error> Thinner::State::no_space() const {
  return fail(ErrorKind::cannot_write, format("cannot write {}: no space could be allocated", sums->path().string()));
}

/// Whether all that was written since then has found its place.
bool Thinner::State::is_stored(std::uint64_t dropped_before) {
  sums->refill();
  return dropped() == dropped_before;
}

/// Without a file for them no step has sums; it is tried again with the next ones.
void Thinner::State::store(const std::vector<SettledStep>& steps) {
  if (steps.empty()) return;
  const bool has_file = open_sums().has_value();
  for (const SettledStep& step : steps) {
    bool has_sums = has_file && step.has_sums;
    if (has_sums) {
      const std::uint64_t before = dropped();
      pen->step_sums(static_cast<SpanKind>(step.sums.kind), step.sums.name, step.sums.fields);
      has_sums = dropped() == before;
      if (++stored % steps_per_refill == 0) sums->refill();
    }
    windows.push_back({step.begin, step.end, step.sums.fields.window_end, has_sums});
  }
  if (has_file) sums->refill();
}

/// Stores what stands for the chunks, of each thread in their order. What is stored once is not stored again.
Result<void> Thinner::State::keep_facts(const ChunkFile& file, std::span<const std::uint64_t> offsets) {
  const std::uint64_t before = dropped();
  for (const std::uint64_t offset : offsets) {
    ReadChunk& chunk = read.at(offset);
    if (chunk.events) continue;
    const auto header = file.header(offset);
    const auto payload = header ? file.payload(offset, header->committed) : std::nullopt;
    if (!payload) return fail(ErrorKind::cannot_write, format("cannot read {}", path.string()));
    const std::uint64_t events = facts->copy(*payload, header->os_thread);
    if (!is_stored(before)) break;
    chunk.events = events;
    if (const auto ticks = ticks_of(Chunk{.payload = *payload})) chunk.last_ticks = ticks->last;
  }
  facts->finish([this](std::string_view communicator, std::uint64_t ticks) {
    return !decoder || decoder->is_last_of_library(communicator, ticks);
  });
  if (is_stored(before)) return {};
  return no_space();
}

/// Without chunks of nobody.
std::vector<std::uint64_t> Thinner::State::by_thread(std::span<const std::uint64_t> offsets) const {
  std::vector<std::uint64_t> sorted;
  for (const std::uint64_t offset : offsets)
    if (read.at(offset).thread != free_thread) sorted.push_back(offset);
  std::ranges::sort(sorted, {}, [this](std::uint64_t offset) {
    return std::pair{read.at(offset).thread, read.at(offset).sequence};
  });
  return sorted;
}

/// Stores that the chunks are given up. Returns the number of events in them.
Result<std::uint64_t> Thinner::State::list(std::span<const std::uint64_t> offsets, const Cut& cut) {
  std::uint64_t all_events = 0;
  const std::uint64_t ticks = cut_ticks(cut, offsets);
  for (auto first = offsets.begin(); first != offsets.end();) {
    const ReadChunk& begin = read.at(*first);
    ThinnedFields fields{.thread = begin.thread,
                         .first_sequence = begin.sequence,
                         .chunks = 0,
                         .without_sums = cut.tears_steps ? 1U : 0U,
                         .events = 0,
                         .cut = ticks};
    auto last = first;
    for (; last != offsets.end(); ++last) {
      const ReadChunk& chunk = read.at(*last);
      const bool follows = chunk.thread == fields.thread && chunk.sequence == fields.first_sequence + fields.chunks;
      if (chunk.is_listed || !follows) break;
      ++fields.chunks;
      fields.events += chunk.events.value_or(0);
    }
    const std::uint64_t before = dropped();
    if (fields.chunks > 0) pen->thinned(fields);
    if (!is_stored(before)) return no_space();
    if (fields.chunks == 0) ++last;  // it is listed already
    for (; first != last; ++first) read.at(*first).is_listed = true;
    all_events += fields.events;
  }
  return all_events;
}

/// From now on they are no chunks of their own.
void Thinner::State::note_listed(const Chosen& chosen) {
  has_given_up = true;
  for (const auto& [run, chunks, seen] : chosen.runs) {
    read.erase(read.lower_bound(run.begin), read.lower_bound(run.begin + run.bytes));
    listed.push_back(run);
  }
}

/// Returns how many bytes it freed. A run that cannot be emptied is tried again before others: no reader uses what is
/// in it, and no chunk in it could be chosen any more.
Result<std::uint64_t> Thinner::State::empty_listed(ChunkFile& file) {
  std::uint64_t bytes = 0;
  while (!listed.empty()) {
    const PageRun run = listed.front();
    if (!file.empty(run)) return fail(ErrorKind::cannot_write, format("cannot write {}", path.string()));
    listed.pop_front();
    if (!ended) waiting.push_back(run);
    bytes += run.bytes;
  }
  return bytes;
}

/// What finds no place in the ring waits for one. The file keeps its length, but not the blocks of the runs.
void Thinner::State::hand_back(ChunkFile& file) {
  if (ended) return;
  auto next = waiting.begin();
  while (next != waiting.end() && file.hand_back(*next)) ++next;
  waiting.erase(waiting.begin(), next);
}

LiveLimits Thinner::usual_limits() { return {.steps = 1U << 14, .values = 2, .stretches = 1U << 20}; }

Thinner::Thinner(fs::path segment, const LiveLimits& limits)
    : state_(std::make_unique<State>(std::move(segment), limits)) {}
Thinner::Thinner(Thinner&&) noexcept = default;
Thinner& Thinner::operator=(Thinner&&) noexcept = default;
Thinner::~Thinner() = default;

std::uint64_t Thinner::follow(std::uint64_t budget) {
  State& state = *state_;
  const bool is_readable = state.live.poll(budget, [&state](const LivePiece& piece) {
    if (!state.decoder) state.decoder.emplace(*state.live.fixed(), state.limits, StepLength::to_the_next);
    state.decoder->take(piece);
  });
  if (!is_readable) return 0;
  for (const LiveChunk& chunk : state.live.ended()) state.read.insert_or_assign(chunk.offset, state.read_now(chunk));
  if (state.ended && state.live.behind() == 0) state.live.close_file();
  if (!state.decoder) return state.live.taken();
  state.decoder->settle(state.live.waiting());
  state.store(state.decoder->take_settled());
  return state.live.taken();
}

std::uint64_t Thinner::behind() const { return state_->live.behind(); }

void Thinner::note_end() { state_->ended = true; }

bool Thinner::is_there() const { return state_->inode && inode_of(state_->path) == state_->inode; }

void Thinner::add_old(std::vector<Old>& all) const {
  for (const auto& [offset, chunk] : state_->read)
    if (!chunk.is_in_use) all.push_back({chunk.seen, chunk.bytes});
}

bool Thinner::has_given_up() const { return state_->has_given_up; }

Result<Thinner::GivenUp> Thinner::give_up(HostTime until, Steps steps, std::uint64_t budget) {
  State& state = *state_;
  if (!state.live.fixed() || !is_there()) return GivenUp{};
  if (state.live.damaged())
    return fail(ErrorKind::unreadable, format("{} is damaged and cannot be read further", state.path.string()));
  auto cut = state.cut(until, steps);
  const bool any_old =
      cut && std::ranges::any_of(state.read, [&](const auto& entry) { return entry.second.seen <= cut->time; });
  if (!any_old && state.listed.empty() && (state.waiting.empty() || state.ended)) return GivenUp{};
  RS_TRY(ChunkFile file, ChunkFile::open(state.path));
  GivenUp given;
  RS_TRY(given.bytes, state.empty_listed(file));
  const Chosen chosen = any_old ? choose(state.read, {cut->time, budget, state.ended}, file) : Chosen{};
  if (!chosen.runs.empty()) {
    RS_TRY_VOID(state.open_sums());
    const std::vector<std::uint64_t> offsets = state.by_thread(chosen.chunks());
    RS_TRY_VOID(state.keep_facts(file, offsets));
    RS_TRY(given.events, state.list(offsets, *cut));
    given.is_all = chosen.is_all;
    state.note_listed(chosen);
    RS_TRY(const std::uint64_t bytes, state.empty_listed(file));
    given.bytes += bytes;
  }
  state.hand_back(file);
  if (!chosen.runs.empty() && chosen.is_all)
    std::erase_if(state.windows, [&](const EndedStep& window) { return window.end <= cut->time; });
  return given;
}

}  // namespace rankscope::recording
