// Keeps a spool within its limits while the command runs: old events are replaced by sums per step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

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
  Keeper(std::filesystem::path spool, KeepLimit limit, Asked asked);

  /// Reads what was written since the last round, and gives up what is too old or too much. About four times a second.
  void round();
  /// Stores the sums of the last steps, and closes all files. After the command has ended.
  void finish();
  /// Why old events could not be given up the last time; empty: they could.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  void find_segments(const std::filesystem::path& folder, FileNames& known);
  void follow(std::uint64_t budget);
  void note_ends();
  void give_up();
  void give_up_before(HostTime until, recording::Thinner::Steps steps);
  [[nodiscard]] HostTime time_of_excess(std::uint64_t excess) const;
  [[nodiscard]] bool is_urgent(double size);
  [[nodiscard]] std::uint64_t spool_bytes() const;

  std::filesystem::path spool_;
  KeepLimit limit_;
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
  HostTime over_since_;             ///< the spool is larger than allowed
  std::string problem_;
};

}  // namespace rankscope::collectors
