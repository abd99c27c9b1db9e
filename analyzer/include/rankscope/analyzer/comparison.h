// What the comparison of two runs found out, as plain data (metrics.md 17).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/compared_findings.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/analyzer/section.h"

namespace rankscope::analyzer {

/// What is compared by name.
enum class KeyKind : std::uint8_t {
  kernel,
  comm_kernel,  ///< kernel that communicates
  copy,
  op,          ///< operator of a CPU rank: its own host time
  annotation,  ///< range of a CPU rank: its own host time
  wait,        ///< of a group's operation: what its members waited for the last one
  transfer,    ///< of a group's operation: from the last start to the end, on each member
};
[[nodiscard]] std::string_view name_of(KeyKind kind);

struct CompareKey {
  KeyKind kind = KeyKind::kernel;
  std::string name;
  std::string detail;  ///< grid and block, inputs, or the operation of a group; may be empty
  auto operator<=>(const CompareKey&) const = default;
};

/// The parts of a step's window, each instant in one of them.
enum class SplitPart : std::uint8_t {
  compute,
  exposed_wait,
  exposed_transfer,
  exposed_unsplit,
  memory,
  idle_host,
  idle_sync,
  idle_data,
  idle_kernel_gap,
  idle_other,
};
inline constexpr std::size_t split_part_count = 10;
[[nodiscard]] std::string_view name_of(SplitPart part);

/// Mean of a step and rank in whole ns; the parts add up to the window (metrics.md C2).
struct SplitMean {
  std::int64_t window_ns = 0;
  std::array<std::int64_t, split_part_count> parts_ns{};
  std::int64_t rank_steps = 0;
  [[nodiscard]] std::int64_t of(SplitPart part) const { return parts_ns[static_cast<std::size_t>(part)]; }
};

/// One rank, or several that do equal work, in both runs.
struct SplitChange {
  std::string who;  ///< "all ranks", "rank 2", "stage 1"
  std::vector<RankId> ranks_a;
  std::vector<RankId> ranks_b;
  SplitMean a;
  SplitMean b;
  /// By how much the part grew; over all parts it adds up to that of the window.
  [[nodiscard]] std::int64_t change_ns(SplitPart part) const { return b.of(part) - a.of(part); }
  [[nodiscard]] std::int64_t window_change_ns() const { return b.window_ns - a.window_ns; }
};

struct SplitComparison {
  SplitChange all;
  std::vector<SplitChange> ranks;  ///< pairs of equal number, else peer classes of equal name
  std::string pairing;             ///< how they were paired, and who was left out
};

/// Means per step and rank. A run that lacks the key has 0.
struct KeyChange {
  CompareKey key;
  std::int64_t a_ns = 0;
  std::int64_t b_ns = 0;
  std::int64_t median_a_ns = 0;  ///< of a single one
  std::int64_t median_b_ns = 0;
  std::int64_t count_a = 0;
  std::int64_t count_b = 0;
  std::optional<double> q;  ///< share of false finds among rows up to this one; not set: not tested
  [[nodiscard]] std::int64_t change_ns() const { return b_ns - a_ns; }
};

struct KeyComparison {
  std::string not_tested;          ///< why chance cannot be ruled out; empty: it was, for `changed`
  std::vector<KeyChange> changed;  ///< by 1 % of a step and more, the largest change first
  std::vector<KeyChange> appeared;
  std::vector<KeyChange> gone;
  std::vector<KeyChange> medians;    ///< without steps: keys of both runs, the largest change of the median first
  std::int64_t in_both = 0;          ///< keys
  std::int64_t tested = 0;           ///< keys that take 1 % of a step in a run
  std::int64_t maybe_chance = 0;     ///< of these: changed as much, but vary as much, too
  std::int64_t small_appeared = 0;   ///< keys below 1 % of a step
  std::int64_t small_gone = 0;       ///< keys below 1 % of a step
  std::int64_t least_change_ns = 0;  ///< 1 % of a step of A
};

/// Which way the median step went.
enum class StepVerdict : std::uint8_t { unchanged, slower, faster, cannot_tell };
[[nodiscard]] std::string_view name_of(StepVerdict verdict);

struct StepComparison {
  StepVerdict verdict = StepVerdict::cannot_tell;
  std::string why;               ///< why it cannot be told; empty: it can
  std::optional<double> change;  ///< median of B / median of A - 1
  std::optional<double> low;     ///< 95 % interval; set if there are enough steps
  std::optional<double> high;
  FindingSeverity severity = FindingSeverity::info;  ///< of a change (metrics.md 20)
};

/// What one run states otherwise than the other.
struct Difference {
  std::string what;
  std::string a;  ///< empty: not recorded
  std::string b;
  bool must_agree = false;  ///< world size, batch, dtype: then it is another job
};

struct Likeness {
  std::vector<Difference> differences;  ///< those that must agree first
  std::vector<std::string> unknown;     ///< what neither run states: "batch", "dtype"
};

/// Of runs with a different number of ranks (metrics.md 17.2); factors of 1 mean no loss.
struct Scaling {
  double same_problem = 0;   ///< computation of A / computation of B, all ranks together
  double grown_problem = 0;  ///< the same if the problem grew with the number of ranks
  double parallel_a = 0;     ///< share of the ranks' time that computes (8.1)
  double parallel_b = 0;
};

/// How a run is called in sentences, and where it came from.
struct RunName {
  std::string label;  ///< "A", "the baseline"
  std::string path;
};

struct ComparedRun {
  RunName name;
  std::string source;
  std::int64_t ranks = 0;
  std::int64_t world_size = 0;
  std::int64_t counted_steps = 0;
  std::optional<std::int64_t> median_ns;
  std::string why_no_steps;
  std::vector<std::string> losses;  ///< counters of lost or altered data, with their values
};

struct Comparison {
  ComparedRun a;
  ComparedRun b;
  AskedFor asked_for;
  StepComparison steps;
  Section<SplitComparison> split = unavailable("not computed");
  KeyComparison keys;
  ComparedFindings findings;
  std::vector<MemoryChange> memory;
  Likeness likeness;
  std::optional<Section<Scaling>> scaling;  ///< only if the numbers of ranks differ
};

}  // namespace rankscope::analyzer
