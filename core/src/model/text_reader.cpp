// Text form -> Run; the grammar is in text.h.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run_builder.h"
#include "rankscope/core/model/text.h"
#include "rankscope/core/numbers.h"
#include "text_groups.h"
#include "text_quality.h"
#include "text_words.h"

namespace rankscope {
namespace {

using text::integer;
using text::rank_from;
using text::Word;
using Words = std::vector<Word>;

constexpr std::uint32_t no_process = 0xFFFFFFFF;

class TextReader {
 public:
  explicit TextReader(Texts texts) : builder_(texts) {}
  Result<std::shared_ptr<const Run>> read(std::string_view all, const std::function<bool(double)>& progress);

 private:
  Result<void> line(std::string_view line);
  Result<void> directive(const Words& words);
  Result<void> run_line(const Words& words);
  Result<void> process_line(const Words& words);
  Result<void> lane_line(const Words& words);
  Result<void> group_line(const Words& words);
  Result<void> quality_line(const Words& words);
  Result<void> event(const Words& words);
  Result<void> span_line(RankId rank, SpanKind kind, const Words& words);
  Result<void> counter_line(RankId rank, const Words& words);
  Result<void> mark_line(RankId rank, const Words& words);
  Result<void> device_line(const Words& words);
  Result<void> link_line(const Words& words);
  AttributeValue value_of(const Word& word);
  Result<void> collective(const NewCollective& base, const Words& words, const std::string& name);
  std::uint32_t process_of(RankId rank);
  LaneId lane_of(std::uint32_t process, std::string_view name, LaneKind kind);

