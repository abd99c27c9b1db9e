#include "watcher.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "rankscope/core/numbers.h"
#include "rankscope/core/recording/manifest.h"
#include "spool/segment_names.h"

namespace rankscope::collectors {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::milliseconds worth_watching{1000};
constexpr std::uint32_t small_ring_kib = 64;

std::string children_of(pid_t process) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/task/%d/children", static_cast<int>(process),
                static_cast<int>(process));
  std::array<char, 65536> buffer;
  return std::string{ProcFile{path.data()}.read(buffer)};
}

void add_children(pid_t process, std::vector<pid_t>& found) {
  const std::string text = children_of(process);
  for (std::string_view rest = text; !rest.empty();) {
    if (const auto child = take_number<pid_t>(rest)) found.push_back(*child);
    rest.remove_prefix(std::min<std::size_t>(rest.size(), 1));  // a blank
  }
}

}  // namespace

// A process forked by another than the main thread stands in that thread's list only; main threads fork in practice,
// and orphans come to us, as we are their subreaper.
std::vector<pid_t> descendants_of(pid_t process) {
  std::vector<pid_t> found;
  add_children(process, found);
  for (std::size_t i = 0; i < found.size(); ++i) add_children(found[i], found);
  return found;
}

Watcher::Watcher(fs::path spool, pid_t command)
    : spool_(std::move(spool)), folder_(spool_ / recording::outside_folder), command_(command) {
  std::error_code ignored;
  fs::create_directory(folder_, ignored);
}

void Watcher::read_segments() {
  std::error_code error;
  for (fs::directory_iterator entry{spool_, error}, end; !error && entry != end; entry.increment(error)) {
    if (const auto process = process_of_segment(entry->path().filename().string())) recorded_.insert(*process);
  }
}

bool Watcher::old_enough(const ProcessKey& key) const {
  return std::chrono::steady_clock::now() - first_seen_.at(key) >= worth_watching;
}

void Watcher::sample() {
  read_segments();
  const auto now = std::chrono::steady_clock::now();
  for (const pid_t process : descendants_of(getpid())) {
    const ProcessKey key{process, start_of(process)};
    if (key.start == 0 || recorded_.contains(process) || watched_.contains(key) || refused_.contains(key)) continue;
    first_seen_.try_emplace(key, now);
    watch(key);
  }
  for (auto entry = watched_.begin(); entry != watched_.end();)
    entry = sample(entry->first, entry->second) ? std::next(entry) : watched_.erase(entry);
}

void Watcher::watch(const ProcessKey& key) {
  if (watched_.size() >= most_watched) {
    if (old_enough(key)) refused_.insert(key);  // else there may be room for it yet
    return;
  }
  const Pressure pressure = key.pid == command_ ? Pressure::sample : Pressure::skip;
  watched_.emplace(key, Watched{.sampler = HostSampler{key.pid, pressure}, .begun = clock_.pair()});
}

bool Watcher::sample(const ProcessKey& key, Watched& watched) {
  const bool has_segment = watched.segment != nullptr;
  if (recorded_.contains(key.pid)) return has_segment;  // finish() removes that
  const std::span<const HostSample> values = watched.sampler.sample();
  if (values.empty()) return has_segment;
  const std::uint64_t now = clock_.now();
  if (!has_segment && !old_enough(key)) {
    for (const HostSample& value : values) watched.early.push_back({value.name, value.value, now});
    return true;
  }
  if (!has_segment && !make_segment(key, watched)) {
    refused_.insert(key);
    return false;
  }
  for (const HostSample& value : values) watched.pen->counter(value.name, value.value, now);
  watched.pen->clock_pair();
  ++watched.samples;
  watched.segment->refill();
  return true;
}

bool Watcher::make_segment(const ProcessKey& key, Watched& watched) {
  recording::SegmentOptions options;
  options.path = folder_ / (host_name() + "-" + std::to_string(key.pid) + "-" + std::to_string(key.start) +
                            recording::segment_suffix);
  options.ring_kib = small_ring_kib;
  options.rank_source = recording::watched_source;
  options.watched_pid = key.pid;
  options.begun = watched.begun;
  auto segment = recording::SegmentWriter::create(options);
  if (!segment) return false;
  watched.segment = std::move(*segment);
  watched.pen = watched.segment->thread();
  for (const Early& early : watched.early) watched.pen->counter(early.name, early.value, early.ticks);
  watched.early.clear();
  return true;
}

void Watcher::finish(int status_of_command) {
  read_segments();
  std::erase_if(refused_, [this](const ProcessKey& key) { return recorded_.contains(key.pid); });
  for (auto& [key, watched] : watched_) {
    if (watched.segment == nullptr) continue;
    if (key.pid == command_) watched.segment->note_exit(status_of_command);
    if (!recorded_.contains(key.pid) && watched.samples > 0) continue;
    std::error_code ignored;
    fs::remove(watched.segment->path(), ignored);
  }
  watched_.clear();
}

}  // namespace rankscope::collectors
