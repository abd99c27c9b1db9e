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
constexpr long memory_file_system = 0x01021994;                        // TMPFS_MAGIC
constexpr std::uint64_t bytes_per_round = std::uint64_t{32} << 20;     // that are read
constexpr std::uint64_t given_up_per_round = std::uint64_t{64} << 20;  // more would hold up signals to the command
constexpr std::size_t most_followed = 1024;
constexpr std::int64_t look_apart_ns = 1'000'000'000;
// Between these shares of the limit lies what is given up at once.
constexpr double high_share = 0.9;
constexpr double low_share = 0.8;
// Steps are torn apart only where whole ones did not help for so long: less where much more was written than is
// allowed.
constexpr nanoseconds patience{60'000'000'000};
constexpr nanoseconds short_patience{10'000'000'000};
constexpr nanoseconds longest_patience{180'000'000'000};  // where reading does not keep up
constexpr double far_too_much = 1.25;
constexpr double slightly_more = 1.05;  // than the limit, which is not worth a word

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
  const std::string size = gib_text(*limit.bytes * recorders_on_this_node());
  const std::string kept = limit.period
                               ? format("the events of the last {}, at most {}", period_text(*limit.period), size)
                               : format("at most {} of events", size);
  return format("rankscope: keeps {} on this node; older events are replaced by sums for each step{}\n", kept,
                asked == KeepLimit{} ? " (--keep changes this)" : "");
}

HostTime Keeper::steady_now() {
  return HostTime{nanoseconds{static_cast<std::int64_t>(recording::TickClock::now_monotonic())}};
}

Keeper::Keeper(fs::path spool, KeepLimit limit, Asked asked, Pace pace)
    : spool_(std::move(spool)),
      limit_(limit),
      pace_(std::move(pace)),
      most_followed_(most_followed_here()),
      is_following_(asked == Asked::by_the_user),
      over_since_(pace_.now()),
      behind_until_(over_since_) {}

std::uint64_t Keeper::spool_bytes() const {
  const fs::path outside = spool_ / recording::outside_folder;
  return blocks_of(spool_) + blocks_of(outside) + blocks_of(spool_ / recording::sums_folder) +
         blocks_of(outside / recording::sums_folder);
}

void Keeper::find_segments(const fs::path& folder, FileNames& known) {
  for_each_new_file(folder, known, [&](std::string_view name) {
    if (!name.ends_with(recording::segment_suffix)) return;
    if (followed_.size() >= most_followed_) {
      leaves_out_segments_ = true;
      return;
    }
    known.emplace(name);
    followed_.emplace(folder / name, Followed{Thinner{folder / name, pace_.limits}});
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

std::uint64_t Keeper::give_up_before(HostTime until, Thinner::Steps steps, std::uint64_t budget) {
  for (auto& [path, one] : followed_) {
    if (budget == 0) break;
    const auto given = one.thinner.give_up(until, steps, budget);
    if (!given) {
      note_problem(given.error().message);
      continue;
    }
    budget = given->is_all ? budget - std::min(budget, given->bytes) : 0;
  }
  return budget;
}

/// Only the first one: most others follow from it.
void Keeper::note_problem(const std::string& what) {
  if (problems_++ == 0) problem_ = what;
}

void Keeper::note_size(double size) {
  if (size <= static_cast<double>(largest_)) return;
  largest_ = static_cast<std::uint64_t>(size);
  was_behind_then_ = is_behind_ || !is_following_;
}

std::string Keeper::why_too_much() const {
  if (problems_ == 1) return problem_;
  if (problems_ > 1) return format("{} (this or a similar problem occurred {} times)", problem_, problems_);
  if (leaves_out_segments_)
    return format("old events of at most {} processes at a time can be removed, and there were more processes",
                  most_followed_);
  if (was_behind_then_) return "they were written faster than they could be read";
  return "initially only whole steps are removed, and the latest few steps are kept";
}

std::string Keeper::problem() const {
  const std::uint64_t limit = *limit_.bytes;
  if (static_cast<double>(largest_) > slightly_more * static_cast<double>(limit))
    return format("the events occupied up to {}, more than the {} that --keep or its default allows, because {}",
                  gib_text(largest_), gib_text(limit), why_too_much());
  if (problems_ > 0 || (leaves_out_segments_ && limit_.period))
    return format("some old events could not be removed: {}", why_too_much());
  return {};
}

/// The number of a process in a container may be that of another one here, so that a name alone does not tell.
void Keeper::note_ends() {
  for (auto& [path, one] : followed_) {
    if (one.ended || is_written(path) || !nobody_writes(path)) continue;
    one.ended = true;
    one.thinner.note_end();
  }
}

/// True if steps may be torn apart: whole ones were given up for a while, and that was not enough. As long as not all
/// is read, more of them may follow; but they need not.
bool Keeper::is_urgent(double size) {
  const auto limit = static_cast<double>(*limit_.bytes);
  const HostTime time = pace_.now();
  if (is_behind_) behind_until_ = time;
  if (size <= limit) {
    over_since_ = time;
    return false;
  }
  const nanoseconds wait = size > far_too_much * limit ? short_patience : patience;
  return time - std::max(over_since_, behind_until_) > wait || time - over_since_ > longest_patience;
}

void Keeper::give_up() {
  note_ends();
  std::uint64_t budget = given_up_per_round;
  if (limit_.period) budget = give_up_before(pace_.now() - *limit_.period, Thinner::Steps::whole, budget);
  const auto limit = static_cast<double>(*limit_.bytes);
  const auto size = [this] { return static_cast<double>(spool_bytes()); };
  const double before = size();
  note_size(before);
  is_following_ = is_following_ || before > limit;
  if (before <= high_share * limit || !is_following_) {
    over_since_ = pace_.now();
  } else {
    const auto excess = static_cast<std::uint64_t>(before - low_share * limit);
    budget = give_up_before(time_of_excess(excess), Thinner::Steps::whole, budget);
    const double after = size();
    if (budget == 0) over_since_ = pace_.now();  // whole steps do help
    if (is_urgent(after)) {
      const auto rest = static_cast<std::uint64_t>(after - low_share * limit);
      budget = give_up_before(time_of_excess(rest), Thinner::Steps::any, budget);
    }
  }
  if (budget == 0) next_look_ns_ = 0;  // the rest in the next round
}

void Keeper::round() {
  if (is_following_) follow(bytes_per_round);
  const std::int64_t time = pace_.now().time_since_epoch().count();
  if (time < next_look_ns_) return;
  next_look_ns_ = time + look_apart_ns;
  give_up();
}

void Keeper::finish() {
  for (auto& [path, one] : followed_)
    if (one.thinner.has_given_up() && one.thinner.is_there())
      one.thinner.follow(std::numeric_limits<std::uint64_t>::max());
  followed_.clear();
}

}  // namespace rankscope::collectors
