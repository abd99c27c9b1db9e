#include "importers/nsys/census.h"

#include <algorithm>
#include <array>

#include "rankscope/core/format.h"

namespace rankscope::analyzer::nsys {
namespace {

enum class Place : std::uint8_t { device, host };

struct EventTable {
  std::string_view name;
  Place place;
  std::string_view process = "globalTid";
  std::string_view begin = "start";
  std::string_view end = "end";
  std::string_view where_column = {};  ///< the condition holds where the table has this column
  std::string_view where = {};
};

constexpr std::string_view only_ranges_and_marks = "WHERE eventType IN (34,59,60,65,70,71)";

constexpr std::array event_tables{
    EventTable{"CUPTI_ACTIVITY_KIND_KERNEL", Place::device, "globalPid"},
    EventTable{"CUPTI_ACTIVITY_KIND_MEMCPY", Place::device, "globalPid"},
    EventTable{"CUPTI_ACTIVITY_KIND_MEMSET", Place::device, "globalPid"},
    EventTable{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", Place::device, "globalPid"},
    EventTable{"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", Place::host, "globalPid"},
    EventTable{"CUPTI_ACTIVITY_KIND_CUDA_EVENT",
               Place::host,
               "globalPid",
               "timestamp",
               {},
               "timestamp",
               "WHERE timestamp <> 0"},
    EventTable{"CUPTI_ACTIVITY_KIND_RUNTIME", Place::host},
    EventTable{"CUPTI_ACTIVITY_KIND_OVERHEAD", Place::host},
    EventTable{"PROFILER_OVERHEAD", Place::host},
    EventTable{"CUDA_GRAPH_EVENTS", Place::host},
    EventTable{"CUDA_GRAPH_NODE_EVENTS", Place::host},
    EventTable{"CUDA_GPU_MEMORY_USAGE_EVENTS", Place::host, "globalPid", "start", {}},
    EventTable{"NVTX_EVENTS", Place::host, "globalTid", "start", "end", "eventType", only_ranges_and_marks},
    EventTable{"OSRT_API", Place::host},
    EventTable{"MPI_P2P_EVENTS", Place::host},
    EventTable{"MPI_COLLECTIVES_EVENTS", Place::host},
    EventTable{"MPI_START_WAIT_EVENTS", Place::host},
    EventTable{"MPI_OTHER_EVENTS", Place::host},
    EventTable{"CUBLAS_EVENTS", Place::host},
    EventTable{"CUDNN_EVENTS", Place::host},
};

/// Those that nobody needs here, or that belong to a table that is read.
bool is_side_table(std::string_view name) {
  constexpr std::array prefixes{std::string_view{"ENUM_"}, std::string_view{"TARGET_INFO_"},
                                std::string_view{"META_DATA_"}, std::string_view{"NVTX_PAYLOAD_"},
                                std::string_view{"sqlite_"}};
  constexpr std::array names{
      std::string_view{"StringIds"},     std::string_view{"EXPORT_META_DATA"},  std::string_view{"ANALYSIS_DETAILS"},
      std::string_view{"ANALYSIS_FILE"}, std::string_view{"ProcessStreams"},    std::string_view{"PROCESSES"},
      std::string_view{"ThreadNames"},   std::string_view{"DIAGNOSTIC_EVENT"},  std::string_view{"GPU_METRICS"},
      std::string_view{"MPI_RANKS"},     std::string_view{"MPI_COMMUNICATORS"}, std::string_view{"UnwindMethodType"}};
  return std::ranges::any_of(prefixes, [name](std::string_view prefix) { return name.starts_with(prefix); }) ||
         std::ranges::find(names, name) != names.end();
}

class Counting {
 public:
  explicit Counting(Census& census) : census_(census) {}

  Result<void> table(const Database& database, const EventTable& table) {
    const std::array<std::string_view, 5> columns{table.begin, table.end, table.process, "deviceId", "contextId"};
    const bool choosy = !table.where.empty() && database.has(table.name, table.where_column);
    RS_TRY(Rows rows, database.rows(table.name, columns, choosy ? table.where : std::string_view{}));
    while (rows.next()) row(table, rows);
    return rows.finish();
  }

 private:
  void row(const EventTable& table, const Rows& rows) {
    const auto begin = rows.integer(0);
    if (!begin || !is_plausible(*begin)) {
      ++census_.unusable;
      return;
    }
    const std::int64_t end = rows.integer_or(1, *begin);
    census_.first = std::min(census_.first.value_or(*begin), *begin);
    census_.last = std::max({census_.last.value_or(*begin), *begin, is_plausible(end) ? end : *begin});
    const ProcessKey key = rows.is_null(2) ? ProcessKey{} : ProcessKey::of(rows.integer_or(2, 0));
    if (seen_ == nullptr || !(key == key_) || table_ != &table) remember(table, key);
    if (table.place == Place::host) return;
    const auto device = rows.integer(3);
    if (!device) return;
    const std::int64_t context = rows.integer_or(4, none);
    if (*device == device_ && context == context_) return;
    device_ = *device;
    context_ = context;
    seen_->devices.insert(*device);
    if (context != none) census_.device_of_context.try_emplace({key, context}, *device);
  }

  void remember(const EventTable& table, ProcessKey key) {
    key_ = key;
    table_ = &table;
    device_ = none;
    seen_ = &census_.processes[key];
    seen_->tables.emplace(table.name);
  }

  Census& census_;
  SeenProcess* seen_ = nullptr;
  const EventTable* table_ = nullptr;
  static constexpr std::int64_t none = INT64_MIN;
  ProcessKey key_{};
  std::int64_t device_ = none;  // of the row before
  std::int64_t context_ = none;
};

/// Rows without a process column belong to the only process that the other tables name.
void give_to_default(Census& census) {
  const auto nameless = census.processes.find(ProcessKey{});
  if (nameless == census.processes.end() || census.processes.size() != 2) return;
  const SeenProcess rows = std::move(nameless->second);
  census.processes.erase(nameless);
  const auto [key, seen] = std::pair{census.processes.begin()->first, &census.processes.begin()->second};
  seen->devices.insert(rows.devices.begin(), rows.devices.end());
  seen->tables.insert(rows.tables.begin(), rows.tables.end());
  std::map<std::pair<ProcessKey, std::int64_t>, std::int64_t> devices;
  for (const auto& [context, device] : census.device_of_context) devices.try_emplace({key, context.second}, device);
  census.device_of_context = std::move(devices);
}

}  // namespace

ProcessKey Census::default_process() const { return processes.size() == 1 ? processes.begin()->first : ProcessKey{}; }

Result<Census> take_census(const Database& database) {
  const bool any = std::ranges::any_of(event_tables, [&](const EventTable& table) { return database.has(table.name); });
  if (!any && !database.has("GPU_METRICS"))
    return fail(ErrorKind::unreadable,
                format("{} is an export without any event table: record with nsys profile -t cuda,nvtx and export with "
                       "nsys export --type sqlite",
                       database.path().string()));
  Census census;
  Counting counting{census};
  for (const EventTable& table : event_tables)
    if (database.has(table.name)) RS_TRY_VOID(counting.table(database, table));
  give_to_default(census);
  return census;
}

std::string unread_tables(const Database& database) {
  std::string list;
  for (const auto& [name, columns] : database.tables()) {
    if (is_side_table(name) || std::ranges::find(event_tables, name, &EventTable::name) != event_tables.end()) continue;
    const std::uint64_t rows = database.row_count(name);
    if (rows > 0) list += format("{}{} ({} rows)", list.empty() ? "" : ", ", name, rows);
  }
  return list;
}

}  // namespace rankscope::analyzer::nsys