  RunBuilder builder_;
  std::int64_t spans_ = 0;
  std::map<RankId, std::uint32_t> process_rows_;  // latest process of each rank
  std::uint32_t latest_process_ = no_process;
  std::map<std::pair<std::uint32_t, std::string>, LaneId> lanes_;
  text::Groups groups_;
  std::map<std::pair<std::uint32_t, std::string>, std::int64_t> next_sequence_;
};

tl::unexpected<Error> wrong(std::string message) { return fail(ErrorKind::unreadable, std::move(message)); }

const Word* find(const Words& words, std::string_view key) {
  const auto found = std::ranges::find_if(words, [&](const Word& word) { return word.key == key && !word.key_quoted; });
  return found == words.end() ? nullptr : &*found;
}

Result<std::int64_t> integer_or(const Words& words, std::string_view key, std::int64_t fallback) {
  const Word* word = find(words, key);
  return word == nullptr ? Result<std::int64_t>{fallback} : integer(word->value);
}

struct DefaultLane {
  std::string_view name;
  LaneKind kind;
};
DefaultLane default_lane(SpanKind kind) {
  switch (kind) {
    case SpanKind::comm:
      return {"comm", LaneKind::comm};
    case SpanKind::compute:
    case SpanKind::memory:
    case SpanKind::graph:
      return {"stream 0", LaneKind::stream};
    case SpanKind::loader:
      return {"loader", LaneKind::thread};
    case SpanKind::user:
    case SpanKind::step:
    case SpanKind::data:
    case SpanKind::forward:
    case SpanKind::backward:
    case SpanKind::optimizer:
    case SpanKind::op:
    case SpanKind::wait:
    case SpanKind::sync:
    case SpanKind::checkpoint:
    case SpanKind::runtime:
    case SpanKind::overhead:
    case SpanKind::api:
    case SpanKind::python:
      return {"main", LaneKind::thread};
  }
  return {"main", LaneKind::thread};
}

Result<std::shared_ptr<const Run>> TextReader::read(std::string_view all, const std::function<bool(double)>& progress) {
  constexpr std::size_t lines_at_a_time = 1 << 12;
  const auto length = static_cast<double>(all.size());
  std::size_t number = 0;
  while (!all.empty()) {
    if (progress && number % lines_at_a_time == 0 && !progress(1 - static_cast<double>(all.size()) / length))
      return wrong("reading was cancelled");
    const std::size_t end = std::min(all.find('\n'), all.size());
    ++number;
    RS_TRY_VOID(line(all.substr(0, end)).map_error(while_doing(format("line {}", number))));
    all.remove_prefix(std::min(end + 1, all.size()));
  }
  return std::move(builder_).build();
}

Result<void> TextReader::line(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos || line[first] == '#') return {};
  RS_TRY(const Words words, text::split_line(line));
  return words.front().value.starts_with('@') && !words.front().quoted ? directive(words) : event(words);
}

Result<void> TextReader::directive(const Words& words) {
  const std::string& name = words.front().value;
  if (name == "@run") return run_line(words);
  if (name == "@rank" || name == "@process") return process_line(words);
  if (name == "@lane") return lane_line(words);
  if (name == "@device") return device_line(words);
  if (name == "@link") return link_line(words);
  if (name == "@group") return group_line(words);
  if (name == "@quality") return quality_line(words);
  return wrong(format("the directive '{}' is unknown", name));
}

Result<void> TextReader::run_line(const Words& words) {
  RunInfo& info = builder_.info();
  for (std::size_t i = 1; i < words.size(); ++i) {
    const Word& word = words[i];
    if (word.key == "source") {
      info.source = word.value;
    } else if (word.key == "world_size") {
      RS_TRY(info.world_size, integer(word.value));
    } else if (word.key == "clock") {
      info.clock.method = word.value;
    } else if (word.key == "clock_error") {
      RS_TRY(const std::int64_t error, integer(word.value));
      info.clock.error = nanoseconds{error};
    } else if (word.key == "origin_unix") {
      RS_TRY(info.origin_unix_ns, integer(word.value));
    } else if (word.key.starts_with("meta.")) {
      info.metadata.emplace_back(word.key.substr(5), word.value);
    } else {
      return wrong(format("@run has no field '{}'", word.key.empty() ? word.value : word.key));
    }
  }
  return {};
}

Result<void> TextReader::process_line(const Words& words) {
  if (words.size() < 2) return wrong("@rank needs a rank, or - for none");
  Process process;
  RS_TRY(process.rank, rank_from(words[1].value));
  for (std::size_t i = 2; i < words.size(); ++i) {
    const Word& word = words[i];
    if (word.key == "pid") {
      RS_TRY(process.pid, integer(word.value));
    } else if (word.key == "local_rank") {
      RS_TRY(process.local_rank, integer(word.value));
    } else if (word.key == "host") {
      process.host = builder_.intern(word.value);
    } else if (word.key == "program") {
      process.program = builder_.intern(word.value);
    } else if (word.key == "recorded") {
      RS_TRY(process.recorded, text::time_range_from(word.value));
    } else if (word.key == "ended") {
      const std::size_t colon = std::min(word.value.find(':'), word.value.size());
      const auto ending = ending_from(std::string_view{word.value}.substr(0, colon));
      if (!ending) return wrong(format("ended must be unknown, exited or vanished (is '{}')", word.value));
      process.ending = *ending;
      if (colon < word.value.size()) {
        RS_TRY(process.exit_status, integer(std::string_view{word.value}.substr(colon + 1)));
      }
    } else if (word.key.starts_with("meta.")) {
      process.metadata.emplace_back(builder_.intern(word.key.substr(5)), builder_.intern(word.value));
    } else {
      return wrong(format("@rank has no field '{}'", word.key.empty() ? word.value : word.key));
    }
  }
  const RankId rank = process.rank;
  latest_process_ = builder_.add_process(std::move(process));
  process_rows_[rank] = latest_process_;
  return {};
}

Result<void> TextReader::lane_line(const Words& words) {
  if (words.size() < 3) return wrong("@lane needs a rank and a name");
  RS_TRY(const RankId rank, rank_from(words[1].value));
  LaneKind kind = LaneKind::thread;
  if (const Word* word = find(words, "kind")) {
    const auto known = lane_kind_from(word->value);
    if (!known) return wrong(format("'{}' is not a kind of lane", word->value));
    kind = *known;
  }
  RS_TRY(const std::int64_t number, integer_or(words, "number", 0));
  RS_TRY(const std::int64_t device, integer_or(words, "device", -1));
  const std::uint32_t process = process_of(rank);
  lanes_[{process, words[2].value}] =
      builder_.add_lane(process, kind, words[2].value, number, static_cast<std::int32_t>(device));
  return {};
}

Result<void> TextReader::device_line(const Words& words) {
  if (words.size() < 3) return wrong("@device needs a rank and an ordinal");
  RS_TRY(const RankId rank, rank_from(words[1].value));
  RS_TRY(const std::int64_t ordinal, integer(words[2].value));
  Device device{.process = process_of(rank), .ordinal = static_cast<std::int32_t>(ordinal)};
  for (std::size_t i = 3; i < words.size(); ++i) {
    const Word& word = words[i];
    if (word.key == "name") {
      device.name = builder_.intern(word.value);
    } else if (word.key == "uuid") {
      device.uuid = builder_.intern(word.value);
    } else if (word.key.starts_with("meta.")) {
      device.metadata.emplace_back(builder_.intern(word.key.substr(5)), builder_.intern(word.value));
    } else {
      return wrong(format("@device has no field '{}'", word.key.empty() ? word.value : word.key));
    }
  }
  builder_.add_device(std::move(device));
  return {};
}

Result<void> TextReader::link_line(const Words& words) {
  if (words.size() != 4) return wrong("@link needs KIND FROM TO");
  const auto kind = link_kind_from(words[1].value);
  if (!kind) return wrong(format("'{}' is not a kind of link", words[1].value));
  RS_TRY(const std::int64_t from, integer(words[2].value));
  RS_TRY(const std::int64_t to, integer(words[3].value));
  if (std::min(from, to) < 0 || std::max(from, to) >= spans_)
    return wrong("@link refers to a span that is not defined above this line");
  builder_.add_link(*kind, static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to));
  return {};
}

