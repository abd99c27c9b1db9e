#include "importers/flight_recorder/dump.h"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "importers/shared/comm_progress.h"
#include "rankscope/analyzer/open.h"
#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"
#include "rankscope/core/printable.h"

namespace rankscope::analyzer::flight_recorder {
namespace {

constexpr std::int64_t known_major = 2;

// Far more than PyTorch writes. Values of a pickle may refer to each other, so that a small file can list very many.
constexpr std::size_t most_entries = std::size_t{1} << 20;
constexpr std::size_t most_groups = 16384;
constexpr std::size_t most_member_bytes = std::size_t{64} << 20;  // of the lists of members

/// "nccl:send 0->1", "nccl:recv 3<-0", "gloo:all_reduce", "nccl:coalesced".
void read_name(std::string_view name, DumpEntry& entry) {
  if (const auto colon = name.find(':'); colon != std::string_view::npos) {
    entry.backend = name.substr(0, colon);
    name.remove_prefix(colon + 1);
  }
  entry.op = name;
  const bool sends = name.starts_with("send ");
  if (!sends && !name.starts_with("recv ")) return;
  entry.op = name.substr(0, 4);
  name.remove_prefix(5);
  const auto own = take_number<std::int64_t>(name, {.least = 0, .most = most_ranks});
  if (!own || !name.starts_with(sends ? "->" : "<-")) return;
  name.remove_prefix(2);
  const auto partner = take_number<std::int64_t>(name, {.least = 0, .most = most_ranks});
  if (!partner) return;
  entry.own = *own;
  entry.partner = *partner;
}

/// From -1 (not known) to the largest one.
std::optional<std::int64_t> sequence_from(const PlainValues& values, ValueRef value) {
  const auto number = values.number_of(value);
  return number ? std::optional{std::clamp<std::int64_t>(*number, -1, CommCall::largest_sequence)} : std::nullopt;
}

/// A field of an entry. Fields that are not needed here are passed over.
void read_field(const PlainValues& values, std::string_view key, ValueRef value, DumpEntry& entry) {
  const auto number = [&](std::int64_t& into) { into = values.number_of(value).value_or(into); };
  const auto sequence = [&](std::int64_t& into) { into = sequence_from(values, value).value_or(into); };
  if (key == "record_id") return number(entry.record_id);
  if (key == "pg_id") return number(entry.pg_id);
  if (key == "collective_seq_id") return sequence(entry.collective_seq);
  if (key == "seq_id")
    return entry.collective_seq < 0 ? sequence(entry.collective_seq) : void();  // versions before 2.2
  if (key == "p2p_seq_id") return sequence(entry.p2p_seq);
  if (key == "op_id") return number(entry.op_id);
  if (key == "time_created_ns") return number(entry.created_ns);
  if (key == "timeout_ms") {
    entry.timeout_ms = std::clamp<std::int64_t>(values.number_of(value).value_or(0), 0, CommCall::longest_timeout_ms);
    return;
  }
  if (key == "profiling_name") return read_name(values.text_of(value), entry);
  if (key == "input_sizes") return entry.input_sizes = value, void();
  if (key == "input_dtypes") return entry.input_dtypes = value, void();
  if (key == "frames") return entry.frames = value, void();
  if (key == "is_p2p") return entry.is_p2p = values.number_of(value).value_or(0) != 0, void();
  if (key == "state" && values.text_of(value) == "completed") entry.finished = true;
  if (key == "retired") return entry.retired = values.number_of(value).value_or(0) != 0, void();
  if (key == "time_discovered_completed_ns" && values.number_of(value).value_or(0) > 0) entry.finished = true;
  if (key != "process_group") return;
  const std::span<const ValueRef> parts = values.items_of(value);
  if (values.is_list(value) && !parts.empty()) {
    entry.group = values.text_of(parts[0]);
    if (parts.size() > 1) entry.description = values.text_of(parts[1]);
  }
}

DumpEntry entry_from(const PlainValues& values, ValueRef value) {
  DumpEntry entry;
  const std::span<const ValueRef> items = values.items_of(value);
  for (std::size_t i = 0; i + 1 < std::min(items.size(), 2 * PlainValues::most_keys); i += 2)
    read_field(values, values.text_of(items[i]), items[i + 1], entry);
  // A finished operation of Gloo stays "scheduled" and is only retired; NCCL also retires what it gave up.
  if (entry.retired && runs_on_host(entry.backend)) entry.finished = true;
  if (entry.op == "send" || entry.op == "recv") entry.is_p2p = true;
  return entry;
}

void read_groups(const PlainValues& values, ValueRef config, Dump& dump) {
  const std::span<const ValueRef> items = values.items_of(config);
  if (!values.is_map(config)) return;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2)
    dump.groups.push_back({values.text_of(items[i]), values.text_of(values.find(items[i + 1], "desc")),
                           values.text_of(values.find(items[i + 1], "ranks"))});
}

void read_status(const PlainValues& values, ValueRef status, Dump& dump) {
  const std::span<const ValueRef> items = values.items_of(status);
  if (!values.is_map(status)) return;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    const auto sequence = [&](std::string_view key) {
      return sequence_from(values, values.find(items[i + 1], key)).value_or(-1);
    };
    dump.status.push_back({values.number_of(items[i]).value_or(-1), sequence("last_enqueued_collective"),
                           sequence("last_completed_collective")});
  }
}

