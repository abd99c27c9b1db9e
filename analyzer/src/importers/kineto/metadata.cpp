#include "importers/kineto/metadata.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

#include "importers/kineto/decimal.h"
#include "importers/kineto/event.h"
#include "importers/shared/loss_messages.h"
#include "rankscope/analyzer/open.h"
#include "rankscope/core/format.h"
#include "rankscope/core/secrets.h"
#include "rankscope/core/utf8.h"
#include "words/letters.h"

namespace rankscope::analyzer::kineto {
namespace {

constexpr std::int64_t largest_base = 4'000'000'000'000'000'000;

/// Kept as facts of the process.
constexpr std::array<std::string_view, 12> kept{"cupti_version",
                                                "cuda_runtime_version",
                                                "cuda_driver_version",
                                                "record_shapes",
                                                "with_stack",
                                                "with_modules",
                                                "with_flops",
                                                "profile_memory",
                                                "PT_PROFILER_JOB_NAME",
                                                "trace_id",
                                                "PT_PROFILER_JOB_VERSION",
                                                "PT_PROFILER_JOB_ATTEMPT_INDEX"};
/// Part of the format, but of no use in a Run: the log and the names of files and users stay out.
constexpr std::array<std::string_view, 5> known{"schemaVersion", "displayTimeUnit", "INFO", "username", "traceEvents"};

bool holds(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool names_environment(std::string_view name) {
  const std::string small = lower(name);
  return small == "env" || small.ends_with("_env") || small.find("environ") != std::string::npos;
}

/// Blocks that hold an environment, a login or a key, by their own name or by what stands in them.
bool looks_secret(std::string_view key, std::string_view content) {
  constexpr std::size_t enough = std::size_t{1} << 16;
  if (names_secret(key) || names_environment(key)) return true;
  std::string text{content.substr(0, enough)};
  if (hide_secrets(text) > 0) return true;
  bool found = false;
  for_each_member(content, [&found](std::string_view name, const Value&) {
    found = found || names_secret(name) || names_environment(name);
  });
  return found;
}

/// In the log of the profiler.
void count_lost_events(const Value& lines, Quality& quality) {
  for_each_item(lines.raw, [&quality](const Value& line) {
    if (reports_lost_events(text_from(line))) quality.add(Counter::source_lost_events);
  });
}

/// "[0, 1]" as a list or as a text that holds one.
std::vector<std::uint32_t> ranks_from(const Value& value) {
  std::vector<std::uint32_t> ranks;
  const std::string list = text_from(value);
  if (list.find("...") != std::string::npos) return ranks;  // cut short by the profiler
  for_each_item(list, [&ranks](const Value& item) {
    const auto rank = integer_of(item.raw);
    if (rank && *rank >= 0 && *rank < most_ranks) ranks.push_back(static_cast<std::uint32_t>(*rank));
  });
  return ranks;
}

void read_distributed(std::string_view object, Metadata& metadata) {
  for_each_member(object, [&metadata](std::string_view key, const Value& value) {
    if (key == "rank") {
      metadata.rank = integer_of(value.raw);
      if (metadata.rank && (*metadata.rank < 0 || *metadata.rank >= most_ranks)) metadata.rank.reset();
    } else if (key == "world_size") {
      const std::int64_t size = integer_of(value.raw).value_or(0);
      metadata.world_size = size >= 0 && size <= most_ranks ? size : 0;  // what is impossible says nothing
    } else if (key == "pg_config") {
      for_each_item(value.raw, [&metadata](const Value& item) {
        GroupConfig group;
        for_each_member(item.raw, [&group](std::string_view field, const Value& content) {
          if (field == "pg_name") group.name = text_from(content);
          if (field == "ranks") group.ranks = ranks_from(content);
        });
        metadata.groups.push_back(std::move(group));
      });
    } else if (key == "backend" || key == "nccl_version") {
      metadata.facts.emplace_back(key, text_from(value));
    }
  });
}

}  // namespace

std::string text_from(const Value& value) {
  if (value.kind == ValueKind::text && value.escaped) return unescape(value.raw);
  if (value.kind != ValueKind::json) return std::string{value.raw};
  std::string compact;
  append_compact(value.raw, compact);
  return compact;
}

void for_each_member(std::string_view object, const std::function<void(std::string_view, const Value&)>& visit) {
  Scanner scanner{object.data(), object.data() + object.size()};
  if (scanner.expect('{') != Scan::ok) return;
  while (scanner.peek() == '"') {
    Value key;
    Value value;
    if (scanner.text(key) != Scan::ok || scanner.expect(':') != Scan::ok || scanner.value(value) != Scan::ok) return;
    if (value.kind != ValueKind::absent) visit(key.raw, value);
    if (scanner.expect(',') != Scan::ok) return;
  }
}

void for_each_item(std::string_view list, const std::function<void(const Value&)>& visit) {
  Scanner scanner{list.data(), list.data() + list.size()};
  if (scanner.expect('[') != Scan::ok) return;
  while (scanner.peek() != ']') {
    Value value;
    if (scanner.value(value) != Scan::ok) return;
    if (value.kind != ValueKind::absent) visit(value);
    if (scanner.expect(',') != Scan::ok) return;
  }
}

std::vector<std::string> texts_from(std::string_view list) {
  std::vector<std::string> texts;
  for_each_item(list, [&texts](const Value& item) { texts.push_back(text_from(item)); });
  return texts;
}

namespace {

std::string short_text_from(Value value, Quality& quality) {
  if (value.raw.size() <= longest_text) return text_from(value);
  quality.add(Counter::names_shortened);
  value.raw = cut_utf8(value.raw, longest_text);
  return text_from(value);
}

}  // namespace

void Metadata::take(std::string_view key, const Value& value, Quality& quality) {
  if (value.kind == ValueKind::absent) return;
  if (key == "WARNING" || key == "ERROR") count_lost_events(value, quality);
  if (key == "baseTimeNanoseconds") {
    base_ns = integer_of(value.raw);
    if (base_ns && (*base_ns < 0 || *base_ns > largest_base)) base_ns.reset();
  } else if (key == "distributedInfo") {
    read_distributed(value.raw, *this);
  } else if (key == "deviceProperties") {
    for_each_item(value.raw, [this](const Value& device) { devices.push_back(facts_from(device.raw)); });
  } else if (key == "host_name") {
    host = short_text_from(value, quality);
  } else if (key == "traceName") {
    trace_name = short_text_from(value, quality);
  } else if (key == "rankscope") {
    own = own_block_from(value.raw);
    if (!own)
      drop({Counter::blocks_dropped, 1, format("the rankscope block, whose schema is not {}", own_schema)}, quality);
  } else if (holds(kept, key)) {
    facts.emplace_back(key, short_text_from(value, quality));
  } else if (!holds(known, key)) {
    if (looks_secret(key, value.raw))
      drop({Counter::secrets_dropped, 1, std::string{key}}, quality);
    else
      quality.add(Counter::blocks_dropped);
  }
}

void Metadata::drop(QualityPlace block, Quality& quality) {
  quality.add(block.counter, block.amount);
  dropped.push_back(std::move(block));
}

void Metadata::merge(Metadata&& other) {
  if (other.base_ns) base_ns = other.base_ns;
  if (other.rank) rank = other.rank;
  if (other.world_size > 0) world_size = other.world_size;
  if (!other.groups.empty()) groups = std::move(other.groups);
  if (!other.devices.empty()) devices = std::move(other.devices);
  if (!other.host.empty()) host = std::move(other.host);
  if (!other.trace_name.empty()) trace_name = std::move(other.trace_name);
  facts.insert(facts.end(), std::make_move_iterator(other.facts.begin()), std::make_move_iterator(other.facts.end()));
  if (other.own) own = std::move(other.own);
  dropped.insert(dropped.end(), std::make_move_iterator(other.dropped.begin()),
                 std::make_move_iterator(other.dropped.end()));
}

}  // namespace rankscope::analyzer::kineto
