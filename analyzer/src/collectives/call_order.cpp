#include "collectives/call_order.h"

#include <algorithm>
#include <span>

#include "collectives/comm_ops.h"
#include "steps/step_marks.h"

namespace rankscope::analyzer {
namespace {

using RowList = std::vector<std::uint32_t>;
using RowsByStep = std::map<std::int64_t, RowList>;

constexpr std::int64_t no_step = -1;  // outside of all steps

/// The step in which a call was made, by the marks of its rank.
class StepsOfCalls {
 public:
  explicit StepsOfCalls(const Run& run) : run_(run) {}

  /// Empty if the rank marks no steps.
  [[nodiscard]] std::span<const StepMark> marks(RankId rank) {
    const auto [at, added] = marks_.try_emplace(rank);
    if (added) at->second = step_marks(run_, rank, MarkSource::step_spans);
    return at->second;
  }

  [[nodiscard]] std::int64_t step_of(const Collective& call) {
    const std::span<const StepMark> all = marks(call.rank);
    const auto after =
        std::ranges::upper_bound(all, call.enqueued, {}, [](const StepMark& mark) { return mark.time.begin; });
    if (after == all.begin()) return no_step;
    const StepMark& mark = *(after - 1);
    return mark.time.contains(call.enqueued) && !mark.cut ? mark.index : no_step;
  }

 private:
  const Run& run_;
  std::map<RankId, std::vector<StepMark>> marks_;
};

/// Calls of one group, by rank and step, in their order.
using Calls = std::map<RankId, RowsByStep>;

std::map<GroupId, Calls> unnumbered_calls(const Run& run, StepsOfCalls& steps) {
  std::map<GroupId, Calls> groups;
  const std::span<const Collective> all = run.collectives();
  for (std::uint32_t row = 0; row < all.size(); ++row) {
    if (!all[row].group.is_set() || all[row].sequence >= 0 || is_point_to_point(run.text(all[row].op))) continue;
    groups[all[row].group][all[row].rank][steps.step_of(all[row])].push_back(row);
  }
  return groups;
}

bool same_operations(const Run& run, const RowList& a, const RowList& b) {
  return std::ranges::equal(a, b, [&run](std::uint32_t one, std::uint32_t other) {
    return run.collectives()[one].op == run.collectives()[other].op;
  });
}

/// The calls of every rank in this step, if they are the same operations; else nothing.
std::vector<const RowList*> agreed_in(const Run& run, const Calls& calls, std::int64_t step) {
  std::vector<const RowList*> of_ranks;
  for (const auto& [rank, by_step] : calls) {
    const auto found = by_step.find(step);
    if (found == by_step.end()) return {};
    of_ranks.push_back(&found->second);
    if (!same_operations(run, *of_ranks.front(), found->second)) return {};
  }
  return of_ranks;
}

void number(const Run& run, const Calls& calls, std::map<std::uint32_t, std::int64_t>& numbers) {
  std::int64_t next = 0;
  for (const auto& [step, first] : calls.begin()->second) {
    const std::vector<const RowList*> agreed =
        step == no_step ? std::vector<const RowList*>{} : agreed_in(run, calls, step);
    for (const RowList* rows : agreed)
      for (std::size_t i = 0; i < rows->size(); ++i) numbers[(*rows)[i]] = next + static_cast<std::int64_t>(i);
    if (!agreed.empty()) next += static_cast<std::int64_t>(first.size());
  }
  for (const auto& [rank, by_step] : calls)
    for (const auto& [step, rows] : by_step)
      for (const std::uint32_t row : rows)
        if (numbers.try_emplace(row, next).second) ++next;
}

}  // namespace

CallOrder::CallOrder(const Run& run) {
  StepsOfCalls steps{run};
  for (const auto& [group, calls] : unnumbered_calls(run, steps)) {
    const bool marked =
        std::ranges::none_of(calls, [&](const auto& of_rank) { return steps.marks(of_rank.first).empty(); });
    if (marked && calls.size() > 1) number(run, calls, numbers_);
  }
}

std::int64_t CallOrder::number_of(std::uint32_t row, std::int64_t order) const {
  const auto found = numbers_.find(row);
  return found == numbers_.end() ? order : found->second;
}

}  // namespace rankscope::analyzer
