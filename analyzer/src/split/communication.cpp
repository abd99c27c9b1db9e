#include "split/communication.h"

#include <algorithm>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "split/row_sums.h"

namespace rankscope::analyzer {
namespace {

std::int64_t steps_with_communication(const RankRow& row) {
  return std::ranges::count_if(row.per_step, [](const TimeSplit& split) { return split.comm_ns > 0; });
}

/// At least half of the steps: with fewer, most of the time that counts as work may be waiting.
bool shows_waits(const RankRow& row) {
  if (row.per_step.empty()) return row.total.comm_ns > 0;
  return 2 * steps_with_communication(row) >= std::ssize(row.per_step);
}

bool shows_nearly_all_waits(const RankRow& row) {
  constexpr std::int64_t one_in = 10;
  const std::int64_t quiet = std::ssize(row.per_step) - steps_with_communication(row);
  return one_in * quiet <= std::ssize(row.per_step);
}

/// On an accelerator only what its streams do is communication: a wait of the host is part of its idle time.
std::string what_is_missing(const Run& run, const RankRow& row) {
  const std::string_view where = run.has_accelerator(row.rank) ? " on its devices" : "";
  if (row.per_step.empty()) return format("no communication of rank {} was recorded{}", row.rank.value, where);
  const std::int64_t with = steps_with_communication(row);
  return format("communication of rank {} was recorded{} in {} of {}", row.rank.value, where,
                with == 0 ? "none" : format("only {}", with), counted(row.per_step.size(), "step"));
}

}  // namespace

std::string why_waits_are_hidden(const Run& run, std::span<const RankRow> rows) {
  if (run.ranks().size() < 2) return {};
  const std::vector<const RankRow*> compared = rows_to_sum(rows);
  const auto hides = [](const RankRow* row) { return !shows_waits(*row); };
  const auto first = std::ranges::find_if(compared, hides);
  if (first == compared.end()) return {};
  const bool none =
      run.collectives().empty() && std::ranges::all_of(rows, [](const RankRow& row) { return row.total.comm_ns == 0; });
  return format("{}: waiting for other ranks cannot be separated from work",
                none ? "no collectives were recorded" : what_is_missing(run, **first));
}

std::string quiet_steps(const Run& run, std::span<const RankRow> rows) {
  const std::vector<const RankRow*> compared = rows_to_sum(rows);
  const auto is_quiet = [](const RankRow* row) { return !shows_nearly_all_waits(*row); };
  const auto first = std::ranges::find_if(compared, is_quiet);
  return first == compared.end() ? std::string{} : what_is_missing(run, **first);
}

std::string_view cause_alone(std::string_view why) { return why.substr(0, why.find(':')); }

}  // namespace rankscope::analyzer