/// Nothing if the sizes are those of a job.
std::string excess_of(const PlainValues& values, ValueRef root, ValueRef list) {
  const auto pairs = [&](std::string_view key) { return values.items_of(values.find(root, key)).size() / 2; };
  if (values.items_of(list).size() > most_entries)
    return format("has more than {} operations, which no dump of the Flight Recorder has", most_entries);
  if (std::max(pairs("pg_config"), pairs("pg_status")) > most_groups)
    return format("lists more than {} groups, which no rank has", most_groups);
  std::size_t bytes = 0;
  const std::span<const ValueRef> groups = values.items_of(values.find(root, "pg_config"));
  for (std::size_t i = 1; i < groups.size(); i += 2) bytes += values.text_of(values.find(groups[i], "ranks")).size();
  if (bytes > most_member_bytes) return format("needs more than {} bytes to list group members", most_member_bytes);
  return {};
}

/// By the names that the entries give.
bool has_too_many_groups(const Dump& dump) {
  std::unordered_set<std::string_view> names;
  for (const DumpEntry& entry : dump.entries)
    if (names.insert(entry.group).second && names.size() > most_groups) return true;
  return false;
}

}  // namespace

bool runs_on_host(std::string_view backend) { return backend == "gloo" || backend == "mpi" || backend == "ucc"; }

tl::expected<Dump, Fault> dump_from(const PlainValues& values, ValueRef root) {
  const auto foreign = [](std::string why) { return tl::make_unexpected(Fault{FaultKind::foreign, std::move(why)}); };
  // Before version 2.0 a dump was the bare list of its entries.
  const ValueRef list = values.is_list(root) ? root : values.find(root, "entries");
  const std::string_view version = values.text_of(values.find(root, "version"));
  if (!values.is_list(list) && version.empty()) return foreign("is not a dump of the Flight Recorder");
  if (const auto major = leading_number<std::int64_t>(version); !version.empty() && major.value_or(0) > known_major)
    return foreign(
        format("has dump version {}; rankscope reads only versions 2.x and older", printable(version.substr(0, 20))));
  const auto refused = [](std::string why) { return tl::make_unexpected(Fault{FaultKind::refused, std::move(why)}); };
  if (std::string why = excess_of(values, root, list); !why.empty()) return refused(std::move(why));
  Dump dump;
  dump.version = version;
  const auto rank = values.number_of(values.find(root, "rank"));
  if (rank && *rank >= 0 && *rank < most_ranks) dump.rank = static_cast<std::uint32_t>(*rank);
  read_groups(values, values.find(root, "pg_config"), dump);
  read_status(values, values.find(root, "pg_status"), dump);
  for (const ValueRef entry : values.items_of(list)) {
    if (!values.is_map(entry)) return foreign("is not a dump of the Flight Recorder: an entry has no fields");
    dump.entries.push_back(entry_from(values, entry));
  }
  if (has_too_many_groups(dump)) return refused(format("names more than {} groups, which no rank has", most_groups));
  std::ranges::stable_sort(dump.entries, {}, &DumpEntry::record_id);
  return dump;
}

std::optional<std::uint32_t> rank_by_content(const Dump& dump) {
  std::vector<const DumpGroup*> groups;
  for (const DumpGroup& group : dump.groups)
    if (group.ranks.size() > 2) groups.push_back(&group);
  // The rank is a member of all its groups; the shortest lists decide, and the long ones are rarely needed.
  std::ranges::sort(groups, {}, [](const DumpGroup* group) { return group->ranks.size(); });
  std::vector<std::uint32_t> possible;
  for (const DumpGroup* group : groups) {
    auto members = members_from(group->ranks).value_or(std::vector<std::uint32_t>{});
    std::ranges::sort(members);
    if (members.empty()) continue;
    if (possible.empty()) {
      possible = std::move(members);
    } else {
      std::erase_if(possible, [&](std::uint32_t rank) { return !std::ranges::binary_search(members, rank); });
    }
    if (possible.size() <= 1) break;
  }
  if (possible.size() == 1) return possible.front();
  std::unordered_set<std::string_view> looked_at;
  for (const DumpEntry& entry : dump.entries) {
    if (entry.own < 0 || !looked_at.insert(entry.group).second) continue;
    const auto group = std::ranges::find(dump.groups, entry.group, &DumpGroup::name);
    if (group == dump.groups.end()) continue;
    const auto members = members_from(group->ranks);
    if (members && static_cast<std::size_t>(entry.own) < members->size())
      return (*members)[static_cast<std::size_t>(entry.own)];
  }
  return std::nullopt;
}

}  // namespace rankscope::analyzer::flight_recorder
