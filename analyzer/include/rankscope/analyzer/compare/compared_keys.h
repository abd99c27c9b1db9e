// Kernels, operators and operations of groups of two runs, by name (metrics.md 17.2).
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::analyzer {

/// What is compared by name.
enum class KeyKind : std::uint8_t {
  kernel,
  comm_kernel,  ///< kernel that communicates
  copy,
  op,          ///< operator: its own host time
  annotation,  ///< range of the host: its own host time
  wait,        ///< of a group's operation: what its members waited for the last one
  transfer,    ///< of a group's operation: from the last start to the end, on each member
};
[[nodiscard]] std::string_view name_of(KeyKind kind);

/// What names the same work in two runs, and so is compared.
struct CompareKey {
  KeyKind kind = KeyKind::kernel;
  std::string name;
  std::string detail;  ///< grid and block, inputs, or the operation of a group; may be empty
  auto operator<=>(const CompareKey&) const = default;
};

/// What a key took in each run.
struct KeyChange {
  CompareKey key;
  std::int64_t keys = 1;             ///< more: the sum over these grids or inputs of one name; it has no median
  std::optional<std::int64_t> a_ns;  ///< mean per step and rank, 0 if the run lacks the key; not set: it has no steps
  std::optional<std::int64_t> b_ns;
  std::int64_t median_a_ns = 0;  ///< of a single one
  std::int64_t median_b_ns = 0;
  std::int64_t count_a = 0;
  std::int64_t count_b = 0;
  std::optional<double> q;  ///< share of false finds among rows up to this one; not set: not tested
  /// 0 where it is not known.
  [[nodiscard]] std::int64_t change_ns() const { return a_ns && b_ns ? *b_ns - *a_ns : 0; }
  /// The longer of both.
  [[nodiscard]] std::int64_t longest_ns() const { return std::max(a_ns.value_or(0), b_ns.value_or(0)); }
};

/// Which work takes longer in B, is new in it, or is gone.
struct KeyComparison {
  std::string why_no_mean_a;  ///< set where no `a_ns` is
  std::string why_no_mean_b;
  std::string calls_a;  ///< what the counts are of: "20 counted steps", "the whole recording"
  std::string calls_b;
  std::string not_tested;          ///< why chance cannot be ruled out; empty: it was, for `changed`
  std::vector<KeyChange> changed;  ///< by 1 % of a step and more, the largest change first
  std::vector<KeyChange> appeared;
  std::vector<KeyChange> gone;
  std::vector<KeyChange> medians;    ///< without steps: keys of both runs, the largest change of the median first
  std::vector<KeyChange> below;      ///< the largest changes, by name, where nothing is listed above
  std::int64_t in_both = 0;          ///< keys
  std::int64_t tested = 0;           ///< keys that take 1 % of a step in a run
  std::int64_t maybe_chance = 0;     ///< of these: changed as much, but vary as much, too
  std::int64_t small_appeared = 0;   ///< keys below 1 % of a step
  std::int64_t small_gone = 0;       ///< keys below 1 % of a step
  std::int64_t least_change_ns = 0;  ///< 1 % of a step of A
};

}  // namespace rankscope::analyzer
