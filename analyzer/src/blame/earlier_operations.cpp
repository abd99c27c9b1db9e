#include "blame/earlier_operations.h"

#include <algorithm>

#include "blame/member_times.h"

namespace rankscope::analyzer {
namespace {

// Where all members of a group meet again and again the search ends at once; this is for those that never do.
constexpr std::size_t farthest_back = 1'000;

}  // namespace

bool shows_waits(const Run& run, const Operation& operation) {
  return operation.why_no_wait.empty() && std::ranges::all_of(operation.members, [&](std::uint32_t row) {
           return run.collectives()[row].rank.is_set();
         });
}

EarlierOperations::EarlierOperations(const Run& run, std::span<const Operation> operations)
    : run_(run),
      operations_(operations),
      operation_of_(run.collectives().size(), none),
      rows_by_rank_(run.ranks().size()),
      place_in_rank_(run.collectives().size(), none) {
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    if (!shows_waits(run, operations[i])) continue;
    for (const std::uint32_t row : operations[i].members) {
      operation_of_[row] = i;
      rows_by_rank_[place_of(run, run.collectives()[row].rank)].push_back(row);
    }
  }
  for (std::vector<std::uint32_t>& rows : rows_by_rank_) {
    std::ranges::stable_sort(rows, {}, [&](std::uint32_t row) { return run.collectives()[row].started; });
    for (std::uint32_t i = 0; i < rows.size(); ++i) place_in_rank_[rows[i]] = i;
  }
}

bool EarlierOperations::ended_before(std::uint32_t earlier, std::uint32_t row) const {
  return run_.collectives()[earlier].finished <= run_.collectives()[row].started;
}

std::size_t EarlierOperations::meet(const Operation& operation, std::uint32_t of_last_to_arrive,
                                    std::span<const std::uint32_t> waiting,
                                    std::vector<std::optional<LastTogether>>& found) const {
  const auto rank_of = [this](std::uint32_t row) { return run_.collectives()[row].rank; };
  std::size_t met = 0;
  const auto take = [&](std::size_t i, std::uint32_t row) {
    if (found[i] || !ended_before(row, waiting[i])) return;
    found[i] = LastTogether{row, of_last_to_arrive};
    ++met;
  };
  // Through the shorter of both lists.
  if (operation.members.size() <= waiting.size()) {
    for (const std::uint32_t row : operation.members) {
      const auto at = std::ranges::lower_bound(waiting, rank_of(row), {}, rank_of);
      if (at != waiting.end() && rank_of(*at) == rank_of(row))
        take(static_cast<std::size_t>(at - waiting.begin()), row);
    }
    return met;
  }
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const auto at = std::ranges::lower_bound(operation.members, rank_of(waiting[i]), {}, rank_of);
    if (at != operation.members.end() && rank_of(*at) == rank_of(waiting[i])) take(i, *at);
  }
  return met;
}

std::vector<std::optional<LastTogether>> EarlierOperations::last_together(std::span<const std::uint32_t> waiting,
                                                                          std::uint32_t last_to_arrive) const {
  std::vector<std::optional<LastTogether>> found(waiting.size());
  const std::vector<std::uint32_t>& rows = rows_by_rank_[place_of(run_, run_.collectives()[last_to_arrive].rank)];
  std::size_t left = waiting.size();
  std::size_t walked = 0;
  for (std::size_t i = place_in_rank_[last_to_arrive]; i > 0 && left > 0 && walked < farthest_back; --i, ++walked) {
    const std::uint32_t row = rows[i - 1];
    if (ended_before(row, last_to_arrive)) left -= meet(operations_[operation_of_[row]], row, waiting, found);
  }
  return found;
}

}  // namespace rankscope::analyzer
