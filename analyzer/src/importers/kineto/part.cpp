#include "importers/kineto/part.h"

#include <algorithm>
#include <array>

#include "importers/kineto/decimal.h"
#include "importers/kineto/param_comms.h"
#include "importers/shared/comm_kernels.h"
#include "rankscope/core/format.h"
#include "rankscope/core/utf8.h"
#include "words/keys.h"

namespace rankscope::analyzer::kineto {
namespace {

constexpr nanoseconds longest_activity = std::chrono::hours{24};  // of a device; nothing runs longer
constexpr std::string_view memory_name = "[memory]";

std::optional<std::int64_t> number_in(const Event& event, std::string_view key) {
  for (const Argument& argument : event.arguments)
    if (argument.key == key) return integer_of(argument.value);
  return std::nullopt;
}

bool is_complete(const Event& event) {
  return event.name.kind == ValueKind::text && event.category.kind == ValueKind::text &&
         event.pid.kind != ValueKind::absent && event.tid.kind != ValueKind::absent;
}

bool is_integer(const Value& value) {
  return value.kind == ValueKind::number && (value.short_number ? value.decimals == 0 : integer_of(value).has_value());
}

bool has_argument(const Event& event, std::string_view key) {
  return std::ranges::any_of(event.arguments, [key](const Argument& argument) { return argument.key == key; });
}

/// True where our own export says what the category does not.
bool states_kind(const Event& event) { return has_argument(event, keys::own_kind); }

/// True for what our own export wrote for other tools only.
bool is_copy(const Event& event) {
  return event.name.raw == "record_param_comms" && has_argument(event, keys::own_copy);
}

bool is_comm_range(std::string_view name) {
  return name == "record_param_comms" || is_pair_operator(name) || comm_backend_of(name) != nullptr;
}

}  // namespace

std::int64_t row_number(const Value& value) {
  if (const auto number = integer_of(value)) return *number;
  const std::size_t digits = value.raw.find_last_not_of("0123456789") + 1;
  if (value.raw.starts_with("stream ") && digits < value.raw.size())
    return integer_of(value.raw.substr(digits)).value_or(0);
  std::uint64_t hash = 1469598103934665603U;  // FNV-1a
  for (const char c : value.raw) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return -2 - static_cast<std::int64_t>(hash >> 33U);
}

Part::Part(Texts texts) : builder(texts) {
  builder.add_process({});
  index_key_ = builder.intern(keys::index);
  category_key_ = builder.intern(keys::category);
}

void Part::take(const Event& event) {
  float_times = float_times || !is_integer(event.time);
  switch (event.phase) {
    case 'X':
      return span(event);
    case 'i':
    case 'I':
      return instant(event);
    case 'M':
      return name_row(event);
    case 's':
    case 't':
    case 'f':
      return flow(event);
    case 'C':
      return counter(event);
    case '\0':
      return quality().add(Counter::events_incomplete);
    default:
      return quality().add(Counter::events_unsupported);
  }
}

void Part::span(const Event& event) {
  // Ascend's own profiler writes its device's work so, without a category (torch_npu, trace_view.json).
  if (event.category.kind == ValueKind::absent && has_argument(event, "Task Type")) {
    devices_called.emplace("Ascend NPU");
    return quality().add(Counter::events_unsupported);
  }
  if (!is_complete(event) || event.time.kind == ValueKind::absent || event.duration.kind == ValueKind::absent)
    return quality().add(Counter::events_incomplete);
  if (is_copy(event)) return;
  const Category& category = category_of(event.category.raw);
  const auto begin = time_of(event.time);
  const auto length = nanoseconds_of(event.duration);
  const bool lost = begin && length && category.lane == LaneClass::stream && ns_of(*begin) == 0 && *length == 0;
  const bool endless = length && category.lane == LaneClass::stream && nanoseconds{*length} > longest_activity;
  if (!begin || !length || lost || endless) return quality().add(Counter::times_unusable);
  const LaneKey key = lane_key(event, category.lane);
  const StringId name = text_of(event.name);
  const SpanKind kind = kind_of(category, name);
  const TimeRange time{*begin, *begin + nanoseconds{*length}};
  const bool unfinished = std::ranges::any_of(event.arguments, [](const Argument& argument) {
    return argument.key == keys::finished && argument.value.raw == "false";
  });
  const std::uint32_t ticket = builder.add_span(lane_of(key), kind, name, time, unfinished ? span_flag::cut_end : 0);
  extend({time.begin, std::max(time.begin, time.end)});
  if (kind == SpanKind::step) last = time.begin;
  if (kind == SpanKind::step)
    builder.add_attribute(ticket, index_key_, integer_of(builder.text(name).substr(step_prefix.size())).value_or(0));
  if (category.keep_name) builder.add_attribute(ticket, category_key_, text_of(event.category));
  if (category.work == Work::host_call && category.keep_name && !event.category.raw.starts_with("cuda_"))
    devices_called.emplace(device_called(event.category.raw));
  if (category.name.empty() && !states_kind(event)) quality().add(Counter::categories_unknown);
  attributes(event, ticket, category, key);
  note_comm(category, ticket, name, kind);
}

void Part::attributes(const Event& event, std::uint32_t span, const Category& category, const LaneKey& lane) {
  std::int64_t correlation = -1;
  std::int64_t external_id = -1;
  scratch_attributes_.clear();
  for (const Argument& argument : event.arguments) {
    const Key& key = key_of(shortened(argument.key));
    const AttributeValue value = attribute_of(argument.value);
    const bool on_stream = lane.what == LaneClass::stream;
    switch (key.role) {
      case Role::correlation:
        correlation = value.number;
        break;
      case Role::external_id:
        external_id = value.number;
        break;
      case Role::device:
        if (on_stream && value == AttributeValue{lane.pid}) continue;
        break;
      case Role::stream:
        if (on_stream && value == AttributeValue{lane.tid}) continue;
        break;
      case Role::drop:
        if (on_stream) continue;
        break;
      case Role::drop_if_zero:
        if (on_stream && value == AttributeValue{0}) continue;
        break;
      case Role::plain:
      case Role::finished:
        break;
    }
    scratch_attributes_.push_back({key.id, value});
  }
  builder.add_attributes(span, scratch_attributes_);
  join(category, span, correlation, external_id);
}

void Part::join(const Category& category, std::uint32_t span, std::int64_t correlation, std::int64_t external_id) {
  if (correlation < 0) return;
  if (category.work == Work::host_call) calls.push_back({correlation, span});
  if (category.work != Work::kernel && category.work != Work::copy) return;
  activities.push_back({correlation, span});
  if (external_id < 0) return;
  ++ids;
  if (external_id == correlation) ++equal_ids;
}

void Part::note_comm(const Category& category, std::uint32_t span, StringId name, SpanKind kind) {
  if (category.work == Work::kernel && kind == SpanKind::comm) comm_kernels.push_back(span);
  const bool range = category.work == Work::host_range;
  if (range && (kind == SpanKind::api || kind == SpanKind::comm || is_comm_range(builder.text(name))))
    comm_ranges.push_back(span);
}

void Part::instant(const Event& event) {
  const auto time = time_of(event.time);
  if (!time || event.name.kind != ValueKind::text || event.pid.kind == ValueKind::absent ||
      event.tid.kind == ValueKind::absent)
    return quality().add(Counter::events_incomplete);
  extend({*time, *time});
  if (event.name.raw == memory_name) return memory_event(event, *time);
  const bool of_profiler = event.pid.kind == ValueKind::text && !integer_of(event.pid);
  const LaneId lane = lane_of(lane_key(event, of_profiler ? LaneClass::profiler : LaneClass::thread));
  const std::uint32_t mark = builder.add_mark(lane, text_of(event.name), *time);
  mark_attributes(event, mark);
}

void Part::mark_attributes(const Event& event, std::uint32_t mark) {
  scratch_attributes_.clear();
  for (const Argument& argument : event.arguments)
    scratch_attributes_.push_back({key_of(shortened(argument.key)).id, attribute_of(argument.value)});
  builder.add_mark_attributes(mark, scratch_attributes_);
}

void Part::memory_event(const Event& event, RunTime time) {
  const std::uint32_t mark = builder.add_mark(lane_of(lane_key(event, LaneClass::thread)), text_of(event.name), time);
  mark_attributes(event, mark);
  MemoryState state;
  state.time = time;
  state.order = number_in(event, keys::event_index).value_or(0);
  const bool on_host = number_in(event, keys::device_type).value_or(0) == 0;
  const std::int64_t device = number_in(event, keys::device_id).value_or(0);
  state.device = on_host ? -1 : static_cast<std::int32_t>(std::clamp<std::int64_t>(device, 0, 1 << 20));
  state.change = number_in(event, keys::allocation).value_or(0);
  state.allocated = number_in(event, keys::total_allocated).value_or(-1);
  state.reserved = number_in(event, keys::total_reserved).value_or(-1);
  memory.push_back(state);
}

/// Hardware counters write their value under an empty key.
void Part::counter(const Event& event) {
  const auto time = time_of(event.time);
  if (!time || event.name.kind != ValueKind::text) return quality().add(Counter::events_incomplete);
  extend({*time, *time});
  const std::string name{builder.text(text_of(event.name))};
  for (const Argument& argument : event.arguments) {
    const auto value = real_of(argument.value.raw);
    if (!value) continue;
    const StringId track =
        argument.key.empty() ? builder.intern(name) : builder.intern(format("{} {}", name, shortened(argument.key)));
    builder.add_sample(0, track, *time, *value);
  }
}

/// Only those between forward and backward operators tell what nothing else does (docs/kineto.md).
void Part::flow(const Event& event) {
  const std::string_view category = event.category.raw;
  if (category == "ac2g" || category == "async") return;
  if (category != "fwdbwd" && category != "forward_backward") return quality().add(Counter::events_unsupported);
  const auto time = time_of(event.time);
  const auto id = integer_of(event.id);
  if (!time || !id || event.pid.kind == ValueKind::absent || event.tid.kind == ValueKind::absent)
    return quality().add(Counter::events_incomplete);
  flows.push_back({*id, event.phase == 's', lane_of(lane_key(event, LaneClass::thread)), *time});
}

void Part::name_row(const Event& event) {
  if (event.pid.kind == ValueKind::absent) return;
  for (const Argument& argument : event.arguments) {
    if (argument.key != "name" || argument.value.kind != ValueKind::text) continue;
    std::string name = unescape(shortened(argument.value.raw));
    if (event.name.raw == "process_name")
      process_names[row_number(event.pid)] = std::move(name);
    else if (event.name.raw == "thread_name" && event.tid.kind != ValueKind::absent)
      thread_names[{row_number(event.pid), row_number(event.tid)}] = std::move(name);
  }
}

/// The same few keys come in every event: a small table in front of the map spares most of the hashing.
const Part::Key& Part::key_of(std::string_view name) {
  const std::size_t mixed = name.empty() ? 0
                                         : name.size() * 31 + static_cast<unsigned char>(name.front()) * 7U +
                                               static_cast<unsigned char>(name.back());
  KnownKey& known = known_keys_[mixed % known_keys_.size()];
  if (known.key == nullptr || known.name != name) {
    const auto& [text, key] = key_in_map(name);
    known = {text, &key};
  }
  return *known.key;
}

const Part::KeyMap::value_type& Part::key_in_map(std::string_view name) {
  if (const auto found = keys_.find(name); found != keys_.end()) return *found;
  struct Special {
    std::string_view name;
    Role role;
  };
  static constexpr std::array special{
      Special{keys::correlation, Role::correlation}, Special{keys::external_id, Role::external_id},
      Special{keys::device, Role::device},           Special{keys::stream, Role::stream},
      Special{keys::memory_bandwidth, Role::drop},   Special{keys::queued, Role::drop_if_zero},
      Special{keys::finished, Role::finished},
  };
  std::string text = name.find('\\') == std::string_view::npos ? std::string{name} : unescape(name);
  if (text == "external id") text = keys::external_id;  // as it was written in 2021
  const auto found = std::ranges::find(special, std::string_view{text}, &Special::name);
  const Key key{builder.intern(text), found == special.end() ? Role::plain : found->role};
  return *keys_.emplace(name, key).first;
}

const Category& Part::category_of(std::string_view name) {
  if (last_category_ == nullptr || last_category_->name != name) last_category_ = &category_from(name);
  return *last_category_;
}

/// What is longer is no name, and would be copied into every table that shows it.
std::string_view Part::shortened(std::string_view text) {
  if (text.size() <= longest_text) return text;
  quality().add(Counter::names_shortened);
  return cut_utf8(text, longest_text);
}

StringId Part::text_of(const Value& value) {
  const std::string_view raw = shortened(value.raw);
  return value.escaped ? builder.intern(unescape(raw)) : builder.intern(raw);
}

AttributeValue Part::attribute_of(const Value& value) {
  switch (value.kind) {
    case ValueKind::text:
      return text_of(value);
    case ValueKind::number:
      if (const auto number = integer_of(value)) return *number;
      if (is_json_number(value.raw)) return JsonText{builder.intern(value.raw)};
      return builder.intern(
          value.raw);  // "12abc", "007.5": no JSON, but a text that comes back from an export as it is
    case ValueKind::json:
      if (value.raw.size() > longest_text) return text_of(value);  // a part of a list is no JSON
      scratch_.clear();
      append_compact(value.raw, scratch_);
      return JsonText{builder.intern(scratch_)};
    case ValueKind::absent:
      break;
  }
  return {};
}

std::optional<RunTime> Part::time_of(const Value& value) {
  const auto ns = nanoseconds_of(value);
  if (!ns) return std::nullopt;
  if (!fractions && *ns % 1000 != 0) fractions = true;
  return at(*ns);
}

LaneKey Part::lane_key(const Event& event, LaneClass what) const {
  if (what == LaneClass::profiler) return {what, 0, 0};
  LaneKey key{what, row_number(event.pid), row_number(event.tid)};
  if (what != LaneClass::stream) return key;
  for (const Argument& argument : event.arguments) {
    if (argument.key == keys::device) key.pid = integer_of(argument.value).value_or(key.pid);
    if (argument.key == keys::stream) key.tid = integer_of(argument.value).value_or(key.tid);
  }
  return key;
}

/// Names are given when the whole file is known; until then the key is the name.
LaneId Part::lane_of(const LaneKey& key) {
  if (last_lane_.is_set() && key == last_key_) return last_lane_;
  const auto [found, added] = lanes.try_emplace(key, LaneId{});
  if (added) {
    const LaneKind kind = key.what == LaneClass::stream       ? LaneKind::stream
                          : key.what == LaneClass::annotation ? LaneKind::annotation
                                                              : LaneKind::thread;
    const bool on_device = kind != LaneKind::thread;
    const auto device = on_device ? static_cast<std::int32_t>(std::clamp<std::int64_t>(key.pid, -1, 1 << 20)) : -1;
    found->second =
        builder.add_lane(0, kind, format("{}:{}:{}", static_cast<int>(key.what), key.pid, key.tid), key.tid, device);
  }
  last_key_ = key;
  last_lane_ = found->second;
  return last_lane_;
}

SpanKind Part::kind_of(const Category& category, StringId name) {
  if (category.work != Work::host_range && category.work != Work::kernel) return category.kind;
  const bool range = category.work == Work::host_range;
  std::vector<std::uint8_t>& known = range ? range_kinds_ : kernel_kinds_;
  if (known.size() <= name.index()) known.resize(name.index() + 1024, 0);
  std::uint8_t& kind = known[name.index()];
  if (kind == 0) {
    const std::string_view text = builder.text(name);
    constexpr SpanKind undecided = SpanKind::user;
    const SpanKind stated = range ? kind_of_range(text, undecided) : is_comm_kernel(text) ? SpanKind::comm : undecided;
    kind = static_cast<std::uint8_t>(1 + static_cast<int>(stated));
  }
  const auto stated = static_cast<SpanKind>(kind - 1);
  return stated == SpanKind::user ? category.kind : stated;
}

void Part::extend(TimeRange time) {
  if (!extent) extent = time;
  extent->begin = std::min(extent->begin, time.begin);
  extent->end = std::max(extent->end, time.end);
  last = time.end;
}

}  // namespace rankscope::analyzer::kineto
