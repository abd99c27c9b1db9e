#include "compare/key_changes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "compare/rank_sum.h"
#include "math/statistics.h"
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

/// The series of one name added up. A sum has no median.
KeySeries sum_of(const std::vector<const KeySeries*>& all) {
  KeySeries sum;
  sum.key = {all.front()->key.kind, all.front()->key.name, {}};
  std::map<std::uint32_t, std::int64_t> per_step;
  for (const KeySeries* series : all) {
    sum.count += series->count;
    for (const StepTime& time : series->per_step) per_step[time.step] += time.ns;
  }
  for (const auto& [step, ns] : per_step) sum.per_step.push_back({step, ns});
  return sum;
}

/// All keys of one kind and name, in both runs.
struct NameSum {
  std::optional<KeySeries> a;
  std::optional<KeySeries> b;
  std::int64_t keys = 0;
  [[nodiscard]] Pair pair() const { return {a ? &*a : nullptr, b ? &*b : nullptr}; }
};

bool of_one_name(const CompareKey& a, const CompareKey& b) { return a.kind == b.kind && a.name == b.name; }

const CompareKey& key_of(const Pair& pair) { return pair.a != nullptr ? pair.a->key : pair.b->key; }

/// `pairs` are sorted by key: those of one name follow each other. Operations of groups are no sums.
std::vector<NameSum> sums_by_name(const std::vector<Pair>& pairs) {
  std::vector<NameSum> sums;
  for (auto first = pairs.begin(); first != pairs.end();) {
    const auto last =
        std::find_if(first, pairs.end(), [&](const Pair& pair) { return !of_one_name(key_of(pair), key_of(*first)); });
    const KeyKind kind = key_of(*first).kind;
    std::vector<const KeySeries*> a;
    std::vector<const KeySeries*> b;
    for (const Pair& pair : std::span{first, last}) {
      if (pair.a != nullptr) a.push_back(pair.a);
      if (pair.b != nullptr) b.push_back(pair.b);
    }
    if (last - first > 1 && kind != KeyKind::wait && kind != KeyKind::transfer) {
      NameSum& sum = sums.emplace_back();
      if (!a.empty()) sum.a = sum_of(a);
      if (!b.empty()) sum.b = sum_of(b);
      sum.keys = last - first;
    }
    first = last;
  }
  return sums;
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
    std::vector<NameSum> sums;
    if (has_steps_) sums = sums_by_name(pairs_);
    const std::size_t keys = large.size();
    take_sums(sums, large, chances);
    choose(std::move(large), chances, keys);
    list_sums_of_one_side();
    drop_sums_explained_by_keys();
    if (has_steps_) note_below(sums);
    sort_all();
    return std::move(result_);
  }

 private:
  /// The run that has a key.
  enum class Side : std::uint8_t { a, b };

  static std::string why_no_mean(const RunDigest& run) {
    if (!run.step_walls_ns.empty()) return {};
    return run.report.steps ? "there are no counted steps" : run.report.steps.error().why;
  }
  static std::string calls_of(const RunDigest& run) {
    return run.step_walls_ns.empty() ? "the whole recording" : counted(run.step_walls_ns.size(), "counted step");
  }
  void note_steps(const RunDigest& a, const RunDigest& b) {
    for (const RunDigest* run : {&a, &b}) {
      if (run->step_walls_ns.size() >= least_compared_steps || !result_.not_tested.empty()) continue;
      result_.not_tested = format("{} has {}, but {} are needed to distinguish a change from chance", run->name.label,
                                  counted(run->step_walls_ns.size(), "counted step"), least_compared_steps);
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

  /// True if one key of the name, of those that are large, changed as the whole name did, to within 1 % of a step.
  [[nodiscard]] bool is_explained_by_one_key(const KeyChange& sum, std::span<const KeyChange> keys) const {
    return std::ranges::any_of(keys, [&](const KeyChange& key) {
      return of_one_name(key.key, sum.key) &&
             std::abs(key.a_ns.value_or(0) - sum.a_ns.value_or(0)) < result_.least_change_ns &&
             std::abs(key.b_ns.value_or(0) - sum.b_ns.value_or(0)) < result_.least_change_ns;
    });
  }

  /// Sums over the grids or inputs of a name that take enough time, and that are not nearly one of their keys: that
  /// would be tested twice.
  void take_sums(const std::vector<NameSum>& sums, std::vector<KeyChange>& large, std::vector<double>& chances) {
    const std::size_t keys = large.size();
    for (const NameSum& sum : sums) {
      KeyChange change = change_of(sum.pair());
      change.keys = sum.keys;
      if (change.longest_ns() < result_.least_change_ns) continue;
      if (is_explained_by_one_key(change, std::span{large}.first(keys))) continue;
      if (!sum.a || !sum.b) {
        sums_of_one_side_.push_back(std::move(change));
        continue;
      }
      large.push_back(std::move(change));
      if (result_.not_tested.empty()) chances.push_back(chance_of(sum.pair()));
    }
  }

  void one_sided(KeyChange change, Side side) {
    const bool is_new = side == Side::b;
    if (change.longest_ns() < result_.least_change_ns) {
      ++(is_new ? result_.small_appeared : result_.small_gone);
    } else {
      (is_new ? result_.appeared : result_.gone).push_back(std::move(change));
    }
  }

  /// A name that only one run has, in keys that are all too small to be listed.
  void list_sums_of_one_side() {
    for (KeyChange& sum : sums_of_one_side_) {
      auto& rows = sum.count_a == 0 ? result_.appeared : result_.gone;
      if (std::ranges::any_of(rows, [&](const KeyChange& row) { return of_one_name(row.key, sum.key); })) continue;
      (sum.count_a == 0 ? result_.small_appeared : result_.small_gone) -= sum.keys;
      rows.push_back(std::move(sum));
    }
  }

  /// A sum is listed where its keys do not tell the change: by 1 % of a step and more.
  void drop_sums_explained_by_keys() {
    const auto told_ns = [this](const CompareKey& key) {
      std::int64_t told = 0;
      for (const auto* rows : {&result_.changed, &result_.appeared, &result_.gone})
        for (const KeyChange& row : *rows)
          if (row.keys == 1 && of_one_name(row.key, key)) told += row.change_ns();
      return told;
    };
    std::vector<KeyChange> kept;
    for (const KeyChange& row : result_.changed)
      if (row.keys == 1 || std::abs(row.change_ns() - told_ns(row.key)) >= result_.least_change_ns) kept.push_back(row);
    result_.changed = std::move(kept);
  }

  /// Where nothing is listed: the largest changes by name, whatever their size.
  void note_below(const std::vector<NameSum>& sums) {
    if (!result_.changed.empty() || !result_.appeared.empty() || !result_.gone.empty()) return;
    constexpr std::size_t most = 5;
    for (const NameSum& sum : sums) {
      result_.below.push_back(change_of(sum.pair()));
      result_.below.back().keys = sum.keys;
    }
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const CompareKey& key = key_of(pairs_[i]);
      const bool in_sum = (i > 0 && of_one_name(key, key_of(pairs_[i - 1]))) ||
                          (i + 1 < pairs_.size() && of_one_name(key, key_of(pairs_[i + 1])));
      const bool of_group = key.kind == KeyKind::wait || key.kind == KeyKind::transfer;
      if (!in_sum || of_group) result_.below.push_back(change_of(pairs_[i]));
    }
    std::erase_if(result_.below, [](const KeyChange& change) { return change.change_ns() == 0; });
    std::ranges::stable_sort(result_.below, {}, [](const KeyChange& change) { return -std::abs(change.change_ns()); });
    if (result_.below.size() > most) result_.below.resize(most);
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

  /// `chances` is parallel to `large`, or empty where there are too few steps to test. The first `keys` are keys, which
  /// alone are counted; the others are sums of them.
  void choose(std::vector<KeyChange> large, const std::vector<double>& chances, std::size_t keys) {
    const std::vector<double> adjusted = adjusted_for_many(chances);
    result_.tested = static_cast<std::int64_t>(std::min(adjusted.size(), keys));
    for (std::size_t i = 0; i < large.size(); ++i) {
      if (std::abs(large[i].change_ns()) < result_.least_change_ns) continue;
      if (!adjusted.empty() && adjusted[i] > false_share) {
        if (i < keys) ++result_.maybe_chance;
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
  std::vector<KeyChange> sums_of_one_side_;
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
