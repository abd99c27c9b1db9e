#include "collectives/call_order.h"

#include <algorithm>
#include <compare>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <span>

#include "collectives/comm_ops.h"
#include "rankscope/core/model/run.h"
#include "steps/step_marks.h"

namespace rankscope::analyzer {
namespace {

using RowList = std::vector<std::uint32_t>;
using OperationRows = std::vector<RowList>;  // the rows of each

constexpr std::size_t one_of_so_many = 20;  // may contradict an order: one damaged event refutes no long recording

/// Inside a step, or between it and the next one.
struct Place {
  std::int64_t step = 0;
  bool after = false;
  auto operator<=>(const Place&) const = default;
};

/// Where calls were made, by the marks of their ranks.
class PlacesOfCalls {
 public:
  explicit PlacesOfCalls(const Run& run) : run_(run) {}

  /// Empty if the rank marks no steps.
  [[nodiscard]] std::span<const StepMark> marks(RankId rank) {
    const auto [at, added] = marks_.try_emplace(rank);
    if (added) at->second = step_marks(run_, rank, MarkSource::step_spans);
    return at->second;
  }

  /// Nothing before the first mark, and where a mark was cut: calls may be missing there.
  [[nodiscard]] std::optional<Place> place_of(const Collective& call) {
    const std::span<const StepMark> all = marks(call.rank);
    const auto after =
        std::ranges::upper_bound(all, call.enqueued, {}, [](const StepMark& mark) { return mark.time.begin; });
    if (after == all.begin()) return std::nullopt;
    const StepMark& mark = *(after - 1);
    if (mark.cut) return std::nullopt;
    return Place{mark.index, !mark.time.contains(call.enqueued)};
  }

