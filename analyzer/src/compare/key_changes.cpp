#include "compare/key_changes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
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
    steps_a_ = a.step_walls_ns.size();
    steps_b_ = b.step_walls_ns.size();
    has_steps_ = steps_a_ > 0 && steps_b_ > 0;
    result_.why_no_mean_a = why_no_mean(a);
    result_.why_no_mean_b = why_no_mean(b);
    result_.calls_a = calls_of(a);
    result_.calls_b = calls_of(b);
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
        one_sided(std::move(change), pair.a == nullptr ? Side::b : Side::a);
        continue;
      }
      ++result_.in_both;
      if (!has_steps_) {
        if (change.median_a_ns != change.median_b_ns) result_.medians.push_back(std::move(change));
        continue;
      }
      // What is smaller on both sides cannot have changed by enough; it must not dilute the tests either.
      if (change.longest_ns() < result_.least_change_ns) continue;
      large.push_back(std::move(change));
      if (result_.not_tested.empty()) chances.push_back(chance_of(pair));
    }
    choose(std::move(large), chances);
    sort_all();
    return std::move(result_);
  }

 private:
  /// The run that has a key.
  enum class Side : std::uint8_t { a, b };

  static std::string why_no_mean(const RunDigest& run) {
    if (!run.step_walls_ns.empty()) return {};
    return run.report.steps ? "no step counts" : run.report.steps.error().why;
  }
  static std::string calls_of(const RunDigest& run) {
    return run.step_walls_ns.empty() ? "the whole recording" : counted(run.step_walls_ns.size(), "counted step");
  }
  void note_steps(const RunDigest& a, const RunDigest& b) {
    for (const RunDigest* run : {&a, &b}) {
      if (run->step_walls_ns.size() >= least_steps || !result_.not_tested.empty()) continue;
      result_.not_tested = format("{} has {}, and {} are needed to tell change from chance", run->name.label,
                                  counted(run->step_walls_ns.size(), "counted step"), least_steps);
    }
  }

  /// Nothing without steps; 0 where the run lacks the key.
  static std::optional<std::int64_t> mean_of(const KeySeries* series, std::int64_t ranks, std::size_t steps) {
    if (steps == 0) return std::nullopt;
    if (series == nullptr) return 0;
    std::int64_t sum = 0;
    for (const StepTime& time : series->per_step) sum += time.ns;
    const auto parts = ranks * static_cast<std::int64_t>(steps);
    return (sum + parts / 2) / parts;
  }

  [[nodiscard]] KeyChange change_of(const Pair& pair) const {
    KeyChange change;
    change.key = pair.a != nullptr ? pair.a->key : pair.b->key;
    change.a_ns = mean_of(pair.a, ranks_a_, steps_a_);
    change.b_ns = mean_of(pair.b, ranks_b_, steps_b_);
    if (pair.a != nullptr) {
      change.median_a_ns = pair.a->median_ns;
      change.count_a = pair.a->count;
    }
    if (pair.b != nullptr) {
      change.median_b_ns = pair.b->median_ns;
      change.count_b = pair.b->count;
    }
    return change;
  }

  void one_sided(KeyChange change, Side side) {
    const bool is_new = side == Side::b;
    if (change.longest_ns() < result_.least_change_ns) {
      ++(is_new ? result_.small_appeared : result_.small_gone);
    } else {
      (is_new ? result_.appeared : result_.gone).push_back(std::move(change));
    }
  }

  [[nodiscard]] double chance_of(const Pair& pair) const {
    const auto per_rank = [](const KeySeries& series, std::size_t steps, std::int64_t ranks) {
      std::vector<double> values(steps, 0.0);
      for (const StepTime& time : series.per_step)
        values[time.step] = static_cast<double>(time.ns) / static_cast<double>(ranks);
      return values;
    };
    return mann_whitney(per_rank(*pair.a, steps_a_, ranks_a_), per_rank(*pair.b, steps_b_, ranks_b_)).p;
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
  std::size_t steps_a_ = 0;
  std::size_t steps_b_ = 0;
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
