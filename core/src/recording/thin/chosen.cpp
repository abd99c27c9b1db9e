#include "recording/thin/chosen.h"

#include <algorithm>
#include <span>
#include <utility>

namespace rankscope::recording {
namespace {

constexpr std::uint64_t longest_run = 1ULL << 20;  // a process takes back no more at once than it may write

/// The oldest, at least one of them; in the order of the file.
void keep_to(std::uint64_t budget, Chosen& chosen) {
  std::ranges::stable_sort(chosen.runs, {}, &ChosenRun::seen);
  std::uint64_t bytes = 0;
  const auto beyond = std::ranges::find_if(chosen.runs, [&](const ChosenRun& one) {
    const bool is_too_much = bytes >= budget;
    bytes += one.run.bytes;
    return is_too_much;
  });
  chosen.is_all = beyond == chosen.runs.end();
  chosen.runs.erase(beyond, chosen.runs.end());
  std::ranges::sort(chosen.runs, {}, [](const ChosenRun& one) { return one.run.begin; });
}

bool begins_page(std::uint64_t offset) { return offset % run_page_bytes == 0; }

/// Of chunks that follow on one another: the longest part that begins and ends with a page.
void add_run(Chosen& chosen, std::span<const std::pair<std::uint64_t, ReadChunk>> group) {
  const auto end_of = [](const auto& entry) { return entry.first + entry.second.bytes; };
  while (!group.empty() && !begins_page(group.front().first)) group = group.subspan(1);
  while (!group.empty() && !begins_page(end_of(group.back()))) group = group.first(group.size() - 1);
  if (group.empty()) return;
  ChosenRun& added =
      chosen.runs.emplace_back(ChosenRun{{group.front().first, end_of(group.back()) - group.front().first}});
  for (const auto& [offset, chunk] : group) {
    added.chunks.push_back(offset);
    added.seen = std::max(added.seen, chunk.seen);
  }
}

/// A chunk that its process has not sealed yet would be sealed later, over what stands there then.
bool may_go(std::uint64_t offset, const ReadChunk& chunk, const Wanted& wanted, const ChunkFile& file) {
  if (chunk.seen > wanted.until) return false;
  const auto header = file.header(offset);
  const bool is_same = header && header->thread == chunk.thread &&
                       (chunk.thread == free_thread || header->sequence == chunk.sequence) &&
                       header->capacity + chunk_header_bytes == chunk.bytes;
  return is_same && (wanted.process_ended || header->state == static_cast<std::uint32_t>(ChunkState::sealed));
}

}  // namespace

Chosen choose(ReadChunks& read, const Wanted& wanted, const ChunkFile& file) {
  Chosen chosen;
  std::vector<std::pair<std::uint64_t, ReadChunk>> group;
  for (auto& [offset, chunk] : read) {
    const bool goes = may_go(offset, chunk, wanted, file);
    chunk.is_in_use = chunk.seen <= wanted.until;
    const bool follows = !group.empty() && group.back().first + group.back().second.bytes == offset;
    const bool is_long = !group.empty() && offset - group.front().first >= longest_run && begins_page(offset);
    if (!group.empty() && (!follows || is_long || !goes)) {
      add_run(chosen, group);
      group.clear();
    }
    if (goes) group.emplace_back(offset, chunk);
  }
  add_run(chosen, group);
  for (const std::uint64_t offset : chosen.chunks()) read.at(offset).is_in_use = false;
  keep_to(wanted.budget, chosen);
  return chosen;
}

}  // namespace rankscope::recording
