// Rows about operations, the ranks' parts of them, and steps.
#include <algorithm>

#include "tables/rows.h"

namespace rankscope::analyzer {
namespace {

std::string_view state_name(CommState state) {
  switch (state) {
    case CommState::enqueued:
      return "enqueued";
    case CommState::started:
      return "started";
    case CommState::finished:
      return "finished";
  }
  return "";
}

StringId group_name(const Run& run, GroupId group) {
  return group.is_set() ? run.groups()[group.index()].name : StringId::none();
}

TimeRange time_of(const Collective& member) {
  const RunTime begin = member.state == CommState::enqueued ? member.enqueued : member.started;
  return {begin, member.state == CommState::finished ? member.finished : begin + nanoseconds{1}};
}

}  // namespace

void fill_operations(TableSources& sources, SourceRows rows, RowWriter& add) {
  const Run& run = sources.run();
  const auto is_kept = [&](std::uint32_t row) {
    const Collective& member = run.collectives()[row];
    return sources.filter().keeps(member.rank, time_of(member));
  };
  for (std::size_t row = rows.first; row < rows.end; ++row) {
    const Operation& operation = sources.matching().section->operations[row];
    if (!sources.filter().all() && std::ranges::none_of(operation.members, is_kept)) continue;
    add(row_number(row), number_of(operation.group), group_name(run, operation.group), operation.op,
        recorded(operation.sequence), recorded(operation.bytes), row_number(operation.members.size()),
        operation.complete, number_of(operation.first_rank), number_of(operation.last_rank),
        ns_of(operation.first_start), ns_of(operation.last_start),
        operation.why_no_wait.empty() ? Whole{operation.wait_ns} : std::nullopt,
        operation.why_no_transfer.empty() ? Whole{operation.transfer_ns} : std::nullopt);
  }
}

void fill_collectives(TableSources& sources, SourceRows rows, RowWriter& add) {
  const Run& run = sources.run();
  const Matching& matching = sources.matching();
  const std::vector<Whole>& operation_of = sources.operation_of_rows();
  for (std::size_t row = rows.first; row < rows.end; ++row) {
    const Collective& member = run.collectives()[row];
    if (!sources.filter().keeps(member.rank, time_of(member))) continue;
    const bool started = member.state != CommState::enqueued;
    const bool finished = member.state == CommState::finished;
    const bool split = finished && row < matching.parts.size() && matching.parts[row].split;
    const bool moved = split && matching.parts[row].rest_is_transfer;
    const std::int64_t wait = split ? matching.parts[row].wait_ns : 0;
    const std::int64_t length = (member.finished - member.started).count();
    add(row_number(row), operation_of[row], number_of(member.rank), number_of(member.group),
        group_name(run, member.group), member.op, member.dtype, recorded(member.sequence), recorded(member.bytes),
        recorded(member.peer), state_name(member.state), ns_of(member.enqueued),
        started ? Whole{ns_of(member.started)} : std::nullopt, finished ? Whole{ns_of(member.finished)} : std::nullopt,
        number_of(member.lane), number_of(member.enqueued_on), number_of(member.span),
        split ? Whole{wait} : std::nullopt, moved ? Whole{length - wait} : std::nullopt,
        split ? number_of(matching.parts[row].waited_for) : std::nullopt);
  }
}

void fill_steps(TableSources& sources, SourceRows rows, RowWriter& add) {
  const StepsSection& section = *sources.steps().section;
  for (std::size_t row = rows.first; row < rows.end; ++row) {
    const Step& step = section.steps[row];
    if (!sources.filter().keeps_step(step.index)) continue;
    add(step.index, ns_of(step.time.begin), ns_of(step.time.end), step.wall_ns, step.complete, step.warm_up);
  }
}

void fill_rank_steps(TableSources& sources, SourceRows rows, RowWriter& add) {
  const StepsSection& section = *sources.steps().section;
  for (std::size_t row = rows.first; row < rows.end; ++row) {
    const StepWindow& step = section.windows[row];
    if (!sources.filter().keeps(step.rank) || !sources.filter().keeps_step(step.index)) continue;
    add(number_of(step.rank), step.index, ns_of(step.window.begin), ns_of(step.window.end),
        std::int64_t{step.window.length().count()}, step.complete);
  }
}

}  // namespace rankscope::analyzer
