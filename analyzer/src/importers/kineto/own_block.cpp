#include "importers/kineto/own_block.h"

#include <algorithm>
#include <array>

#include "importers/kineto/decimal.h"
#include "importers/kineto/input.h"
#include "importers/kineto/metadata.h"
#include "rankscope/analyzer/open.h"
#include "words/keys.h"

namespace rankscope::analyzer::kineto {
namespace {

std::int64_t number(std::string_view text, std::int64_t otherwise = -1) { return integer_of(text).value_or(otherwise); }

/// Within the bounds of decimal.h, so that sums do not overflow.
constexpr std::int64_t furthest = std::int64_t{1} << 61U;
RunTime time_from(std::string_view text) { return at(std::clamp(number(text, 0), -furthest, furthest)); }

constexpr std::int64_t furthest_zero = std::int64_t{1} << 60U;  // 36 years before the first event
constexpr std::array<std::string_view, 3> sources{"rankscope", "kineto", "nsys"};

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

/// Nothing for what no export writes. A collective cannot start before it is enqueued: where clocks say so, it was
/// enqueued when it started.
std::optional<OwnCollective> collective_from(const Value& item) {
  const auto texts = texts_from(item.raw);
  if (texts.size() != 13) return std::nullopt;
  const auto state = state_from(texts[6]);
  if (!state) return std::nullopt;
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
  if (row.state == CommState::finished && row.finished < row.started) return std::nullopt;
  if (row.state != CommState::enqueued) row.enqueued = std::min(row.enqueued, row.started);
  return row;
}

OwnRows rows_from(std::string_view object) {
  OwnRows rows;
  for_each_member(object, [&rows](std::string_view key, const Value& value) {
    if (key == "clock") rows.clock.method = text_from(value);
    if (key == "clock_error_ns")
      rows.clock.error = nanoseconds{std::clamp<std::int64_t>(number(value.raw), 0, furthest)};
    if (key == "lanes") for_each_item(value.raw, [&rows](const Value& item) { add_lane(item, rows); });
    if (key == "collectives")
      for_each_item(value.raw, [&rows](const Value& item) { rows.collectives.push_back(collective_from(item)); });
    if (key == "zero_ns") rows.zero_ns = std::clamp<std::int64_t>(number(value.raw, 0), -furthest_zero, 0);
    if (key == "local_rank") rows.local_rank = number(value.raw);
    if (key == "recorded_from") rows.recorded.begin = time_from(value.raw);
    if (key == "recorded_to") rows.recorded.end = time_from(value.raw);
    if (key == "ending") rows.ending = ending_from(text_from(value)).value_or(Ending::unknown);
    if (key == "exit_status") rows.exit_status = number(value.raw, 0);
  });
  return rows;
}

std::string source_from(const Value& value) {
  std::string source = text_from(value);
  return std::ranges::find(sources, source) == sources.end() ? std::string{} : source;
}

void add_place(const Value& item, OwnBlock& own) {
  const auto texts = texts_from(item.raw);
  const auto counter = texts.size() == 3 || texts.size() == 4 ? counter_from(texts[0]) : std::nullopt;
  const std::int64_t amount = counter ? number(texts[1]) : -1;
  if (amount <= 0) return;
  const std::int64_t rank = texts.size() == 4 ? number(texts[3]) : -1;
  const bool known = rank >= 0 && rank < most_ranks;
  own.places.push_back({*counter, static_cast<std::uint64_t>(amount), texts[2],
                        known ? RankId{static_cast<std::uint32_t>(rank)} : RankId::none()});
}

/// Facts of the process; an offset that no time can have is none.
Facts process_from(std::string_view object) {
  Facts facts = facts_from(object);
  std::erase_if(facts,
                [](const auto& fact) { return fact.first == keys::file_time_offset && !moved_offset(fact.second, 0); });
  return facts;
}

}  // namespace

Facts facts_from(std::string_view object) {
  Facts facts;
  for_each_member(object, [&facts](std::string_view key, const Value& value) {
    facts.emplace_back(unescape(key), text_from(value));
  });
  return facts;
}

std::optional<OwnBlock> own_block_from(std::string_view object) {
  OwnBlock own;
  std::string schema;
  for_each_member(object, [&own, &schema](std::string_view key, const Value& value) {
    if (key == "schema") schema = text_from(value);
    if (key == "process") own.process = process_from(value.raw);
    if (key == "run") own.run = facts_from(value.raw);
    if (key == "quality") own.quality = facts_from(value.raw);
    if (key == "places") for_each_item(value.raw, [&own](const Value& item) { add_place(item, own); });
    if (key == "pid") own.pid = integer_of(value.raw);
    if (own.pid && (*own.pid < -furthest || *own.pid > furthest)) own.pid.reset();
    if (key == "host") own.host = text_from(value);
    if (key == "program") own.program = text_from(value);
    if (key == "source") own.source = source_from(value);
    if (key == "rows") own.rows = rows_from(value.raw);
  });
  if (schema != own_schema) return std::nullopt;
  // The events of a Kineto trace say all that it holds; only other runs need rows.
  if (own.source != "rankscope" && own.source != "nsys") own.rows.reset();
  return own;
}

}  // namespace rankscope::analyzer::kineto
