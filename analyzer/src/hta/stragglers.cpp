// HTA's search for stragglers (metrics.md 19.9): it votes for whoever begins one chosen kernel last, on raw clocks.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "hta/find.h"

namespace rankscope::analyzer {
namespace {

constexpr double least_share = 0.01;  ///< of the mean step

/// What the ranks are compared by: the last such kernel of a rank in a step.
using Key = std::tuple<std::int64_t, StringId, std::int64_t>;  // stream, name, step
struct Occurrence {
  std::int64_t begin_ns = 0;
  std::int64_t length_ns = 0;
};
using RowsOfName = std::map<Key, std::map<RankId, Occurrence>>;

struct TimedRow {
  RankId rank;
  std::int64_t step = 0;
  const HtaRow* row = nullptr;
};

/// Rows of the device in the steps of their launches, of all ranks, by begin within a rank.
std::vector<TimedRow> rows_in_steps(std::span<const HtaRows> ranks) {
  std::vector<TimedRow> rows;
  for (const HtaRows& rank : ranks)
    for (const HtaRow& row : rank.device) {
      if (row.copies == 0 || row.stream <= 0) continue;
      const HtaRow* const launch = rank.launch_of(row);
      if (launch == nullptr) continue;
      if (const auto step = rank.step_at(launch->begin_ns)) rows.push_back({rank.rank, *step, &row});
    }
  return rows;
}

/// Length of all steps by their number, as HTA has it; 0 if there are none.
double mean_step(std::span<const HtaRows> ranks, std::span<const TimedRow> rows) {
  std::set<std::int64_t> indices;
  std::int64_t begin = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  for (const HtaRows& rank : ranks) {
    if (!rank.steps_begin_ns) continue;
    begin = std::min(begin, *rank.steps_begin_ns);
    end = std::max(end, rank.steps_end_ns);
    indices.insert(rank.steps_kept.begin(), rank.steps_kept.end());
  }
  for (const TimedRow& row : rows) {
    begin = std::min(begin, row.row->begin_ns);
    end = std::max(end, row.row->end_ns);
    indices.insert(row.step);
  }
  return indices.empty() ? 0 : static_cast<double>(end - begin) / static_cast<double>(indices.size());
}

RowsOfName candidates(std::span<const TimedRow> rows, HtaNames& names, double mean_step_ns) {
  RowsOfName table;
  for (const TimedRow& row : rows) {
    const bool long_enough = static_cast<double>(row.row->length_ns()) >= least_share * mean_step_ns;
    if (row.step > 0 && long_enough && names.of(row.row->name).nccl_kernel)
      table[{row.row->stream, row.row->name, row.step}][row.rank] = {row.row->begin_ns, row.row->length_ns()};
  }
  return table;
}

/// Sample standard deviation of the lengths; nothing of one rank.
std::optional<double> deviation(const std::map<RankId, Occurrence>& ranks) {
  if (ranks.size() < 2) return std::nullopt;
  const auto count = static_cast<double>(ranks.size());
  double mean = 0;
  for (const auto& [rank, row] : ranks) mean += static_cast<double>(row.length_ns) / count;
  double squares = 0;
  for (const auto& [rank, row] : ranks) squares += std::pow(static_cast<double>(row.length_ns) - mean, 2);
  return std::sqrt(squares / (count - 1));
}

/// The stream and name whose lengths differ most between ranks, on average over steps.
std::optional<std::pair<std::int64_t, StringId>> most_uneven(const RowsOfName& table) {
  std::map<std::pair<std::int64_t, StringId>, std::pair<double, int>> sums;
  for (const auto& [key, ranks] : table)
    if (const auto uneven = deviation(ranks)) {
      auto& [sum, count] = sums[{std::get<0>(key), std::get<1>(key)}];
      sum += *uneven;
      ++count;
    }
  if (sums.empty()) return std::nullopt;
  const auto mean = [](const auto& entry) { return entry.second.first / entry.second.second; };
  return std::ranges::max_element(sums, {}, mean)->first;
}

}  // namespace

Section<HtaStragglers> hta_stragglers(std::span<const HtaRows> ranks, HtaNames& names) {
  const std::vector<TimedRow> rows = rows_in_steps(ranks);
  const RowsOfName table = candidates(rows, names, mean_step(ranks, rows));
  const auto chosen = most_uneven(table);
  if (!chosen)
    return unavailable(
        "no kernel whose name begins with ncclKernel takes 1 % of a step or more on two ranks in the same step");
  HtaStragglers result{.kernel = std::string{names.text(chosen->second)}, .stream = chosen->first, .votes = {}};
  std::map<RankId, std::int64_t> votes;
  for (const HtaRows& rank : ranks) votes[rank.rank] = 0;
  for (const auto& [key, starts] : table) {
    if (std::get<0>(key) != chosen->first || std::get<1>(key) != chosen->second) continue;
    ++result.steps;
    const auto begin = [](const auto& entry) { return entry.second.begin_ns; };
    const std::int64_t last = begin(*std::ranges::max_element(starts, {}, begin));
    for (const auto& entry : starts)
      if (begin(entry) == last) ++votes[entry.first];
  }
  for (const auto& [rank, steps] : votes) result.votes.push_back({rank, steps});
  return result;
}

}  // namespace rankscope::analyzer
