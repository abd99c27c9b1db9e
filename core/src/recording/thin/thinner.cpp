#include "rankscope/core/recording/thinner.h"

#include <sys/stat.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

#include "rankscope/core/format.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/segment_writer.h"
#include "recording/live/decoder.h"
#include "recording/live/segment.h"
#include "recording/thin/chunk_facts.h"
#include "recording/thin/chunk_file.h"

namespace rankscope::recording {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kept_steps = 5;  // the latest, whatever their age: fewer are too few to compare ranks
constexpr double facts_apart_ns = 10e9;
constexpr std::uint64_t longest_run = 1ULL << 20;  // a process takes back no more at once than it may write
constexpr std::uint32_t sums_ring_kib = 64;

HostTime host_now() { return HostTime{nanoseconds{static_cast<std::int64_t>(TickClock::now_monotonic())}}; }

std::optional<ino_t> inode_of(const fs::path& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 ? std::optional{facts.st_ino} : std::nullopt;
}

/// A chunk to which nothing is written any more.
struct ReadChunk {
  std::uint64_t bytes = 0;
  std::uint32_t thread = 0;
  std::uint32_t sequence = 0;
  HostTime seen{};
};

struct SummedStep {
  HostTime end{};
  std::uint64_t end_ticks = 0;
};

/// What is given up at once, of one segment.
struct Chosen {
  std::vector<PageRun> runs;
  std::vector<std::uint64_t> chunks;  // offsets, in the runs
};

bool begins_page(std::uint64_t offset) { return offset % run_page_bytes == 0; }

}  // namespace

struct Thinner::State {
  State(fs::path segment, const LiveLimits& of_steps)
      : path(std::move(segment)), limits(of_steps), live(path), inode(inode_of(path)) {}

  fs::path path;
  LiveLimits limits;
  LiveSegment live;
  std::optional<ino_t> inode;
  std::optional<LiveDecoder> decoder{};
  std::map<std::uint64_t, ReadChunk> read{};  // by offset
  std::deque<SummedStep> windows{};           // of steps whose sums are stored and that were not given up
  std::vector<PageRun> waiting{};             // for a place in the ring
  std::unique_ptr<SegmentWriter> sums{};
  std::unique_ptr<ThreadWriter> pen{};  // declared after the file that it writes to
  std::optional<ChunkFacts> facts{};
  bool failed = false;  // the file for the sums cannot be made
  bool ended = false;   // the process seals no chunk any more, and takes none back

  [[nodiscard]] std::uint64_t ticks_at(HostTime time) const;
  [[nodiscard]] std::optional<SummedStep> cut(HostTime until, Steps steps);
  [[nodiscard]] Chosen choose(HostTime cut, const ChunkFile& file) const;
  [[nodiscard]] bool may_go(std::uint64_t offset, const ReadChunk& chunk, HostTime cut, const ChunkFile& file) const;
  void add_run(Chosen& chosen, std::span<const std::pair<std::uint64_t, ReadChunk>> group) const;
  Result<void> open_sums();
  void store(const std::vector<SettledStep>& steps);
  Result<std::uint64_t> keep_facts(const ChunkFile& file, const Chosen& chosen, std::uint64_t cut_ticks);
  void hand_back(ChunkFile& file, std::vector<PageRun> runs);
};

/// Linear between the first reading of the clocks and now.
std::uint64_t Thinner::State::ticks_at(HostTime time) const {
  const SegmentStatic& fixed = *live.fixed();
  const std::int64_t since = time.time_since_epoch().count() - fixed.first_pair.monotonic_ns;
  const TickClock clock = TickClock::detect();
  double ticks_per_ns = fixed.ticks_per_ns;
  const ClockPair now = clock.pair();
  if (clock.source() == fixed.clock && now.monotonic_ns > fixed.first_pair.monotonic_ns)
    ticks_per_ns = static_cast<double>(now.ticks - fixed.first_pair.ticks) /
                   static_cast<double>(now.monotonic_ns - fixed.first_pair.monotonic_ns);
  return fixed.first_pair.ticks + static_cast<std::uint64_t>(std::max(0.0, static_cast<double>(since) * ticks_per_ns));
}