AttributeValue TextReader::value_of(const Word& word) {
  if (word.json) return JsonText{builder_.intern(word.value)};
  const auto number = word.quoted ? std::nullopt : number_from<std::int64_t>(word.value);
  return number ? AttributeValue{*number} : AttributeValue{builder_.intern(word.value)};
}

Result<void> TextReader::group_line(const Words& words) {
  if (words.size() != 3) return wrong("@group needs a name and its ranks: @group dp 0,1,2");
  RS_TRY(std::vector<RankId> members, text::ranks_from(words[2].value));
  const GroupId id = builder_.add_group(words[1].value, members);
  groups_.declare(words[1].value, std::move(members), id);
  return {};
}

Result<void> TextReader::quality_line(const Words& words) {
  RS_TRY(QualityPlace place, text::quality_place_from(words));
  builder_.quality().add(place.counter, place.amount);
  if (words.size() > 3) builder_.info().places.push_back(std::move(place));
  return {};
}

Result<void> TextReader::event(const Words& words) {
  if (words.size() < 4)
    return wrong(
        "this is not a line of the output of `rankscope dump`, the only text format that is read as a recording: an "
        "event has at least four words, RANK KIND TIME NAME");
  RS_TRY(const RankId rank, rank_from(words[0].value));
  const std::string& kind = words[1].value;
  if (kind == "counter") return counter_line(rank, words);
  if (kind == "mark") return mark_line(rank, words);
  const auto known = span_kind_from(kind);
  if (!known) return wrong(format("'{}' is not a kind of span", kind));
  return span_line(rank, *known, words);
}

std::uint32_t TextReader::process_of(RankId rank) {
  if (const auto found = process_rows_.find(rank); found != process_rows_.end()) return found->second;
  Process process;
  process.rank = rank;
  return process_rows_[rank] = builder_.add_process(std::move(process));
}

LaneId TextReader::lane_of(std::uint32_t process, std::string_view name, LaneKind kind) {
  const auto [found, added] = lanes_.try_emplace({process, std::string{name}}, LaneId{});
  if (added) found->second = builder_.add_lane(process, kind, name, 0);
  return found->second;
}

Result<std::uint8_t> flags_from(const Words& words) {
  const Word* cut = find(words, "cut");
  if (cut == nullptr) return std::uint8_t{0};
  if (cut->value == "begin") return span_flag::cut_begin;
  if (cut->value == "end") return span_flag::cut_end;
  if (cut->value == "both") return static_cast<std::uint8_t>(span_flag::cut_begin | span_flag::cut_end);
  return wrong(format("cut must be begin, end or both (is '{}')", cut->value));
}

