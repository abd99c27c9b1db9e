// Operations matched over their ranks (metrics.md 5, 6).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// One operation matched over its members.
struct Operation {
  GroupId group;
  StringId op;
  std::int64_t sequence = -1;
  std::int64_t bytes = -1;             ///< S of metrics.md 6: the whole payload; -1 = not recorded, or too large
  bool bytes_too_large = false;        ///< what was recorded fits no 64 bits
  std::vector<std::uint32_t> members;  ///< rows of Run::collectives(), by rank; only members that started
  bool complete = false;               ///< every member of the group is present and finished
  std::int64_t wait_ns = 0;            ///< sum over the members (rank ns)
  RankId first_rank;                   ///< first and last: none where the claim is below twice the clock error (7.5)
  RankId last_rank;
  RunTime first_start;
  RunTime last_start;
  std::int64_t spread_ns = 0;
  std::int64_t transfer_ns = 0;                       ///< max(0, median end - last start)
  std::string_view why_no_wait = "not computed";      ///< set where wait_ns means nothing
  std::string_view why_no_transfer = "not computed";  ///< set where transfer_ns means nothing
};

/// The operations of one kind in one group, added up over its members.
struct GroupRow {
  std::string group;
  std::string op;
  std::int64_t count = 0;
  std::int64_t bytes = -1;           ///< sum of those that were recorded; -1 = of none
  std::int64_t bytes_too_large = 0;  ///< of `count`: left out of `bytes`, since the sum would not fit
  std::int64_t wait_ns = 0;          ///< rank ns
  std::int64_t transfer_ns = 0;
  std::int64_t without_wait = 0;      ///< of `count`: wait unknown, 0 in the sum
  std::int64_t without_transfer = 0;  ///< of `count`: transfer unknown, 0 in the sum
  std::string why_no_wait{};          ///< reasons of those, each once
  std::string why_no_transfer{};
  std::optional<double> busbw_gbps;
  std::string why_no_busbw;
  std::string method;  ///< "run time", "duration" where the clocks tell less than durations (6.9), or both
};

/// Members of one operation that disagree about what it is (metrics.md 5).
struct Desync {
  GroupId group;
  std::int64_t sequence = -1;
  std::string what;  ///< "rank 0: allreduce 1024 f32; rank 1: broadcast 4 f32"
};

/// Parts of one group and operation that found no partner for the same reason.
struct UnmatchedParts {
  std::string why;  ///< a sentence without its full stop
  std::string group;
  std::string op;
  std::int64_t count = 0;
  RankId rank;    ///< of the first
  RunTime first;  ///< when that was started; enqueued if it never was
};

/// How the members of an operation were found (K0, K4, K5 of metrics.md 5): by sequence numbers, which a sender and its
/// receiver count themselves; by the order of calls; by ends that agree, where no group was recorded.
enum class MatchedBy : std::uint8_t { sequence, call_order, ends };

/// Which calls of different ranks are one operation, and how its time divides into waiting and transfer.
struct CollectivesSection {
  std::int64_t matched = 0;                  ///< members in operations with >= 2 members
  std::array<std::int64_t, 3> matched_by{};  ///< the same, by MatchedBy
  std::int64_t unmatched = 0;
  /// Members in the counted steps that have no end, or no partner although its rank was recorded.
  std::int64_t unknown_in_steps = 0;
  std::vector<UnmatchedParts> unmatched_parts;  ///< the most first; they add up to `unmatched`
  std::string key;                              ///< "group and sequence", ...
  std::vector<Operation> operations;            ///< by earliest start
  std::vector<GroupRow> groups;                 ///< by (group, op)
  std::int64_t partial = 0;                     ///< operations that not all members of the group have finished
  std::vector<Desync> desyncs;                  ///< the first of each group
};

}  // namespace rankscope::analyzer
