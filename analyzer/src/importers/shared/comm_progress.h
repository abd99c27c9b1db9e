// How far each rank of a job came in the communication of its groups: what remains of a dump, an answer of RAS or a
// recording once it is read. Small, so that the dumps of 10,000 ranks fit into memory.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rankscope/core/string_table.h"

namespace rankscope::analyzer {

enum class CallWay : std::uint8_t { collective, send, receive };

/// One communication call of one rank.
struct CommCall {
  /// Inputs may have any number: larger ones are cut to these, so that it is safe to calculate with them.
  static constexpr std::int64_t largest_sequence = INT64_MAX - 1;
  static constexpr std::int64_t longest_timeout_ms = 30LL * 24 * 3600 * 1000;  // 30 days

  std::uint32_t group = 0;  ///< row of JobProgress::groups
  CallWay way = CallWay::collective;
  bool finished = false;
  std::int32_t peer = -1;            ///< global rank of the partner; the root of a rooted collective; -1: not recorded
  std::uint32_t batch = 0;           ///< calls of one rank with the same number were made as one; 0: made alone
  std::int64_t sequence = -1;        ///< among the collectives of the group, from 0; -1 for sends and receives
  std::int64_t elements = -1;        ///< of the input; -1: not recorded
  std::int64_t created_unix_ns = 0;  ///< 0: not recorded
  std::int64_t timeout_ms = 0;       ///< 0: not recorded; at most longest_timeout_ms
  StringId op{};                     ///< "all_reduce"
  StringId dtype{};
  StringId shape{};  ///< "2048x5120"
  StringId where{};  ///< line of the program that made the call: "train.py:12 in step"
};

/// How far a rank came in one group. Sequences count the collectives of the group; -1: not known.
struct GroupProgress {
  static constexpr std::size_t most_recent = 16;

  std::uint32_t group = 0;
  std::int64_t entered = -1;       ///< the last collective that the rank called
  std::int64_t finished = -1;      ///< the last one that it finished; all before it are finished, too
  std::int64_t enqueued_any = -1;  ///< the same of any call of the group: sends and receives count, too
  std::int64_t completed_any = -1;
  std::vector<CommCall> recent{};  ///< the last collectives, by sequence: at most most_recent
};

/// Sends or receives of a rank with one partner that it finished, as far as they were recorded.
struct PairProgress {
  std::uint32_t group = 0;
  CallWay way = CallWay::send;
  std::int32_t peer = -1;
  std::int64_t finished = 0;
  std::int64_t open = 0;
};

/// Where the progress of a rank is known from.
enum class Witness : std::uint8_t {
  nothing,    ///< no dump, or one that cannot be read
  dump,       ///< of the Flight Recorder
  recording,  ///< of rankscope
  ras,        ///< launch counts of NCCL RAS alone
};

/// What became of the process of a rank.
enum class Life : std::uint8_t { unknown, running, exited, signalled, vanished };

/// The end of a process as far as it is known.
struct EndOfProcess {
  Life life = Life::unknown;
  std::int64_t exit_status = 0;  ///< of Life::exited
  std::int64_t signal = 0;       ///< of Life::signalled
  std::int64_t at_ns = 0;        ///< run time; 0: not known
  std::string note{};            ///< "the kernel's out-of-memory killer ended a process of this host"
};

/// What a rank did last outside of communication; from recordings.
struct LastPlace {
  std::optional<std::int64_t> step{};
  std::string range{};               ///< innermost open range: "backward"
  std::vector<std::string> stack{};  ///< innermost last
  std::string host{};                ///< "it computed (one thread used 98 % of a core)"
  std::string last_words{};          ///< what the program said of itself
};

struct RankProgress {
  static constexpr std::size_t most_open = 256;
  static constexpr std::size_t most_pairs = 32768;

  Witness witness = Witness::nothing;
  bool whole_history = false;           ///< the recorded calls begin with the first one
  std::string file{};                   ///< name of the dump, also of one that cannot be read
  std::string trouble{};                ///< why it cannot be read, as a predicate
  std::vector<GroupProgress> groups{};  ///< sorted by group
  std::vector<CommCall> open{};         ///< not finished, in the order of the calls: the first most_open
  std::uint64_t open_left_out = 0;
  std::vector<PairProgress> pairs{};   ///< sorted; at most most_pairs
  std::int64_t last_call_unix_ns = 0;  ///< 0: not known
  std::int64_t written_unix_ns = 0;    ///< when the dump was written, or later; 0: not known
  EndOfProcess end{};
  EndOfProcess end_after_hang{};  ///< of a process that hung, and was ended later
  LastPlace place{};

  [[nodiscard]] const GroupProgress* in_group(std::uint32_t group) const;
  /// Adds the group if it is new; groups stay sorted.
  [[nodiscard]] GroupProgress& group_row(std::uint32_t group);
  /// Null if there are too many partners already.
  [[nodiscard]] PairProgress* pair_row(std::uint32_t group, CallWay way, std::int32_t peer);
  [[nodiscard]] const PairProgress* pair(std::uint32_t group, CallWay way, std::int32_t peer) const;
};

struct CommGroup {
  StringId name{};
  StringId description{};
  std::vector<std::uint32_t> members{};  ///< global ranks in group order; empty: not recorded, or too many in all
  bool is_world = false;                 ///< the default group, of all ranks
  bool members_recorded = true;          ///< false: they are those ranks that are known to use it
  bool has_pairs = false;                ///< some rank made sends or receives in it
  bool on_host = false;                  ///< its operations run on the CPU (Gloo, MPI, UCC), not on a device
};

/// An input that could not be used, or only in part.
struct InputTrouble {
  std::string counter{};  ///< "dumps_cut"
  std::string where{};    ///< name of the file
  std::string why{};      ///< a predicate
};

/// How far what is not recorded did not happen.
enum class Completeness : std::uint8_t {
  whole,        ///< as far as the inputs show
  events_lost,  ///< calls may be missing
  counts_lost,  ///< and the operations were numbered by counting the calls, so that ranks may be out of step
};

/// All of a job. Ranks that nothing is known of are absent.
struct JobProgress {
  StringTable texts{};
  std::vector<CommGroup> groups{};
  std::map<std::uint32_t, RankProgress> ranks{};
  std::int64_t world_size = 0;  ///< 0: not known
  std::uint64_t inputs = 0;     ///< files that were read
  std::vector<InputTrouble> troubles{};
  Completeness completeness = Completeness::whole;

  /// The group of that name and those members (as a text, "[0, 1]"; "" or "[]": not recorded).
  [[nodiscard]] std::uint32_t group_of(std::string_view name, std::string_view description, std::string_view members);
  /// The same with members as numbers.
  [[nodiscard]] std::uint32_t group_of(std::string_view name, std::string_view description,
                                       std::vector<std::uint32_t> members);
  /// Fills in members that no input recorded, the world size, and how far ranks came whose calls are no longer in the
  /// ring, once all inputs are read.
  void complete();
  /// Adds a group with members that were not recorded, or with these, unless all groups have too many together.
  [[nodiscard]] std::uint32_t add_group(CommGroup group);

 private:
  void find_world_size();
  std::size_t members_listed_ = 0;
  std::unordered_map<std::string, std::uint32_t> rows_;
};

/// The numbers of a text like "[0, 1, 2]". Nothing if it is something else, or holds more than 2^20.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> members_from(std::string_view text);

}  // namespace rankscope::analyzer
