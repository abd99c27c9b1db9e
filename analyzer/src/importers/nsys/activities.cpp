#include "importers/nsys/activities.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "importers/shared/comm_kernels.h"
#include "rankscope/core/format.h"
#include "words/keys.h"

namespace rankscope::analyzer::nsys {
namespace {

// CUpti_ActivityMemcpyKind and CUpti_ActivityMemoryKind as Nsight Systems numbers them, in Kineto's words.
constexpr std::array<std::string_view, 14> copy_words{"Unknown", "HtoD",     "DtoH",     "HtoA",    "AtoH",
                                                      "AtoA",    "AtoD",     "DtoA",     "DtoD",    "HtoH",
                                                      "PtoP",    "UVM HtoD", "UVM DtoH", "UVM DtoD"};
constexpr std::array<std::string_view, 8> memory_words{"Pageable", "Pinned",        "Device",         "Array",
                                                       "Managed",  "Device Static", "Managed Static", "Unknown"};
constexpr std::array<std::string_view, 5> sync_words{"Unknown Sync", "Event Sync", "Stream Wait Event", "Stream Sync",
                                                     "Context Sync"};

template <std::size_t n>
std::string_view word(const std::array<std::string_view, n>& words, std::optional<std::int64_t> code,
                      std::string_view otherwise) {
  return code && *code >= 0 && *code < static_cast<std::int64_t>(n) ? words[static_cast<std::size_t>(*code)]
                                                                    : otherwise;
}

/// Columns that all device tables begin with.
enum Head : std::uint8_t { begin, end, process, device, context, stream, correlation, head_size };
constexpr std::array<std::string_view, head_size> shared_columns{"start",     "end",      "globalPid",    "deviceId",
                                                                 "contextId", "streamId", "correlationId"};

template <std::size_t n>
constexpr auto with_head(const std::array<std::string_view, n>& more) {
  std::array<std::string_view, head_size + n> all{};
  std::ranges::copy(shared_columns, all.begin());
  std::ranges::copy(more, all.begin() + head_size);
  return all;
}

/// One device table after the other; each row becomes a span.
class DeviceTables {
 public:
  DeviceTables(const Database& database, Timeline& timeline)
      : database_(database),
        timeline_(timeline),
        builder_(timeline.builder()),
        correlation_key_(builder_.intern(keys::correlation)),
        context_key_(builder_.intern(keys::context)),
        bytes_key_(builder_.intern(keys::bytes)),
        graph_node_key_(builder_.intern(keys::graph_node_id)),
        graph_key_(builder_.intern(keys::graph_id)) {}

  Result<void> kernels();
  Result<void> copies();
  Result<void> sets();
  Result<void> graphs();
  Result<void> events();
  Result<void> synchronizations();
  Activities take() {
    found_.launched.sort();
    return std::move(found_);
  }

 private:
  struct Placed {
    ProcessKey process{};
    LaneId lane{};
    Timeline::When when{};
    std::optional<std::int64_t> correlation{};
  };
  struct KernelName {
    StringId name{};
    bool communicates = false;
  };

  std::optional<Placed> place(const Rows& rows) {
    const auto key = timeline_.process(rows.integer(process));
    const auto when = key ? timeline_.when(*key, rows.integer(begin), rows.integer(end)) : std::nullopt;
    if (!when) return std::nullopt;
    const LaneId lane = timeline_.stream(*key, rows.integer_or(device, -1), rows.integer_or(stream, -1));
    return Placed{*key, lane, *when, rows.integer(correlation)};
  }
  std::uint32_t add(const Placed& placed, SpanKind kind, StringId name, const Rows& rows) {
    const std::uint32_t ticket = builder_.add_span(placed.lane, kind, name, placed.when.time, placed.when.flags);
    const SpanAttributes attributes{builder_, ticket};
    attributes.number(correlation_key_, placed.correlation);
    attributes.number(context_key_, rows.integer(context));
    return ticket;
  }
  KernelName kernel_name(const Rows& rows);
  void kernel(const Rows& rows);
  void describe_kernel(std::uint32_t ticket, const Rows& rows);
  void copy(const Rows& rows);
  void synchronization(const Rows& rows);