Result<void> TextReader::span_line(RankId rank, SpanKind kind, const Words& words) {
  if (words.size() < 5 || !words[4].key.empty()) return wrong("a span needs RANK KIND BEGIN END NAME");
  RS_TRY(const std::int64_t begin, integer(words[2].value));
  const bool open = words[3].value == "-" && kind == SpanKind::comm;
  RS_TRY(const std::int64_t end, open ? Result<std::int64_t>{begin} : integer(words[3].value));
  RS_TRY(const std::uint8_t flags, flags_from(words));
  const std::uint32_t process = process_of(rank);
  const DefaultLane fallback = default_lane(kind);
  const Word* lane_word = find(words, "lane");
  const LaneId lane = lane_of(process, lane_word != nullptr ? lane_word->value : fallback.name, fallback.kind);
  NewCollective base{.rank = rank, .group = {}, .op = {}, .dtype = {}, .lane = lane, .enqueued_on = {}};
  base.enqueued = base.started = at(begin);
  base.finished = at(end);
  if (open) {
    const Word* state = find(words, "state");
    base.state = state != nullptr && state->value == "started" ? CommState::started : CommState::enqueued;
    if (find(words, "group") == nullptr) return wrong("an unfinished collective needs group=");
    if (base.state == CommState::enqueued) base.lane = LaneId::none();
    return collective(base, words, words[4].value);
  }
  base.span_ticket = builder_.add_span(lane, kind, builder_.intern(words[4].value), {at(begin), at(end)}, flags);
  ++spans_;
  for (std::size_t i = 5; i < words.size(); ++i) {
    const Word& word = words[i];
    if (word.key.empty() || (!word.key_quoted && text::is_own_key(kind, word.key))) continue;
    builder_.add_attribute(base.span_ticket, builder_.intern(word.key), value_of(word));
  }
  const bool unfinished = (flags & span_flag::cut_end) != 0 && find(words, "state") != nullptr;
  if (unfinished) base.state = CommState::started;
  return kind == SpanKind::comm && find(words, "group") != nullptr ? collective(base, words, words[4].value)
                                                                   : Result<void>{};
}

Result<void> TextReader::collective(const NewCollective& base, const Words& words, const std::string& name) {
  NewCollective result = base;
  const std::string& group = find(words, "group")->value;
  const std::uint32_t process = process_of(result.rank);
  const bool unknown_group = group == "-" && !find(words, "group")->quoted;
  const Word* members = find(words, "members");
  if (!unknown_group) {
    const auto listed = members == nullptr ? std::nullopt : std::optional<std::string_view>{members->value};
    RS_TRY(result.group, groups_.find(group, result.rank, listed));
  }
  std::int64_t& next = next_sequence_[{process, group}];
  RS_TRY(result.sequence, integer_or(words, "seq", next));
  next = std::min(result.sequence, std::numeric_limits<std::int64_t>::max() - 1) + 1;
  RS_TRY(result.bytes, integer_or(words, "bytes", -1));
  RS_TRY(result.peer, integer_or(words, "peer", -1));
  RS_TRY(const std::int64_t enqueued, integer_or(words, "enqueued", ns_of(base.enqueued)));
  result.enqueued = at(enqueued);
  const Word* op = find(words, "op");
  const Word* dtype = find(words, "dtype");
  result.op = builder_.intern(op != nullptr ? op->value : name);
  result.dtype = dtype != nullptr ? builder_.intern(dtype->value) : StringId::none();
  if (const Word* on = find(words, "on")) result.enqueued_on = lane_of(process, on->value, LaneKind::thread);
  builder_.add_collective(result);
  return {};
}

Result<void> TextReader::counter_line(RankId rank, const Words& words) {
  if (words.size() != 5)
    return wrong("a counter must be written as RANK counter TIME VALUE NAME, for example: 0 counter 1000 3.5 queue");
  RS_TRY(const std::int64_t time, integer(words[2].value));
  const auto value = text::sample_value(words[3].value);
  if (!value) return wrong(format("'{}' must be a number", words[3].value));
  builder_.add_sample(process_of(rank), builder_.intern(words[4].value), at(time), *value);
  return {};
}

Result<void> TextReader::mark_line(RankId rank, const Words& words) {
  RS_TRY(const std::int64_t time, integer(words[2].value));
  const Word* lane = find(words, "lane");
  const std::uint32_t mark =
      builder_.add_mark(lane_of(process_of(rank), lane != nullptr ? lane->value : "main", LaneKind::thread),
                        builder_.intern(words[3].value), at(time));
  for (std::size_t i = 4; i < words.size(); ++i)
    if (!words[i].key.empty() && (words[i].key != "lane" || words[i].key_quoted))
      builder_.add_mark_attribute(mark, builder_.intern(words[i].key), value_of(words[i]));
  return {};
}

}  // namespace

Result<std::shared_ptr<const Run>> run_from_text(std::string_view text, Texts texts) {
  return run_from_text(text, texts, {});
}

Result<std::shared_ptr<const Run>> run_from_text(std::string_view text, Texts texts,
                                                 const std::function<bool(double)>& progress) {
  return TextReader{texts}.read(text, progress);
}

}  // namespace rankscope
