#include "importers/kineto/own_block.h"

#include <algorithm>

#include "importers/kineto/decimal.h"
#include "importers/kineto/metadata.h"

namespace rankscope::analyzer::kineto {
namespace {

/// The items of a list as texts.
std::vector<std::string> texts_from(std::string_view list) {
  std::vector<std::string> texts;
  for_each_item(list, [&texts](const Value& item) { texts.push_back(text_from(item)); });
  return texts;
}

std::int64_t number(std::string_view text, std::int64_t otherwise = -1) { return integer_of(text).value_or(otherwise); }

/// Within the bounds of decimal.h, so that sums do not overflow.
RunTime time_from(std::string_view text) {
  constexpr std::int64_t furthest = std::int64_t{1} << 61U;
  return at(std::clamp(number(text, 0), -furthest, furthest));
}

/// True where the times that the state covers are in order.
bool in_order(const OwnCollective& row) {
  const bool starts = row.state == CommState::enqueued || row.enqueued <= row.started;
  return starts && (row.state != CommState::finished || row.started <= row.finished);
}

std::optional<CommState> state_from(std::string_view text) {
  switch (number(text)) {
    case static_cast<std::int64_t>(CommState::enqueued):
      return CommState::enqueued;
    case static_cast<std::int64_t>(CommState::started):
      return CommState::started;
    case static_cast<std::int64_t>(CommState::finished):
      return CommState::finished;
    default:
      return std::nullopt;
  }
}

void add_lane(const Value& item, OwnRows& rows) {
  const auto texts = texts_from(item.raw);
  OwnLane lane;
  if (texts.size() == 4) {
    lane = {number(texts[0]), number(texts[1]), lane_kind_from(texts[2]).value_or(LaneKind::thread), texts[3]};
  }
  rows.lanes.push_back(std::move(lane));  // also one that is broken: others are found by their place
}

void add_collective(const Value& item, OwnRows& rows) {
  const auto texts = texts_from(item.raw);
  if (texts.size() != 13) return;
  const auto state = state_from(texts[6]);
  if (!state) return;
  OwnCollective row;
  row.op = texts[0];
  row.dtype = texts[1];
  row.group = number(texts[2]);
  row.sequence = number(texts[3]);
  row.bytes = number(texts[4]);
  row.peer = number(texts[5]);
  row.state = *state;
  row.enqueued = time_from(texts[7]);
  row.started = time_from(texts[8]);
  row.finished = time_from(texts[9]);
  row.lane = number(texts[10]);
  row.enqueued_on = number(texts[11]);
  row.has_span = number(texts[12]) == 1;
  if (in_order(row)) rows.collectives.push_back(std::move(row));
}

OwnRows rows_from(std::string_view object) {
  OwnRows rows;
  for_each_member(object, [&rows](std::string_view key, const Value& value) {
    if (key == "clock") rows.clock.method = text_from(value);
    if (key == "clock_error_ns") rows.clock.error = nanoseconds{std::max<std::int64_t>(number(value.raw), 0)};
    if (key == "lanes") for_each_item(value.raw, [&rows](const Value& item) { add_lane(item, rows); });
    if (key == "collectives") for_each_item(value.raw, [&rows](const Value& item) { add_collective(item, rows); });
    if (key == "local_rank") rows.local_rank = number(value.raw);
    if (key == "recorded_from") rows.recorded.begin = time_from(value.raw);
    if (key == "recorded_to") rows.recorded.end = time_from(value.raw);
    if (key == "ending") rows.ending = ending_from(text_from(value)).value_or(Ending::unknown);
    if (key == "exit_status") rows.exit_status = number(value.raw, 0);
  });
  return rows;
}

void add_place(const Value& item, OwnBlock& own) {
  const auto texts = texts_from(item.raw);
  const auto counter = texts.size() == 3 ? counter_from(texts[0]) : std::nullopt;
  const std::int64_t amount = counter ? number(texts[1]) : -1;
  if (amount > 0) own.places.push_back({*counter, static_cast<std::uint64_t>(amount), texts[2]});
}

}  // namespace

Facts facts_from(std::string_view object) {
  Facts facts;
  for_each_member(object, [&facts](std::string_view key, const Value& value) {
    facts.emplace_back(unescape(key), text_from(value));
  });
  return facts;
}

OwnBlock own_block_from(std::string_view object) {
  OwnBlock own;
  for_each_member(object, [&own](std::string_view key, const Value& value) {
    if (key == "process") own.process = facts_from(value.raw);
    if (key == "run") own.run = facts_from(value.raw);
    if (key == "quality") own.quality = facts_from(value.raw);
    if (key == "places") for_each_item(value.raw, [&own](const Value& item) { add_place(item, own); });
    if (key == "pid") own.pid = integer_of(value.raw);
    if (key == "host") own.host = text_from(value);
    if (key == "program") own.program = text_from(value);
    if (key == "source") own.source = text_from(value);
    if (key == "rows") own.rows = rows_from(value.raw);
  });
  return own;
}

}  // namespace rankscope::analyzer::kineto
