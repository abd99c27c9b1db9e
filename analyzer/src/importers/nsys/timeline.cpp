#include "importers/nsys/timeline.h"

#include <algorithm>

#include "rankscope/core/format.h"

namespace rankscope::analyzer::nsys {
namespace {

constexpr std::int64_t no_stream = -1;

std::int64_t stream_number(std::int64_t value) { return value == no_value_32 ? no_stream : value; }

}  // namespace

Result<Names> Names::of(const Database& database, RunBuilder& builder) {
  constexpr std::array<std::string_view, 1> columns{"value"};
  if (!database.has("StringIds", "id") || !database.has("StringIds", "value"))
    return fail(
        ErrorKind::unreadable,
        database.path().string() + ": its table StringIds must have the columns id and value; export the report again");
  RS_TRY(Rows rows, database.rows("StringIds", columns, "WHERE id = ?1"));
  return Names{std::move(rows), builder};
}

std::optional<std::string_view> Names::text(std::int64_t id) {
  by_id_.restart(id);
  if (!by_id_.next() || by_id_.is_null(0)) return std::nullopt;
  return by_id_.text(0);
}

StringId Names::intern(std::optional<std::int64_t> id) {
  if (!id) {
    builder_->quality().add(Counter::names_lost);
    return builder_->intern("[unknown]");
  }
  Slot& slot = cache_[static_cast<std::size_t>(*id) % slots];
  if (slot.id == *id && slot.name.is_set()) return slot.name;
  const auto found = text(*id);
  if (!found) builder_->quality().add(Counter::names_lost);
  slot = {*id, builder_->intern(found.value_or("[unknown]"))};
  return slot.name;
}

Timeline::Timeline(RunBuilder& builder, const Census& census, Names names, std::int64_t shift)
    : builder_(builder), census_(census), names_(std::move(names)), shift_(shift) {
  builder_.quality().add(Counter::events_incomplete, census.unusable);
}

void Timeline::add_process(ProcessKey key, Process process) {
  const RankId rank = process.rank;
  rows_[key] = {.row = builder_.add_process(std::move(process)), .rank = rank};
}

void Timeline::name_thread(std::int64_t global_tid, std::string name) {
  thread_names_.insert_or_assign(global_tid, std::move(name));
}

std::optional<ProcessKey> Timeline::process(std::optional<std::int64_t> global_id) const {
  const ProcessKey key = global_id ? ProcessKey::of(*global_id) : census_.default_process();
  return rows_.contains(key) ? std::optional{key} : std::nullopt;
}

LaneId Timeline::thread(ProcessKey key, std::optional<std::int64_t> global_tid) {
  const std::int64_t id = global_tid.value_or(key.value);
  const auto [found, added] = threads_.try_emplace(id);
  if (!added) return found->second;
  const std::int64_t tid = thread_of(id);
  const auto known = thread_names_.find(id);
  std::string name = format("thread {}", tid);
  if (tid != 0 && tid == key.pid())
    name = "main";
  else if (known != thread_names_.end() && !known->second.empty())
    name = format("{} {}", known->second, tid);
  return found->second = builder_.add_lane(row(key), LaneKind::thread, name, tid);
}

LaneId Timeline::stream(ProcessKey key, std::int64_t device, std::int64_t stream) {
  ProcessRows& process = rows_.at(key);
  const std::int64_t number = stream_number(stream);
  const auto [found, added] = process.streams.try_emplace({device, number});
  if (!added) return found->second;
  const auto seen = census_.processes.find(key);
  const bool several = seen != census_.processes.end() && seen->second.devices.size() > 1;
  const std::string own = number == no_stream ? "whole device" : format("stream {}", number);
  const std::string name = several ? format("GPU {} {}", device, own) : own;
  const auto ordinal = static_cast<std::int32_t>(std::clamp<std::int64_t>(device, -1, INT32_MAX));
  return found->second = builder_.add_lane(process.row, LaneKind::stream, name, number, ordinal);
}

LaneId Timeline::ranges(ProcessKey key) {
  ProcessRows& process = rows_.at(key);
  if (!process.ranges.is_set()) process.ranges = builder_.add_lane(process.row, LaneKind::thread, "ranges", 0);
  return process.ranges;
}

std::int64_t Timeline::device_of_context(ProcessKey key, std::optional<std::int64_t> context,
                                         std::optional<std::int64_t> otherwise) const {
  const auto found = census_.device_of_context.find({key, context.value_or(-1)});
  return found == census_.device_of_context.end() ? otherwise.value_or(-1) : found->second;
}

std::optional<Timeline::When> Timeline::when(ProcessKey key, std::optional<std::int64_t> begin,
                                             std::optional<std::int64_t> end) {
  if (!begin || !is_plausible(*begin)) return std::nullopt;  // the census has counted it
  When when{.time = {run_time(*begin), {}}};
  if (end && is_plausible(*end)) {
    when.time.end = run_time(std::max(*end, *begin));
    if (*end < *begin) builder_.quality().add(Counter::negative_duration);
  } else {
    builder_.quality().add(Counter::spans_unclosed);
    when.time.end = run_time(std::max(census_.last.value_or(*begin), *begin));
    when.flags = span_flag::cut_end;
  }
  auto& seen = rows_.at(key).seen;
  if (!seen) seen = when.time;
  seen->begin = std::min(seen->begin, when.time.begin);
  seen->end = std::max(seen->end, when.time.end);
  return when;
}

std::optional<RunTime> Timeline::moment(ProcessKey key, std::optional<std::int64_t> time) {
  const auto found = when(key, time, time);
  return found ? std::optional{found->time.begin} : std::nullopt;
}

void Timeline::finish() {
  for (const auto& [key, process] : rows_)
    if (process.seen) builder_.process(process.row).recorded = *process.seen;
}

}  // namespace rankscope::analyzer::nsys
