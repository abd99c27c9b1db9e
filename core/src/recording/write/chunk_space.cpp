#include "recording/write/chunk_space.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "rankscope/core/format.h"
#include "recording/write/file_space.h"
#include "recording/write/populate.h"

namespace rankscope::recording {
namespace {

constexpr std::uint64_t page_bytes = 4096;  // all extents and chunks that are cut are multiples of it
constexpr std::uint64_t least_extent_bytes = 32 * 1024;
constexpr std::uint64_t most_extent_bytes = 1024 * 1024;
constexpr std::uint32_t least_rest_bytes = 1024;                // of a chunk that is worth handing on
constexpr std::uint64_t most_taken_back_at_once = 1024 * 1024;  // a thread that begins may wait for it

constexpr std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

std::uint64_t extent_bytes_for(std::uint64_t wish) {
  return std::clamp(rounded_up(wish, least_extent_bytes), least_extent_bytes, most_extent_bytes);
}

auto capacity_of(ChunkHeader& chunk) { return std::atomic_ref{chunk.capacity}; }
auto magic_of(ChunkHeader& chunk) { return std::atomic_ref{chunk.magic}; }

/// A chunk of nobody, in bytes that are all zero. Whoever reads the file meanwhile sees it by its magic, the last thing
/// that is written.
ChunkHeader& make_chunk(std::byte* at, std::uint64_t bytes) {
  auto& chunk = *std::launder(reinterpret_cast<ChunkHeader*>(at));
  chunk.thread = free_thread;
  capacity_of(chunk).store(static_cast<std::uint32_t>(bytes - chunk_header_bytes), std::memory_order_relaxed);
  magic_of(chunk).store(chunk_magic, std::memory_order_release);
  return chunk;
}

void mark_full(ChunkHeader& chunk) {
  chunk.state.store(static_cast<std::uint32_t>(ChunkState::full), std::memory_order_release);
}

}  // namespace

ChunkSpace::ChunkSpace(std::filesystem::path path, OwnFile file, std::uint64_t burst_bytes,
                       std::atomic<std::uint64_t>& refused)
    : path_(std::move(path)),
      burst_bytes_(burst_bytes),
      refused_(refused),
      file_(std::move(file)),
      file_bytes_(segment_header_bytes),
      usable_bytes_(burst_bytes) {}

ChunkSpace::~ChunkSpace() {
  find_new_extents();
  for (const Mapped& part : mapped_) munmap(part.extent->memory + part.from, part.to - part.from);
  for (std::unique_ptr<Extent> extent{first_.load()}; extent != nullptr; extent.reset(extent->next.load())) {
  }
}

Result<void> ChunkSpace::begin() {
  const int error = add_extent(std::make_unique<Extent>(), first_file_bytes - segment_header_bytes, true);
  if (error == 0) return {};
  return fail(ErrorKind::cannot_write, format("{} cannot be mapped: {}", path_.string(), std::strerror(error)));
}

/// Programs close descriptors that they do not know, as daemons do: the file is opened again then. -1: it is gone.
int ChunkSpace::writable_file() {
  if (const int file = file_.file(); file >= 0) return file;
  OwnFile again{open(path_.c_str(), O_RDWR | O_CLOEXEC)};
  if (!file_.is_same_as(again.file())) return -1;
  file_ = std::move(again);
  return file_.file();
}

// The blocks are allocated before they are mapped: a full disk is an error here, never a SIGBUS in the program. Returns
// the number of the error, or 0.
int ChunkSpace::map_more(Extent& extent, const PageRun& run, bool is_allocated) {
  const int file = writable_file();
  if (file < 0) return EBADF;
  if (const int error = is_allocated ? 0 : allocate_space(file, run.begin, run.bytes); error != 0) return error;
  void* const memory =
      mmap(nullptr, run.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(run.begin));
  if (memory == MAP_FAILED) return errno;
  make_writable(static_cast<std::byte*>(memory), run.bytes);
  extent.memory = static_cast<std::byte*>(memory);
  extent.begin = run.begin;
  extent.bytes = run.bytes;
  return 0;
}

/// The extent is made before `growing_` is locked: a program may tell events of its allocations.
int ChunkSpace::add_extent(std::unique_ptr<Extent> extent, std::uint64_t bytes, bool is_allocated) {
  if (const int error = map_more(*extent, {file_bytes_, bytes}, is_allocated); error != 0) {
    refused_.fetch_add(1, std::memory_order_relaxed);
    is_full_.store(true, std::memory_order_relaxed);
    return error;
  }
  file_bytes_ += bytes;
  Extent* const before = std::exchange(last_, extent.release());
  (before == nullptr ? first_ : before->next).store(last_, std::memory_order_release);
  if (before == nullptr) current_.store(last_, std::memory_order_release);
  return 0;
}

ChunkHeader* ChunkSpace::take(std::uint32_t payload, std::uint32_t wish, Rests rests) {
  ChunkHeader* offered = rests == Rests::allowed ? take_from(rests_, payload) : nullptr;
  if (offered == nullptr) offered = take_from(emptied_, payload);
  if (offered != nullptr) return offered;
  const std::uint64_t least = chunk_header_bytes + payload;
  const std::uint64_t bytes = std::max<std::uint64_t>(wish, rounded_up(least, page_bytes));
  while (true) {
    Extent& extent = *current_.load(std::memory_order_acquire);
    if (ChunkHeader* const chunk = cut(extent, least, bytes)) return chunk;
    if (!advance(extent) && !grow(bytes)) return nullptr;
  }
}

ChunkHeader* ChunkSpace::cut(Extent& extent, std::uint64_t least, std::uint64_t wish) {
  std::uint64_t at = extent.cut.load(std::memory_order_relaxed);
  std::uint64_t bytes = 0;
  do {
    const std::uint64_t room = extent.bytes - at;
    if (room < least) return nullptr;
    bytes = std::min(wish, room);
  } while (!extent.cut.compare_exchange_weak(at, at + bytes, std::memory_order_acq_rel, std::memory_order_relaxed));
  used_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  return &make_chunk(extent.memory + at, bytes);
}

/// To the next extent; false if there is none.
bool ChunkSpace::advance(Extent& extent) {
  Extent* const next = extent.next.load(std::memory_order_acquire);
  if (next == nullptr) return false;
  leave(extent);
  Extent* expected = &extent;
  current_.compare_exchange_strong(expected, next, std::memory_order_acq_rel);
  return true;
}

/// What was too little for the chunk that is needed may be enough for another one.
void ChunkSpace::leave(Extent& extent) {
  const std::uint64_t at = extent.cut.exchange(extent.bytes, std::memory_order_acq_rel);
  if (at == extent.bytes) return;
  used_bytes_.fetch_add(extent.bytes - at, std::memory_order_relaxed);
  offer(make_chunk(extent.memory + at, extent.bytes - at), rests_);
}

bool ChunkSpace::may_grow() const {
  return !is_full_.load(std::memory_order_relaxed) &&
         used_bytes_.load(std::memory_order_relaxed) < usable_bytes_.load(std::memory_order_relaxed);
}

/// In a thread of the program, for which nothing was ready. False: there is none, and what it has to tell is dropped.
bool ChunkSpace::grow(std::uint64_t least) {
  if (!may_grow()) return false;
  auto extent = std::make_unique<Extent>();  // freed after the lock, if it is not needed
  const Undisturbed undisturbed;
  const std::lock_guard lock(growing_);
  if (current_.load(std::memory_order_acquire)->next.load(std::memory_order_acquire) != nullptr) return true;
  const std::uint64_t wish = used_bytes_.load(std::memory_order_relaxed) / 2;
  return add_extent(std::move(extent), std::max(extent_bytes_for(wish), rounded_up(least, page_bytes)), false) == 0;
}

/// One more of the extents that are kept ready where `used` bytes are used; false if none is missing, or it failed.
bool ChunkSpace::add_ahead(std::unique_ptr<Extent> extent, std::uint64_t used) {
  const std::lock_guard lock(growing_);
  const std::uint64_t target = std::min(burst_bytes_, used / 2);
  const std::uint64_t step = extent_bytes_for(target / 2);
  const std::uint64_t ahead = file_bytes_ - segment_header_bytes - used;
  return ahead + step <= target && add_extent(std::move(extent), step, false) == 0;
}

void ChunkSpace::make_room() {
  const Undisturbed undisturbed;
  is_full_.store(false, std::memory_order_relaxed);
  const std::uint64_t used = used_bytes_.load(std::memory_order_relaxed);
  usable_bytes_.store(used + burst_bytes_, std::memory_order_relaxed);
  while (add_ahead(std::make_unique<Extent>(), used)) {
  }
}

void ChunkSpace::hand_on(ChunkHeader& chunk, std::uint32_t used) {
  const std::uint32_t rest = chunk.capacity - used;
  if (used == 0 || rest < least_rest_bytes) return mark_full(chunk);
  // First the rest becomes a chunk, which nobody sees yet, and then the chunk before it ends there.
  ChunkHeader& handed_on = make_chunk(reinterpret_cast<std::byte*>(&chunk + 1) + used, rest);
  capacity_of(chunk).store(used, std::memory_order_release);
  mark_full(chunk);
  offer(handed_on, rests_);
}

/// False if there is a chunk already.
bool ChunkSpace::put(ChunkHeader& chunk, Offers& offers, Offer& place) {
  const std::uint32_t capacity = chunk.capacity;  // before others can take it
  ChunkHeader* nothing = nullptr;
  if (!place.chunk.compare_exchange_strong(nothing, &chunk, std::memory_order_acq_rel)) return false;
  place.capacity.store(capacity, std::memory_order_relaxed);
  offers.count.fetch_add(1, std::memory_order_release);
  return true;
}

void ChunkSpace::offer(ChunkHeader& chunk, Offers& offers) {
  for (Offer& place : offers.places)
    if (place.chunk.load(std::memory_order_relaxed) == nullptr && put(chunk, offers, place)) return;
  mark_full(chunk);  // so that its extent can be unmapped
}

/// Who looks at a chunk has it: it may be used up and unmapped as soon as another thread has it.
ChunkHeader* ChunkSpace::take_from(Offers& offers, std::uint32_t payload) {
  if (offers.count.load(std::memory_order_acquire) == 0) return nullptr;
  for (Offer& place : offers.places) {
    if (place.chunk.load(std::memory_order_relaxed) == nullptr) continue;
    if (place.capacity.load(std::memory_order_relaxed) < payload) continue;
    ChunkHeader* const chunk = place.chunk.exchange(nullptr, std::memory_order_acq_rel);
    if (chunk == nullptr) continue;
    offers.count.fetch_sub(1, std::memory_order_relaxed);
    if (chunk->capacity >= payload) return chunk;
    if (!put(*chunk, offers, place)) offer(*chunk, offers);
  }
  return nullptr;
}

/// As who hands a run back leaves it: one chunk of nobody, as long as the run.
bool ChunkSpace::is_one_chunk(const Extent& extent) {
  auto& chunk = *std::launder(reinterpret_cast<ChunkHeader*>(extent.memory));
  return magic_of(chunk).load(std::memory_order_acquire) == chunk_magic &&
         std::atomic_ref{chunk.thread}.load(std::memory_order_relaxed) == free_thread &&
         chunk.committed.load(std::memory_order_relaxed) == 0 &&
         chunk.state.load(std::memory_order_relaxed) == static_cast<std::uint32_t>(ChunkState::open) &&
         capacity_of(chunk).load(std::memory_order_relaxed) + chunk_header_bytes == extent.bytes;
}

std::uint64_t ChunkSpace::pieces_of(const PageRun& run) { return std::max<std::uint64_t>(run.bytes / chunk_bytes, 1); }

/// Its one chunk becomes several, from the last to the first, so that whoever reads the file meanwhile always finds
/// whole chunks.
void ChunkSpace::split(const Extent& extent, std::uint64_t pieces) {
  std::uint64_t end = extent.bytes;
  for (std::uint64_t piece = pieces; piece-- > 1; end = piece * chunk_bytes)
    make_chunk(extent.memory + piece * chunk_bytes, end - piece * chunk_bytes);
  auto& first = *std::launder(reinterpret_cast<ChunkHeader*>(extent.memory));
  capacity_of(first).store(static_cast<std::uint32_t>(end - chunk_header_bytes), std::memory_order_release);
}

/// Maps a run for writing. Null: there is no room on the disk. Without memory: nobody left it as it has to be.
std::shared_ptr<ChunkSpace::Extent> ChunkSpace::map_run(const PageRun& run) {
  auto extent = std::make_shared<Extent>();
  {
    const Undisturbed undisturbed;
    const std::lock_guard lock(growing_);
    if (map_more(*extent, run, false) != 0) {
      refused_.fetch_add(1, std::memory_order_relaxed);
      return nullptr;
    }
  }
  if (is_one_chunk(*extent)) return extent;
  munmap(std::exchange(extent->memory, nullptr), run.bytes);
  return extent;
}

ChunkSpace::Mapped ChunkSpace::Mapped::cut_to(std::uint64_t begin, std::uint64_t end) const {
  Mapped rest{extent, begin, end, owner, {}};
  for (const Stretch& stretch : unsealed)
    if (begin <= stretch.from && stretch.to <= end) rest.unsealed.push_back(stretch);
  return rest;
}

/// True for a run that no recorder hands back: there are chunks in it that are not sealed.
bool ChunkSpace::is_in_use(const PageRun& run) {
  find_new_extents();
  return std::ranges::any_of(mapped_, [&run](const Mapped& part) {
    return std::ranges::any_of(part.unsealed, [&](const Stretch& stretch) {
      return part.extent->begin + stretch.from < run.begin + run.bytes && run.begin < part.extent->begin + stretch.to;
    });
  });
}

/// All chunks of the run were sealed, but others of their extents may not be: of those the rest stays mapped, in parts
/// that begin and end with chunks.
void ChunkSpace::unmap_run(const PageRun& run) {
  find_new_extents();
  std::vector<Mapped> rests;
  std::erase_if(mapped_, [&](const Mapped& part) {
    const std::uint64_t begin = part.extent->begin + part.from;
    const std::uint64_t end = part.extent->begin + part.to;
    const std::uint64_t from = std::max(begin, run.begin);
    const std::uint64_t to = std::min(end, run.begin + run.bytes);
    if (from >= to) return false;
    munmap(part.extent->memory + (from - part.extent->begin), to - from);
    if (begin < from) rests.push_back(part.cut_to(part.from, from - part.extent->begin));
    if (to < end) rests.push_back(part.cut_to(to - part.extent->begin, part.to));
    return true;
  });
  mapped_.insert(mapped_.end(), rests.begin(), rests.end());
}

/// Only a run that could be one: within the file, and not in use.
bool ChunkSpace::is_usable(const PageRun& run) {
  constexpr std::uint64_t longest = 64U << 20;
  return run.begin >= segment_header_bytes && run.bytes > 0 && run.bytes <= longest &&
         run.begin + run.bytes <= file_bytes_ && !is_in_use(run);
}

/// No more than threads may write at once, and not much in one call: the rest waits, and can be used for something else
/// meanwhile.
void ChunkSpace::take_back(SegmentHeader& header) {
  const std::uint64_t handed_back = header.handed_back.load(std::memory_order_acquire);
  std::uint64_t taken = header.taken_back.load(std::memory_order_relaxed);
  if (handed_back - taken > most_handed_back) return;  // written by something else
  const std::uint64_t most = std::min<std::uint64_t>(most_offered, burst_bytes_ / chunk_bytes);
  for (std::uint64_t bytes = 0; taken < handed_back && bytes < most_taken_back_at_once; ++taken) {
    const PageRun run = unpacked_run(header.runs[taken % most_handed_back].load(std::memory_order_relaxed));
    if (!is_usable(run)) {
      header.taken_back.store(taken + 1, std::memory_order_release);
      continue;
    }
    const std::uint64_t offered = emptied_.count.load(std::memory_order_relaxed);
    const std::uint64_t pieces = pieces_of(run);
    if (offered > 0 && offered + pieces > most) return;
    const auto extent = map_run(run);
    if (extent == nullptr) return;
    bytes += run.bytes;
    if (extent->memory != nullptr) {
      unmap_run(run);
      extent->cut.store(run.bytes, std::memory_order_relaxed);
      split(*extent, pieces);
      mapped_.push_back({extent.get(), 0, run.bytes, extent, {{0, run.bytes}}});
    }
    // Before anybody writes to it: whoever follows the file looks for chunks in runs that were taken back.
    header.taken_back.store(taken + 1, std::memory_order_release);
    for (std::uint64_t piece = 0; extent->memory != nullptr && piece < pieces; ++piece)
      offer(*std::launder(reinterpret_cast<ChunkHeader*>(extent->memory + piece * chunk_bytes)), emptied_);
  }
}

/// Those that were added since the last time.
void ChunkSpace::find_new_extents() {
  std::atomic<Extent*>* next = newest_ == nullptr ? &first_ : &newest_->next;
  while (Extent* const found = next->load(std::memory_order_acquire)) {
    mapped_.push_back({found, 0, found->bytes, nullptr, {{0, found->bytes}}});
    newest_ = found;
    next = &found->next;
  }
}

// Nobody has a pointer into a sealed chunk any more; what is in it is the page cache's.
void ChunkSpace::seal_full_chunks() {
  find_new_extents();
  std::erase_if(mapped_, [](Mapped& part) {
    const std::uint64_t cut = part.extent->cut.load(std::memory_order_acquire);
    std::vector<Stretch> rest;
    for (const Stretch& stretch : part.unsealed) seal_stretch(part.extent->memory, stretch, cut, rest);
    part.unsealed = std::move(rest);
    if (!part.unsealed.empty()) return false;
    munmap(part.extent->memory + part.from, part.to - part.from);
    return true;
  });
}

}  // namespace rankscope::recording