 private:
  const Run& run_;
  std::map<RankId, std::vector<StepMark>> marks_;
};

/// Calls of one group, by rank, in their order.
using Calls = std::map<RankId, RowList>;
using CallsByPlace = std::map<RankId, std::map<Place, RowList>>;

std::map<GroupId, Calls> unnumbered_calls(const Run& run) {
  std::map<GroupId, Calls> groups;
  const std::span<const Collective> all = run.collectives();
  for (std::uint32_t row = 0; row < all.size(); ++row) {
    if (!all[row].group.is_set() || all[row].sequence >= 0 || is_point_to_point(run.text(all[row].op))) continue;
    groups[all[row].group][all[row].rank].push_back(row);
  }
  return groups;
}

/// By group: the number behind the largest that was recorded.
std::vector<std::int64_t> first_free_numbers(const Run& run) {
  std::vector<std::int64_t> free(run.groups().size());
  for (const Collective& row : run.collectives())
    if (row.group.is_set() && row.sequence < std::numeric_limits<std::int64_t>::max() / 2)  // others are damaged
      free[row.group.index()] = std::max(free[row.group.index()], row.sequence + 1);
  return free;
}

CallsByPlace by_place(const Run& run, const Calls& calls, PlacesOfCalls& places) {
  CallsByPlace all;
  for (const auto& [rank, rows] : calls) {
    auto& own = all[rank];
    for (const std::uint32_t row : rows)
      if (const auto place = places.place_of(run.collectives()[row])) own[*place].push_back(row);
  }
  return all;
}

bool same_operations(const Run& run, const RowList& a, const RowList& b) {
  return std::ranges::equal(a, b, [&run](std::uint32_t one, std::uint32_t other) {
    return run.collectives()[one].op == run.collectives()[other].op;
  });
}

/// The calls of every rank at this place, if they are the same operations; else nothing.
OperationRows agreed_at(const Run& run, const CallsByPlace& calls, const Place& place) {
  const RowList& first = calls.begin()->second.at(place);
  OperationRows operations(first.size());
  for (const auto& [rank, by_place] : calls) {
    const auto found = by_place.find(place);
    if (found == by_place.end() || !same_operations(run, first, found->second)) return {};
    for (std::size_t i = 0; i < first.size(); ++i) operations[i].push_back(found->second[i]);
  }
  return operations;
}

std::vector<OperationRows> agreed_in_steps(const Run& run, const CallsByPlace& calls) {
  std::vector<OperationRows> steps;
  for (const auto& [place, rows] : calls.begin()->second)
    if (OperationRows agreed = agreed_at(run, calls, place); !agreed.empty()) steps.push_back(std::move(agreed));
  return steps;
}

/// The n-th calls of all ranks that have as many.
OperationRows in_order(const Calls& calls) {
  OperationRows operations;
  for (const auto& [rank, rows] : calls) {
    operations.resize(std::max(operations.size(), rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) operations[i].push_back(rows[i]);
  }
  return operations;
}

/// Which operations of one group contradict the times of their members: where all wait for all, nobody ends before
/// everybody has begun.
class Contradictions {
 public:
  Contradictions(const Run& run, const ClockTrust& clocks, const Calls& calls) : run_(run) {
    std::vector<RankId> ranks;
    for (const auto& [rank, rows] : calls) ranks.push_back(rank);
    comparable_ = clocks.comparable(ranks);
    if (comparable_) error_ns_ = clocks.error_ns(ranks);
  }

  [[nodiscard]] bool in(const RowList& members) const {
    if (!comparable_ || comm_op(run_.text(run_.collectives()[members.front()].op)).wait != WaitRule::all) return false;
    RunTime last_start = RunTime::min();
    RunTime first_end = RunTime::max();
    for (const std::uint32_t row : members) {
      const Collective& part = run_.collectives()[row];
      if (part.state != CommState::enqueued) last_start = std::max(last_start, part.started);
      if (part.state == CommState::finished) first_end = std::min(first_end, part.finished);
    }
    return last_start > RunTime::min() && first_end < RunTime::max() && first_end < last_start &&
           (last_start - first_end).count() > error_ns_;
  }
  [[nodiscard]] bool in_any(const OperationRows& operations) const {
    return std::ranges::any_of(operations, [this](const RowList& members) { return in(members); });
  }
  [[nodiscard]] bool in_too_many(const OperationRows& operations) const {
    const auto count = std::ranges::count_if(operations, [this](const RowList& members) { return in(members); });
    return static_cast<std::size_t>(count) * one_of_so_many > operations.size();
  }

 private:
  const Run& run_;
  bool comparable_ = false;
  std::int64_t error_ns_ = 0;
};

bool are_same_operations(const Run& run, const OperationRows& operations) {
  return std::ranges::all_of(operations, [&run](const RowList& members) {
    return std::ranges::all_of(
        members, [&](std::uint32_t row) { return run.collectives()[row].op == run.collectives()[members.front()].op; });
  });
}

/// The order of one group.
struct Order {
  OperationRows operations;
  bool in_steps = false;
};

/// Step by step; by the order of the whole recording where times contradict that and not this.
Order order_in_steps(const Run& run, const Calls& calls, PlacesOfCalls& places, const Contradictions& contradictions) {
  std::vector<OperationRows> steps = agreed_in_steps(run, by_place(run, calls, places));
  const std::size_t all = steps.size();
  const std::size_t wrong =
      std::erase_if(steps, [&](const OperationRows& step) { return contradictions.in_any(step); });
  if (wrong > 0) {
    OperationRows plain = in_order(calls);
    if (are_same_operations(run, plain) && !contradictions.in_any(plain)) return {std::move(plain), false};
    if (wrong * one_of_so_many > all) return {};
  }
  Order order{.operations = {}, .in_steps = true};
  for (OperationRows& step : steps) std::ranges::move(step, std::back_inserter(order.operations));
  return order;
}

Order order_of(const Run& run, const Calls& calls, PlacesOfCalls& places, const Contradictions& contradictions) {
  const bool marked =
      std::ranges::none_of(calls, [&](const auto& of_rank) { return places.marks(of_rank.first).empty(); });
  if (marked && calls.size() > 1) return order_in_steps(run, calls, places, contradictions);
  OperationRows plain = in_order(calls);
  if (contradictions.in_too_many(plain)) return {};
  return {std::move(plain), false};
}

}  // namespace

CallOrder::CallOrder(const Run& run, const ClockTrust& clocks) {
  const std::map<GroupId, Calls> groups = unnumbered_calls(run);
  if (groups.empty()) return;
  constexpr std::int64_t none = -1;
  numbers_.assign(run.collectives().size(), none);
  const std::vector<std::int64_t> free = first_free_numbers(run);
  PlacesOfCalls places{run};
  for (const auto& [group, calls] : groups) {
    const Order order = order_of(run, calls, places, Contradictions{run, clocks, calls});
    in_steps_ = in_steps_ || order.in_steps;
    std::int64_t next = free[group.index()];
    for (const RowList& members : order.operations) {
      for (const std::uint32_t row : members) numbers_[row] = next;
      ++next;
    }
    for (const auto& [rank, rows] : calls)
      for (const std::uint32_t row : rows)
        if (numbers_[row] == none) numbers_[row] = next++;
  }
}

}  // namespace rankscope::analyzer