  const Database& database_;
  Timeline& timeline_;
  RunBuilder& builder_;
  StringId correlation_key_, context_key_, bytes_key_, graph_node_key_, graph_key_;
  Activities found_;
  std::unordered_map<StringId, bool> communicates_;
  struct Recorded {
    std::int64_t correlation = 0;
    std::int64_t stream = 0;
  };
  std::map<std::pair<ProcessKey, std::int64_t>, Recorded> recorded_;  // events by the id that waits refer to
};

enum KernelColumn : std::uint8_t {
  long_name = head_size,
  short_name,
  grid_x,
  grid_y,
  grid_z,
  block_x,
  block_y,
  block_z,
  registers,
  static_shared,
  dynamic_shared,
  graph_node,
  graph,
};

Result<void> DeviceTables::kernels() {
  constexpr std::string_view table = "CUPTI_ACTIVITY_KIND_KERNEL";
  if (!database_.has(table)) return {};
  constexpr auto columns = with_head(std::array<std::string_view, 13>{
      "demangledName", "shortName", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "registersPerThread",
      "staticSharedMemory", "dynamicSharedMemory", "graphNodeId", "graphId"});
  RS_TRY(Rows rows, database_.rows(table, columns));
  while (rows.next()) kernel(rows);
  return rows.finish();
}

DeviceTables::KernelName DeviceTables::kernel_name(const Rows& rows) {
  const auto id = rows.is_null(long_name) ? rows.integer(short_name) : rows.integer(long_name);
  const StringId name = timeline_.names().intern(id);
  const auto [known, added] = communicates_.try_emplace(name);
  if (added) known->second = is_comm_kernel(builder_.text(name));
  return {name, known->second};
}

void DeviceTables::kernel(const Rows& rows) {
  const auto placed = place(rows);
  if (!placed) return;
  const KernelName name = kernel_name(rows);
  const std::uint32_t ticket = add(*placed, name.communicates ? SpanKind::comm : SpanKind::compute, name.name, rows);
  describe_kernel(ticket, rows);
  if (name.communicates) {
    found_.launched.add(placed->process, placed->correlation, ticket, static_cast<std::uint32_t>(found_.comm.size()));
    found_.comm.push_back({.process = placed->process,
                           .lane = placed->lane,
                           .queue = {rows.integer_or(device, -1), rows.integer_or(stream, -1)},
                           .ticket = ticket,
                           .time = placed->when.time,
                           .name = name.name});
  } else {
    found_.launched.add(placed->process, placed->correlation, ticket);
  }
}

void DeviceTables::describe_kernel(std::uint32_t ticket, const Rows& rows) {
  const SpanAttributes attributes{builder_, ticket};
  const auto triple = [&rows](int x, int y, int z) {
    if (rows.is_null(x) || rows.is_null(y) || rows.is_null(z)) return std::string{};
    return format("[{},{},{}]", rows.integer_or(x, 0), rows.integer_or(y, 0), rows.integer_or(z, 0));
  };
  attributes.json(builder_.intern(keys::grid), triple(grid_x, grid_y, grid_z));
  attributes.json(builder_.intern(keys::block), triple(block_x, block_y, block_z));
  attributes.number(builder_.intern(keys::registers), rows.integer(registers));
  const auto fixed = rows.integer(static_shared);
  const auto dynamic = rows.integer(dynamic_shared);
  if (fixed && dynamic && is_plausible(*fixed) && is_plausible(*dynamic))
    attributes.number(builder_.intern(keys::shared_memory), *fixed + *dynamic);
  if (rows.integer_or(graph_node, 0) != 0) attributes.number(graph_node_key_, rows.integer(graph_node));
  if (rows.integer_or(graph, 0) != 0) attributes.number(graph_key_, rows.integer(graph));
}

enum CopyColumn : std::uint8_t { bytes = head_size, kind, from_kind, to_kind, from_device, to_device, copy_node };

Result<void> DeviceTables::copies() {
  constexpr std::string_view table = "CUPTI_ACTIVITY_KIND_MEMCPY";
  if (!database_.has(table)) return {};
  constexpr auto columns = with_head(std::array<std::string_view, 7>{"bytes", "copyKind", "srcKind", "dstKind",
                                                                     "srcDeviceId", "dstDeviceId", "graphNodeId"});
  RS_TRY(Rows rows, database_.rows(table, columns));
  while (rows.next()) copy(rows);
  return rows.finish();
}

void DeviceTables::copy(const Rows& rows) {
  const auto placed = place(rows);
  if (!placed) return;
  std::string name = "Memcpy";
  if (!rows.is_null(kind)) name += format(" {}", word(copy_words, rows.integer(kind), "Unknown"));
  if (!rows.is_null(from_kind) && !rows.is_null(to_kind))
    name += format(" ({} -> {})", word(memory_words, rows.integer(from_kind), "Unknown"),
                   word(memory_words, rows.integer(to_kind), "Unknown"));
  const std::uint32_t ticket = add(*placed, SpanKind::memory, builder_.intern(name), rows);
  const SpanAttributes attributes{builder_, ticket};
  attributes.number(bytes_key_, rows.integer(bytes));
  if (rows.integer(kind) == 10) {  // between devices
    attributes.number(builder_.intern("fromDevice"), rows.integer(from_device));
    attributes.number(builder_.intern("toDevice"), rows.integer(to_device));
  }
  if (rows.integer_or(copy_node, 0) != 0) attributes.number(graph_node_key_, rows.integer(copy_node));
  found_.launched.add(placed->process, placed->correlation, ticket);
}

Result<void> DeviceTables::sets() {
  constexpr std::string_view table = "CUPTI_ACTIVITY_KIND_MEMSET";
  if (!database_.has(table)) return {};
  constexpr auto columns = with_head(std::array<std::string_view, 3>{"bytes", "memKind", "graphNodeId"});
  RS_TRY(Rows rows, database_.rows(table, columns));
  while (rows.next()) {
    const auto placed = place(rows);
    if (!placed) continue;
    const std::string name = rows.is_null(head_size + 1)
                                 ? "Memset"
                                 : format("Memset ({})", word(memory_words, rows.integer(head_size + 1), "Unknown"));
    const std::uint32_t ticket = add(*placed, SpanKind::memory, builder_.intern(name), rows);
    const SpanAttributes attributes{builder_, ticket};
    attributes.number(bytes_key_, rows.integer(bytes));
    if (rows.integer_or(head_size + 2, 0) != 0) attributes.number(graph_node_key_, rows.integer(head_size + 2));
    found_.launched.add(placed->process, placed->correlation, ticket);
  }
  return rows.finish();
}

Result<void> DeviceTables::graphs() {
  constexpr std::string_view table = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
  if (!database_.has(table)) return {};
  constexpr auto columns = with_head(std::array<std::string_view, 2>{"graphId", "graphExecId"});
  RS_TRY(Rows rows, database_.rows(table, columns));
  while (rows.next()) {
    const auto placed = place(rows);
    if (!placed) continue;
    const auto id = rows.integer(head_size);
    const StringId name = builder_.intern(id ? format("CUDA graph {}", *id) : std::string{"CUDA graph"});
    const std::uint32_t ticket = add(*placed, SpanKind::graph, name, rows);
    const SpanAttributes attributes{builder_, ticket};
    attributes.number(graph_key_, id);
    attributes.number(builder_.intern("graph exec id"), rows.integer(head_size + 1));
    builder_.quality().add(Counter::graphs_opaque);
    found_.launched.add(placed->process, placed->correlation, ticket);
  }
  return rows.finish();
}

// A time of 0 means that only the call was recorded, not when the event happened on the device.
Result<void> DeviceTables::events() {
  constexpr std::string_view table = "CUPTI_ACTIVITY_KIND_CUDA_EVENT";
  if (!database_.has(table)) return {};
  constexpr std::array<std::string_view, 8> columns{"timestamp", "globalPid",     "deviceId", "contextId",
                                                    "streamId",  "correlationId", "eventId",  "eventSyncId"};
  RS_TRY(Rows rows, database_.rows(table, columns));
  while (rows.next()) {
    const auto key = timeline_.process(rows.integer(1));
    if (!key) continue;
    const auto sync = rows.integer(7);
    if (sync && *sync != no_value_32)
      recorded_.insert_or_assign({*key, *sync}, Recorded{rows.integer_or(5, -1), rows.integer_or(4, -1)});
    if (rows.integer_or(0, 0) == 0) continue;
    const auto time = timeline_.moment(*key, rows.integer(0));
    if (!time) continue;
    const std::int64_t ordinal = timeline_.device_of_context(*key, rows.integer(3), rows.integer(2));
    const std::uint32_t mark =
        builder_.add_mark(timeline_.stream(*key, ordinal, rows.integer_or(4, -1)), builder_.intern("cudaEvent"), *time);
    if (const auto id = rows.integer(6)) builder_.add_mark_attribute(mark, builder_.intern("event_id"), *id);
    if (const auto id = rows.integer(5)) builder_.add_mark_attribute(mark, correlation_key_, *id);
  }
  return rows.finish();
}

enum SyncColumn : std::uint8_t { type = head_size, event, event_sync };

Result<void> DeviceTables::synchronizations() {
  constexpr std::string_view table = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
  if (!database_.has(table)) return {};
  constexpr auto columns = with_head(std::array<std::string_view, 3>{"syncType", "eventId", "eventSyncId"});
  RS_TRY(Rows rows, database_.rows(table, columns));
  while (rows.next()) synchronization(rows);
  return rows.finish();
}

void DeviceTables::synchronization(const Rows& rows) {
  const auto key = timeline_.process(rows.integer(process));
  const auto when = key ? timeline_.when(*key, rows.integer(begin), rows.integer(end)) : std::nullopt;
  if (!when) return;
  const std::int64_t ordinal = timeline_.device_of_context(*key, rows.integer(context), rows.integer(device));
  const LaneId lane = timeline_.stream(*key, ordinal, rows.integer_or(stream, -1));
  const StringId name = builder_.intern(word(sync_words, rows.integer(type), "Unknown Sync"));
  const std::uint32_t ticket = add({*key, lane, *when, rows.integer(correlation)}, SpanKind::sync, name, rows);
  const SpanAttributes attributes{builder_, ticket};
  const auto id = rows.integer(event);
  if (id && *id != no_value_32) attributes.number(builder_.intern("wait_on_cuda_event_id"), id);
  const auto sync = rows.integer(event_sync);
  const auto found = sync ? recorded_.find({*key, *sync}) : recorded_.end();
  if (found != recorded_.end()) {
    attributes.number(builder_.intern("wait_on_stream"), found->second.stream);
    attributes.number(builder_.intern("wait_on_cuda_event_record_corr_id"), found->second.correlation);
  }
}

}  // namespace

void Launched::add(ProcessKey process, std::optional<std::int64_t> correlation, std::uint32_t ticket,
                   std::uint32_t comm) {
  ++total_;
  // 0 is what records carry that nobody launched.
  if (!correlation || *correlation <= 0 || *correlation > no_value_32) return;
  entries_[process].push_back({static_cast<std::uint32_t>(*correlation), ticket, comm});
}

void Launched::sort() {
  for (auto& [process, entries] : entries_) std::ranges::stable_sort(entries, {}, &Entry::correlation);
}

std::span<const Launched::Entry> Launched::of(ProcessKey process, std::int64_t correlation) const {
  const auto own = entries_.find(process);
  if (own == entries_.end() || correlation <= 0 || correlation > no_value_32) return {};
  const auto found =
      std::ranges::equal_range(own->second, static_cast<std::uint32_t>(correlation), {}, &Entry::correlation);
  return {found.begin(), found.end()};
}

Result<Activities> read_activities(const Database& database, Timeline& timeline) {
  DeviceTables tables{database, timeline};
  RS_TRY_VOID(tables.kernels());
  RS_TRY_VOID(tables.copies());
  RS_TRY_VOID(tables.sets());
  RS_TRY_VOID(tables.graphs());
  RS_TRY_VOID(tables.events());
  RS_TRY_VOID(tables.synchronizations());
  return tables.take();
}

}  // namespace rankscope::analyzer::nsys
