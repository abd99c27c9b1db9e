#include "compare/key_changes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "analyses/statistics.h"
#include "compare/false_discovery.h"
#include "compare/rank_sum.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

constexpr double false_share = 0.05;  // metrics.md 17.2

/// A key in both runs; null: it is not in that run.
struct Pair {
  const KeySeries* a = nullptr;
  const KeySeries* b = nullptr;
};

/// Both lists are sorted by key.
std::vector<Pair> paired(const std::vector<KeySeries>& a, const std::vector<KeySeries>& b) {
  std::vector<Pair> pairs;
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() || right != b.end()) {
    Pair pair;
    const bool take_left = right == b.end() || (left != a.end() && left->key <= right->key);
    const bool take_right = left == a.end() || (right != b.end() && right->key <= left->key);
    if (take_left) pair.a = &*left++;
    if (take_right) pair.b = &*right++;
    pairs.push_back(pair);
  }
  return pairs;
}

class KeyComparer {
 public:
  KeyComparer(const RunDigest& a, const RunDigest& b)
      : ranks_a_(ranks_in_sums(a)), ranks_b_(ranks_in_sums(b)), pairs_(paired(a.keys, b.keys)) {
    has_steps_ = !a.step_walls_ns.empty() && !b.step_walls_ns.empty();
    if (has_steps_)
      result_.least_change_ns =
          std::max<std::int64_t>(1, std::llround(least_change * static_cast<double>(median(a.step_walls_ns))));
    note_steps(a, b);
  }

  KeyComparison compare() && {
    std::vector<KeyChange> large;
    std::vector<double> chances;
    for (const Pair& pair : pairs_) {
      KeyChange change = change_of(pair);
      if (pair.a == nullptr || pair.b == nullptr) {
        one_sided(std::move(change), pair.a == nullptr);
        continue;
      }
      ++result_.in_both;
      if (!has_steps_) {
        if (change.median_a_ns != change.median_b_ns) result_.medians.push_back(std::move(change));
        continue;
      }
      // What is smaller on both sides cannot have changed by enough; it must not dilute the tests either.
      if (std::max(change.a_ns, change.b_ns) < result_.least_change_ns) continue;
      large.push_back(std::move(change));
      if (result_.not_tested.empty()) chances.push_back(chance_of(pair));
    }
    choose(std::move(large), chances);
    sort_all();
    return std::move(result_);
  }

 private:
  void note_steps(const RunDigest& a, const RunDigest& b) {
    for (const RunDigest* run : {&a, &b}) {
      if (run->step_walls_ns.size() >= least_steps || !result_.not_tested.empty()) continue;
      result_.not_tested = format("{} has {}, and {} are needed to tell change from chance", run->name.label,
                                  counted(run->step_walls_ns.size(), "counted step"), least_steps);
    }
  }

  static std::int64_t mean_of(const KeySeries& series, std::int64_t ranks) {
    if (series.per_step_ns.empty()) return 0;
    const auto sum = std::accumulate(series.per_step_ns.begin(), series.per_step_ns.end(), std::int64_t{0});
    const auto parts = ranks * static_cast<std::int64_t>(series.per_step_ns.size());
    return (sum + parts / 2) / parts;
  }

  [[nodiscard]] KeyChange change_of(const Pair& pair) const {
    KeyChange change;
    change.key = pair.a != nullptr ? pair.a->key : pair.b->key;
    if (pair.a != nullptr) {
      change.a_ns = mean_of(*pair.a, ranks_a_);
      change.median_a_ns = pair.a->median_ns;
      change.count_a = pair.a->count;
    }
    if (pair.b != nullptr) {
      change.b_ns = mean_of(*pair.b, ranks_b_);
      change.median_b_ns = pair.b->median_ns;
      change.count_b = pair.b->count;
    }
    return change;
  }

  void one_sided(KeyChange change, bool is_new) {
    if (std::max(change.a_ns, change.b_ns) < result_.least_change_ns) {
      ++(is_new ? result_.small_appeared : result_.small_gone);
    } else {
      (is_new ? result_.appeared : result_.gone).push_back(std::move(change));
    }
  }

  [[nodiscard]] double chance_of(const Pair& pair) const {
    const auto per_rank = [](const KeySeries& series, std::int64_t ranks) {
      std::vector<double> values;
      for (const std::int64_t ns : series.per_step_ns)
        values.push_back(static_cast<double>(ns) / static_cast<double>(ranks));
      return values;
    };
    return mann_whitney(per_rank(*pair.a, ranks_a_), per_rank(*pair.b, ranks_b_)).p;
  }

  /// `chances` is parallel to `large`, or empty where there are too few steps to test.
  void choose(std::vector<KeyChange> large, const std::vector<double>& chances) {
    const std::vector<double> adjusted = adjusted_for_many(chances);
    result_.tested = static_cast<std::int64_t>(adjusted.size());
    for (std::size_t i = 0; i < large.size(); ++i) {
      if (std::abs(large[i].change_ns()) < result_.least_change_ns) continue;
      if (!adjusted.empty() && adjusted[i] > false_share) {
        ++result_.maybe_chance;
        continue;
      }
      if (!adjusted.empty()) large[i].q = adjusted[i];
      result_.changed.push_back(std::move(large[i]));
    }
  }

  void sort_all() {
    const auto by_change = [](const KeyChange& change) { return -std::abs(change.change_ns()); };
    const auto by_median = [](const KeyChange& change) {
      return -std::abs(change.median_b_ns - change.median_a_ns) * std::min(change.count_a, change.count_b);
    };
    const auto by_time = [](const KeyChange& change) {
      return -std::max(change.median_a_ns * change.count_a, change.median_b_ns * change.count_b);
    };
    std::ranges::stable_sort(result_.changed, {}, by_change);
    std::ranges::stable_sort(result_.medians, {}, by_median);
    for (auto* rows : {&result_.appeared, &result_.gone}) {
      if (has_steps_) {
        std::ranges::stable_sort(*rows, {}, by_change);
      } else {
        std::ranges::stable_sort(*rows, {}, by_time);
      }
    }
  }

  std::int64_t ranks_a_;
  std::int64_t ranks_b_;
  std::vector<Pair> pairs_;
  bool has_steps_ = false;
  KeyComparison result_;
};

}  // namespace

std::int64_t ranks_in_sums(const RunDigest& run) {
  std::int64_t ranks = 0;
  if (run.report.rank_rows)
    ranks = std::ranges::count_if(*run.report.rank_rows, [](const RankRow& row) { return !row.per_step.empty(); });
  return ranks > 0 ? ranks : std::max<std::int64_t>(1, static_cast<std::int64_t>(run.ranks.size()));
}

KeyComparison compare_keys(const RunDigest& a, const RunDigest& b) { return KeyComparer{a, b}.compare(); }

std::string_view name_of(KeyKind kind) {
  switch (kind) {
    case KeyKind::kernel:
      return "kernel";
    case KeyKind::comm_kernel:
      return "comm_kernel";
    case KeyKind::copy:
      return "copy";
    case KeyKind::op:
      return "operator";
    case KeyKind::annotation:
      return "annotation";
    case KeyKind::wait:
      return "wait";
    case KeyKind::transfer:
      return "transfer";
  }
  return "?";
}

}  // namespace rankscope::analyzer