/// Up to which moment events are given up; nothing if there is none before `until`.
std::optional<SummedStep> Thinner::State::cut(HostTime until, Steps steps) {
  const bool has_steps = decoder && decoder->has_steps();
  std::optional<SummedStep> found;
  if (has_steps && windows.size() > kept_steps) {
    const auto last = windows.end() - static_cast<std::ptrdiff_t>(kept_steps);
    for (auto window = windows.begin(); window != last && window->end <= until; ++window) found = *window;
  }
  const bool may_tear = !has_steps || steps == Steps::any;
  if (!found && may_tear) found = SummedStep{until, ticks_at(until)};
  return found;
}

/// Of chunks that follow on one another: the longest part that begins and ends with a page.
void Thinner::State::add_run(Chosen& chosen, std::span<const std::pair<std::uint64_t, ReadChunk>> group) const {
  const auto end_of = [](const auto& entry) { return entry.first + entry.second.bytes; };
  while (!group.empty() && !begins_page(group.front().first)) group = group.subspan(1);
  while (!group.empty() && !begins_page(end_of(group.back()))) group = group.first(group.size() - 1);
  if (group.empty()) return;
  chosen.runs.push_back({group.front().first, end_of(group.back()) - group.front().first});
  for (const auto& [offset, chunk] : group) chosen.chunks.push_back(offset);
}

/// A chunk that its process has not sealed yet would be sealed later, over what stands there then.
bool Thinner::State::may_go(std::uint64_t offset, const ReadChunk& chunk, HostTime cut, const ChunkFile& file) const {
  if (chunk.seen > cut) return false;
  const auto header = file.header(offset);
  const bool is_same = header && header->thread == chunk.thread &&
                       (chunk.thread == free_thread || header->sequence == chunk.sequence) &&
                       header->capacity + chunk_header_bytes == chunk.bytes;
  return is_same && (ended || header->state == static_cast<std::uint32_t>(ChunkState::sealed));
}

Chosen Thinner::State::choose(HostTime cut, const ChunkFile& file) const {
  Chosen chosen;
  std::vector<std::pair<std::uint64_t, ReadChunk>> group;
  for (const auto& [offset, chunk] : read) {
    const bool goes = may_go(offset, chunk, cut, file);
    const bool follows = !group.empty() && group.back().first + group.back().second.bytes == offset;
    const bool is_long = !group.empty() && offset - group.front().first >= longest_run && begins_page(offset);
    if (!group.empty() && (!follows || is_long || !goes)) {
      add_run(chosen, group);
      group.clear();
    }
    if (goes) group.emplace_back(offset, chunk);
  }
  add_run(chosen, group);
  return chosen;
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
  facts.emplace(*pen, static_cast<std::uint64_t>(facts_apart_ns * fixed.ticks_per_ns));
  return {};
}

/// Without a file for them, no step is ever given up.
void Thinner::State::store(const std::vector<SettledStep>& steps) {
  if (steps.empty() || failed) return;
  failed = !open_sums();
  if (failed) return;
  for (const SettledStep& step : steps) {
    pen->step_sums(static_cast<SpanKind>(step.sums.kind), step.sums.name, step.sums.fields);
    windows.push_back({step.end, step.sums.fields.window_end});
  }
  sums->refill();
}

