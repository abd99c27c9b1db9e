// Keeps a spool within its limits while the command runs: old events are replaced by sums per step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "rankscope/collectors/keep.h"
#include "rankscope/core/recording/thinner.h"
#include "spool/file_names.h"

namespace rankscope::collectors {

/// What this recorder keeps: what the user asked for, and a size in any case. The size is this recorder's share of the
/// node's. Without a size from the user, it is a quarter of the free space (an eighth if the spool is in memory), and
/// at most 32 GiB.
[[nodiscard]] KeepLimit limit_on_this_node(const KeepLimit& asked, const std::filesystem::path& spool);
/// What is said of it before the command starts; empty for all recorders of a node but the first.
[[nodiscard]] std::string sentence_on(const KeepLimit& limit, const KeepLimit& asked);

class Keeper {
 public:
  /// Whose wish the limit is.
  enum class Asked : std::uint8_t {
    by_the_user,  ///< segments are followed from the beginning on
    by_nobody,    ///< nothing is read, and nothing given up, until the spool is larger than the limit
  };
  /// What takes time.
  struct Pace {
    std::function<HostTime()> now = steady_now;
    recording::LiveLimits limits = recording::Thinner::usual_limits();
  };
  [[nodiscard]] static HostTime steady_now();
  Keeper(std::filesystem::path spool, KeepLimit limit, Asked asked, Pace pace);
  Keeper(std::filesystem::path spool, KeepLimit limit, Asked asked) : Keeper(std::move(spool), limit, asked, Pace{}) {}

  /// Reads what was written since the last round, and gives up what is too old or too much. About four times a second.
  void round();
  /// Stores the sums of the last steps where steps before them were given up, and closes all files. After the command
  /// has ended.
  void finish();
  /// How much more than the limit was kept, or which old events, and why; empty: the limit was kept.
  [[nodiscard]] std::string problem() const;

 private:
  void find_segments(const std::filesystem::path& folder, FileNames& known);
  void follow(std::uint64_t budget);
  void note_ends();
  void give_up();
  void note_size(double size);
  void note_problem(const std::string& what);
  [[nodiscard]] std::string why_too_much() const;
  /// Returns what is left of the budget.
  std::uint64_t give_up_before(HostTime until, recording::Thinner::Steps steps, std::uint64_t budget);
  [[nodiscard]] HostTime time_of_excess(std::uint64_t excess) const;
  [[nodiscard]] bool is_urgent(double size);
  [[nodiscard]] std::uint64_t spool_bytes() const;

  std::filesystem::path spool_;
  KeepLimit limit_;
  Pace pace_;
  std::size_t most_followed_;  ///< segments
  FileNames inside_;
  FileNames outside_;
  struct Followed {
    recording::Thinner thinner;
    bool ended = false;
  };
  std::map<std::filesystem::path, Followed> followed_;
  std::int64_t next_look_ns_ = 0;
  bool is_following_;               ///< the user asked for a limit, or it was exceeded
  bool is_behind_ = false;          ///< not all that was written has been read
  std::filesystem::path latest_{};  ///< of which something was read in the last round
  HostTime over_since_;             ///< the spool is larger than allowed, and whole steps did not help
  HostTime behind_until_;           ///< when not all that was written had been read
  bool leaves_out_segments_ = false;
  std::uint64_t largest_ = 0;  ///< bytes of the spool
  bool was_behind_then_ = false;
  std::string problem_;  ///< the first one
  std::uint64_t problems_ = 0;
};

}  // namespace rankscope::collectors
