#include "watcher.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "rankscope/core/numbers.h"
#include "rankscope/core/recording/manifest.h"
#include "settings/rank_of_process.h"

namespace rankscope::collectors {
namespace {

namespace fs = std::filesystem;
constexpr double worth_watching_seconds = 1;
constexpr double worth_watching_seconds_of_rank = 0.2;
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

/// How long the process has lived.
double age_seconds(const ProcessKey& key) {
  static const auto ticks_per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9 -
         static_cast<double>(key.start) / ticks_per_second;
}

/// Of this process; its command, which has begun by now, keeps the limit that it had.
void allow_more_descriptors() {
  constexpr rlim_t enough = 4096;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= enough) return;
  limit.rlim_cur = std::min(limit.rlim_max, enough);
  setrlimit(RLIMIT_NOFILE, &limit);  // without it some processes cannot be watched, which is counted
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

Watcher::Watcher(fs::path spool, pid_t command, std::string rank_env, std::function<bool(pid_t)> is_own)
    : spool_(std::move(spool)),
      folder_(spool_ / recording::outside_folder),
      command_(command),
      rank_env_(std::move(rank_env)),
      is_own_(std::move(is_own)) {
  allow_more_descriptors();
  std::error_code ignored;
  fs::create_directory(folder_, ignored);
}

void Watcher::read_segments() {
  for_each_new_file(spool_, names_, [this](std::string_view name) {
    if (const auto process = process_of_segment(name)) recorded_.insert(*process);
    names_.emplace(name);
  });
}

bool Watcher::is_worth_a_segment(const ProcessKey& key) const {
  const double age = age_seconds(key);
  if (age < worth_watching_seconds_of_rank) return false;
  return age >= worth_watching_seconds || rank_of_process(key.pid, rank_env_).rank >= 0;
}

bool Watcher::has_room_for(const ProcessKey& key) const {
  if (watched_.size() < most_watched) return true;
  return watched_.size() < most_with_ranks && rank_of_process(key.pid, rank_env_).rank >= 0;
}

void Watcher::sample() {
  read_segments();
  for (const pid_t process : descendants_of(getpid())) {
    const ProcessKey key{process, start_of(process)};
    if (key.start == 0 || recorded_.contains(key) || watched_.contains(key) || refused_.contains(key)) continue;
    if (is_own_ && is_own_(process)) continue;
    watch(key);
  }
  for (auto entry = watched_.begin(); entry != watched_.end();)
    entry = sample(entry->first, entry->second) ? std::next(entry) : watched_.erase(entry);
}

void Watcher::watch(const ProcessKey& key) {
  if (!has_room_for(key)) {
    if (is_worth_a_segment(key)) refused_.insert(key);  // else there may be room for it yet
    return;
  }
  const Pressure pressure = key.pid == command_ ? Pressure::sample : Pressure::skip;
  watched_.emplace(key, Watched{.sampler = HostSampler{key.pid, pressure}, .begun = clock_.pair()});
}

/// Of a process that records itself, which is better.
void Watcher::remove_segment(const Watched& watched) {
  if (watched.segment == nullptr) return;
  std::error_code ignored;
  const fs::path& path = watched.segment->path();
  fs::remove(path, ignored);
  fs::remove(path.parent_path() / recording::sums_folder / path.filename(), ignored);
}

bool Watcher::sample(const ProcessKey& key, Watched& watched) {
  const bool has_segment = watched.segment != nullptr;
  if (recorded_.contains(key)) {
    remove_segment(watched);
    return false;
  }
  const std::span<const HostSample> values = watched.sampler.sample();
  if (values.empty()) return has_segment && key.pid == command_;  // whose status finish() notes
  const std::uint64_t now = clock_.now();
  if (!has_segment && !is_worth_a_segment(key)) {
    for (const HostSample& value : values) watched.early.push_back({value.name, value.value, now});
    return true;
  }
  if (!has_segment && !make_segment(key, watched)) {
    refused_.insert(key);
    return false;
  }
  for (const HostSample& value : values) watched.pen->counter(value.name, value.value, now);
  watched.pen->clock_pair();
  watched.segment->refill();
  return true;
}

bool Watcher::make_segment(const ProcessKey& key, Watched& watched) {
  recording::SegmentOptions options;
  options.path = folder_ / (host_name() + "-" + std::to_string(key.pid) + "-" + std::to_string(key.start) +
                            recording::segment_suffix);
  options.ring_kib = small_ring_kib;
  const RankEnvironment rank = rank_of_process(key.pid, rank_env_);
  options.rank = rank.rank;
  options.world_size = rank.world_size;
  options.local_rank = rank.local_rank;
  options.local_world_size = rank.local_world_size;
  options.rank_source = recording::watched_source;
  options.watched_pid = key.pid;
  options.begun = watched.begun;
  auto segment = recording::SegmentWriter::create(options);
  if (!segment) return false;
  watched.segment = std::move(*segment);
  watched.pen = watched.segment->thread();
  if (!rank.source.empty()) watched.pen->metadata("rank_source", rank.source);
  if (!rank.problem.empty()) watched.pen->metadata("rank_problem", rank.problem);
  for (const Early& early : watched.early) watched.pen->counter(early.name, early.value, early.ticks);
  watched.early.clear();
  return true;
}

void Watcher::stop() {
  for (auto& [key, watched] : watched_)
    if (watched.pen != nullptr) watched.pen->metadata("stopped_by", "duration");
}

void Watcher::finish(int status_of_command) {
  read_segments();
  std::erase_if(refused_, [this](const ProcessKey& key) { return recorded_.contains(key); });
  for (auto& [key, watched] : watched_) {
    if (recorded_.contains(key)) remove_segment(watched);
    if (watched.segment != nullptr && key.pid == command_) watched.segment->note_exit(status_of_command);
  }
  watched_.clear();
}

}  // namespace rankscope::collectors