/// Stores what stands for the chunks, and that they are given up. Returns the number of events in them.
Result<std::uint64_t> Thinner::State::keep_facts(const ChunkFile& file, const Chosen& chosen, std::uint64_t cut_ticks) {
  RS_TRY_VOID(open_sums());
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>> of_threads;  // thread, sequence, offset
  for (const std::uint64_t offset : chosen.chunks)
    if (const ReadChunk& chunk = read.at(offset); chunk.thread != free_thread)
      of_threads.emplace_back(chunk.thread, chunk.sequence, offset);
  std::ranges::sort(of_threads);
  const std::uint64_t dropped = sums->header().events_dropped.load(std::memory_order_relaxed);
  std::uint64_t all_events = 0;
  ThinnedFields fields{};
  const auto write = [&] {
    if (fields.chunks > 0) pen->thinned(fields);
  };
  for (const auto& [thread, sequence, offset] : of_threads) {
    const auto header = file.header(offset);
    const auto payload = header ? file.payload(offset, header->committed) : std::nullopt;
    if (!payload) return fail(ErrorKind::cannot_write, format("cannot read {}", path.string()));
    const std::uint64_t events = facts->copy(*payload, header->os_thread);
    if (fields.chunks == 0 || fields.thread != thread || fields.first_sequence + fields.chunks != sequence) {
      write();
      fields = {
          .thread = thread, .first_sequence = sequence, .chunks = 0, .reserved = 0, .events = 0, .cut = cut_ticks};
    }
    ++fields.chunks;
    fields.events += events;
    all_events += events;
    sums->refill();
  }
  write();
  sums->refill();
  if (sums->header().events_dropped.load(std::memory_order_relaxed) == dropped) return all_events;
  return fail(ErrorKind::cannot_write, format("cannot write {}: the disk is full", sums->path().string()));
}

/// What finds no place in the ring waits for one. The file keeps its length, but not the blocks of the runs.
void Thinner::State::hand_back(ChunkFile& file, std::vector<PageRun> runs) {
  runs.insert(runs.begin(), waiting.begin(), waiting.end());
  auto next = runs.begin();
  while (next != runs.end() && file.hand_back(*next)) ++next;
  waiting.assign(next, runs.end());
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
  const HostTime now = host_now();
  for (const LiveChunk& chunk : state.live.ended())
    state.read.insert_or_assign(chunk.offset, ReadChunk{chunk.bytes, chunk.thread, chunk.sequence, now});
  if (!state.decoder) return state.live.taken();
  state.decoder->settle();
  state.store(state.decoder->take_settled());
  return state.live.taken();
}

void Thinner::note_end() { state_->ended = true; }

bool Thinner::is_there() const { return state_->inode && inode_of(state_->path) == state_->inode; }

void Thinner::add_old(std::vector<Old>& all) const {
  for (const auto& [offset, chunk] : state_->read) all.push_back({chunk.seen, chunk.bytes});
}

Result<Thinner::GivenUp> Thinner::give_up(HostTime until, Steps steps) {
  State& state = *state_;
  if (!state.live.fixed() || state.live.damaged() || !is_there()) return GivenUp{};
  const auto cut = state.cut(until, steps);
  if (!cut) return GivenUp{};
  const bool any_old =
      std::ranges::any_of(state.read, [&](const auto& entry) { return entry.second.seen <= cut->end; });
  if (!any_old && (state.waiting.empty() || state.ended)) return GivenUp{};
  RS_TRY(ChunkFile file, ChunkFile::open(state.path));
  Chosen chosen = state.choose(cut->end, file);
  if (chosen.runs.empty() && state.waiting.empty()) return GivenUp{};
  RS_TRY(const std::uint64_t events, state.keep_facts(file, chosen, cut->end_ticks));
  GivenUp given{.bytes = 0, .events = events};
  for (const PageRun& run : chosen.runs) {
    if (!file.empty(run)) return fail(ErrorKind::cannot_write, format("cannot write {}", state.path.string()));
    given.bytes += run.bytes;
  }
  for (const std::uint64_t offset : chosen.chunks) state.read.erase(offset);
  std::erase_if(state.windows, [&](const SummedStep& window) { return window.end <= cut->end; });
  if (!state.ended) state.hand_back(file, std::move(chosen.runs));
  return given;
}

}  // namespace rankscope::recording
