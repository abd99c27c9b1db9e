#include "launch/keeper.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <system_error>
#include <vector>

#include "launch/ended_segments.h"
#include "rankscope/core/format.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/tick_clock.h"
#include "settings/rank_environment.h"
#include "spool/folder.h"

namespace rankscope::collectors {
namespace {

namespace fs = std::filesystem;
using recording::Thinner;

constexpr std::uint64_t most_by_default = std::uint64_t{32} << 30;
constexpr long memory_file_system = 0x01021994;  // TMPFS_MAGIC
constexpr std::uint64_t bytes_per_round = std::uint64_t{32} << 20;
constexpr std::size_t most_followed = 1024;
constexpr std::int64_t look_apart_ns = 1'000'000'000;
// Between these shares of the limit lies what is given up at once.
constexpr double high_share = 0.9;
constexpr double low_share = 0.8;
// Steps are torn apart only where whole ones did not help for so long: less where much more was written than is
// allowed.
constexpr nanoseconds patience{60'000'000'000};
constexpr nanoseconds short_patience{10'000'000'000};
constexpr double far_too_much = 1.25;

HostTime now() { return HostTime{nanoseconds{static_cast<std::int64_t>(recording::TickClock::now_monotonic())}}; }

std::uint64_t blocks_of(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (fs::directory_iterator entry{folder, error}, end; !error && entry != end; entry.increment(error)) {
    struct stat facts {};
    if (stat(entry->path().c_str(), &facts) == 0 && S_ISREG(facts.st_mode))
      bytes += static_cast<std::uint64_t>(facts.st_blocks) * 512;
  }
  return bytes;
}

/// Each costs two open files, and the recorder needs some for other things.
std::size_t most_followed_here() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return most_followed;
  return std::min<std::size_t>(most_followed, limit.rlim_cur / 4);
}

/// If the launcher starts a recorder for each rank.
RankEnvironment own_rank() {
  return find_rank([](const char* name) { return std::getenv(name); });
}

/// They share the node.
std::uint64_t recorders_on_this_node() { return static_cast<std::uint64_t>(std::max(own_rank().local_world_size, 1)); }

std::uint64_t default_bytes(const fs::path& spool) {
  std::error_code error;
  const auto space = fs::space(spool, error);
  if (error) return most_by_default;
  struct statfs facts {};
  const bool in_memory = statfs(spool.c_str(), &facts) == 0 && facts.f_type == memory_file_system;
  return std::min(most_by_default, space.available / (in_memory ? 8U : 4U));
}

std::string period_text(nanoseconds period) {
  const std::int64_t seconds = period.count() / 1'000'000'000;
  if (seconds % 3600 == 0) return counted(seconds / 3600, "hour");
  if (seconds % 60 == 0) return counted(seconds / 60, "minute");
  return counted(seconds, "second");
}

}  // namespace

KeepLimit limit_on_this_node(const KeepLimit& asked, const fs::path& spool) {
  constexpr std::uint64_t least = std::uint64_t{16} << 20;
  KeepLimit limit = asked;
  limit.bytes = std::max(asked.bytes.value_or(default_bytes(spool)) / recorders_on_this_node(), least);
  return limit;
}

std::string sentence_on(const KeepLimit& limit, const KeepLimit& asked) {
  if (own_rank().local_rank > 0) return {};  // the first recorder of the node says it
  const std::string period =
      limit.period ? format("events of the last {}, and at most ", period_text(*limit.period)) : "events of at most ";
  return format("rankscope: keeps {}{} on this node; removes older events, but keeps sums for each step{}\n", period,
                gib_text(*limit.bytes * recorders_on_this_node()),
                asked == KeepLimit{} ? " (--keep changes this)" : "");
}

Keeper::Keeper(fs::path spool, KeepLimit limit, Asked asked)
    : spool_(std::move(spool)),
      limit_(limit),
      most_followed_(most_followed_here()),
      is_following_(asked == Asked::by_the_user),
      over_since_(now()) {}

std::uint64_t Keeper::spool_bytes() const {
  const fs::path outside = spool_ / recording::outside_folder;
  return blocks_of(spool_) + blocks_of(outside) + blocks_of(spool_ / recording::sums_folder) +
         blocks_of(outside / recording::sums_folder);
}

void Keeper::find_segments(const fs::path& folder, FileNames& known) {
  for_each_new_file(folder, known, [&](std::string_view name) {
    if (!name.ends_with(recording::segment_suffix) || followed_.size() >= most_followed_) return;
    known.emplace(name);
    followed_.emplace(folder / name, Followed{Thinner{folder / name}});
  });
}

/// Begins behind the segment with which the last round ended, so that none is always the last.
void Keeper::follow(std::uint64_t budget) {
  find_segments(spool_, inside_);
  find_segments(spool_ / recording::outside_folder, outside_);
  std::erase_if(followed_, [](const auto& entry) { return !entry.second.thinner.is_there(); });
  is_behind_ = false;
  auto one = followed_.upper_bound(latest_);
  for (std::size_t count = followed_.size(); count > 0; --count, ++one) {
    if (one == followed_.end()) one = followed_.begin();
    const std::uint64_t read = one->second.thinner.follow(budget);
    is_behind_ = is_behind_ || one->second.thinner.behind() > 0;
    if (read > 0) latest_ = one->first;
    budget -= std::min(budget, read);
  }
}

/// The moment up to which as much was written as is too much.
HostTime Keeper::time_of_excess(std::uint64_t excess) const {
  std::vector<Thinner::Old> old;
  for (const auto& [path, one] : followed_) one.thinner.add_old(old);
  std::ranges::sort(old, {}, &Thinner::Old::seen);
  HostTime time{};
  for (const Thinner::Old& chunk : old) {
    if (excess == 0) break;
    time = chunk.seen;
    excess -= std::min(excess, chunk.bytes);
  }
  return time;
}

void Keeper::give_up_before(HostTime until, Thinner::Steps steps) {
  for (auto& [path, one] : followed_) {
    if (const auto given = one.thinner.give_up(until, steps); !given) problem_ = given.error().message;
  }
}

/// The number of a process in a container may be that of another one here, so that a name alone does not tell.
void Keeper::note_ends() {
  for (auto& [path, one] : followed_) {
    if (one.ended || is_written(path) || !nobody_writes(path)) continue;
    one.ended = true;
    one.thinner.note_end();
  }
}

/// True if steps may be torn apart: whole ones were given up for a while, and that was not enough.
bool Keeper::is_urgent(double size) {
  const auto limit = static_cast<double>(*limit_.bytes);
  const HostTime time = now();
  if (size <= limit || is_behind_) {
    over_since_ = time;
    return false;
  }
  return time - over_since_ > (size > far_too_much * limit ? short_patience : patience);
}

void Keeper::give_up() {
  note_ends();
  problem_.clear();
  if (limit_.period) give_up_before(now() - *limit_.period, Thinner::Steps::whole);
  const auto limit = static_cast<double>(*limit_.bytes);
  const auto size = [this] { return static_cast<double>(spool_bytes()); };
  const double before = size();
  is_following_ = is_following_ || before > limit;
  if (before <= high_share * limit || !is_following_) {
    over_since_ = now();
    return;
  }
  const auto excess = static_cast<std::uint64_t>(before - low_share * limit);
  give_up_before(time_of_excess(excess), Thinner::Steps::whole);
  const double after = size();
  if (!is_urgent(after)) return;
  give_up_before(time_of_excess(static_cast<std::uint64_t>(after - low_share * limit)), Thinner::Steps::any);
}

void Keeper::round() {
  if (is_following_) follow(bytes_per_round);
  const std::int64_t time = now().time_since_epoch().count();
  if (time < next_look_ns_) return;
  next_look_ns_ = time + look_apart_ns;
  give_up();
}

void Keeper::finish() {
  if (is_following_) follow(std::numeric_limits<std::uint64_t>::max());
  followed_.clear();
}

}  // namespace rankscope::collectors
