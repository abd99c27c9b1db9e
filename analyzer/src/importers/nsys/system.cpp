#include "importers/nsys/system.h"

#include <algorithm>
#include <cstdlib>

#include "importers/shared/loss_messages.h"
#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"

namespace rankscope::analyzer::nsys {
namespace {

constexpr std::int64_t most_devices = 4096;

constexpr std::int64_t newest_major_schema = 3;
constexpr std::int64_t boot_tolerance_ns = 2'000'000'000;  // what a clock may be stepped between two recordings

constexpr std::string_view environment = "TARGET_INFO_SYSTEM_ENV";

std::string export_setting(const Database& database, std::string_view name) {
  const std::string value = database.setting("META_DATA_EXPORT", name);
  return value.empty() ? database.setting("EXPORT_META_DATA", name) : value;  // schema 2.x
}

bool is_set(const std::string& value) { return !value.empty() && value != "0" && value != "false"; }

Result<void> read_clock(const Database& database, Session& session) {
  constexpr std::array<std::string_view, 1> utc{"utcEpochNs"};
  if (database.has("TARGET_INFO_SESSION_START_TIME")) {
    RS_TRY(Rows rows, database.rows("TARGET_INFO_SESSION_START_TIME", utc, "LIMIT 1"));
    if (rows.next()) session.utc_ns = rows.integer(0);
    RS_TRY_VOID(rows.finish());
  }
  constexpr std::array<std::string_view, 2> details{"startTime", "duration"};
  if (database.has("ANALYSIS_DETAILS")) {
    RS_TRY(Rows rows, database.rows("ANALYSIS_DETAILS", details, "LIMIT 1"));
    if (rows.next()) {
      session.host_start_ns = rows.integer(0);
      session.duration_ns = rows.integer(1);
    }
    RS_TRY_VOID(rows.finish());
  }
  for (auto* time : {&session.utc_ns, &session.host_start_ns})
    if (*time && !is_plausible_clock(**time)) time->reset();
  return {};
}

Device device_from(const Rows& rows, RunBuilder& builder) {
  Device device;
  device.name = builder.intern(rows.text(1));
  if (!rows.text(2).empty()) device.uuid = builder.intern(rows.text(2));
  constexpr std::array<std::string_view, 5> keys{"bus_location", "sm_count", "total_memory_bytes",
                                                 "memory_bandwidth_bytes_per_s", "chip"};
  for (int i = 0; i < static_cast<int>(keys.size()); ++i)
    if (!rows.is_null(3 + i) && !rows.text(3 + i).empty())
      device.metadata.emplace_back(builder.intern(keys[static_cast<std::size_t>(i)]), builder.intern(rows.text(3 + i)));
  return device;
}

/// The devices of the machine by Nsight's number.
using Gpus = std::map<std::int64_t, Device>;

Result<Gpus> read_gpus(const Database& database, RunBuilder& builder) {
  Gpus gpus;
  if (!database.has("TARGET_INFO_GPU")) return gpus;
  constexpr std::array<std::string_view, 8> columns{
      "id", "name", "uuid", "busLocation", "smCount", "totalMemory", "memoryBandwidth", "chipName"};
  RS_TRY(Rows rows, database.rows("TARGET_INFO_GPU", columns));
  while (rows.next()) {
    Device device = device_from(rows, builder);
    if (const auto id = rows.integer(0)) gpus.try_emplace(*id, std::move(device));
  }
  RS_TRY_VOID(rows.finish());
  return gpus;
}

/// What is known of a device whose number on the machine is not: which one it is depends on CUDA_VISIBLE_DEVICES.
Device any_of(const Gpus& gpus) {
  if (gpus.size() == 1) return gpus.begin()->second;
  Device device;
  const bool alike = !gpus.empty() && std::ranges::all_of(gpus, [&](const auto& gpu) {
    return gpu.second.name == gpus.begin()->second.name;
  });
  if (alike) device.name = gpus.begin()->second.name;
  return device;
}

void add_device(Timeline& timeline, ProcessKey key, std::int64_t ordinal, const Device& from) {
  if (ordinal < 0 || ordinal >= most_devices) return;  // no process has so many; its work keeps the number
  Device device = from;
  device.process = timeline.row(key);
  device.ordinal = static_cast<std::int32_t>(ordinal);
  timeline.builder().add_device(std::move(device));
}

/// (pid, ordinal in that process) -> number of the device on the machine.
using DeviceMap = std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>;

Result<DeviceMap> read_device_map(const Database& database) {
  DeviceMap map;
  if (!database.has("TARGET_INFO_CUDA_DEVICE")) return map;
  constexpr std::array<std::string_view, 3> columns{"pid", "cudaId", "gpuId"};
  RS_TRY(Rows rows, database.rows("TARGET_INFO_CUDA_DEVICE", columns));
  while (rows.next()) {
    const auto pid = rows.integer(0);
    const auto ordinal = rows.integer(1);
    const auto gpu = rows.integer(2);
    if (pid && ordinal && gpu) map.try_emplace({*pid, *ordinal}, *gpu);
  }
  RS_TRY_VOID(rows.finish());
  return map;
}

bool is_secret_setting(std::string_view name) {
  if (name.find("ENVIRONMENT_VARIABLE") != std::string_view::npos) return true;
  constexpr std::array<std::string_view, 4> parts{":COMMAND", ":ARGUMENT_", ":USER_NAME", ":WORKING_DIR"};
  return std::ranges::any_of(parts,
                             [name](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

bool is_secret_fact(std::string_view name) { return name == "DeviceEnvironment"; }

bool is_secret_export(std::string_view name) {
  return name == "EXPORT_USER" || name == "EXPORT_HOST" ||
         (name.starts_with("EXPORT_PARAM_") && name.find("PATH") != std::string_view::npos);
}

Result<std::uint64_t> count_rows(const Database& database, std::string_view table,
                                 bool (*is_secret)(std::string_view)) {
  constexpr std::array<std::string_view, 2> columns{"name", "value"};
  std::uint64_t count = 0;
  if (!database.has(table)) return count;
  RS_TRY(Rows rows, database.rows(table, columns));
  while (rows.next())
    if (is_secret(rows.text(0)) && !rows.text(1).empty()) ++count;
  RS_TRY_VOID(rows.finish());
  return count;
}

/// One line of text, not longer than a screen has.
std::string one_line(std::string_view text) {
  constexpr std::size_t longest = 240;
  std::string line;
  for (const char letter : text.substr(0, longest)) line += letter == '\n' || letter == '\r' ? ' ' : letter;
  if (text.size() > longest) line += "...";
  return line;
}

}  // namespace

Result<Session> read_session(const Database& database) {
  Session session;
  session.schema = export_setting(database, "EXPORT_SCHEMA_VERSION");
  session.product = export_setting(database, "EXPORT_PRODUCT_VERSION");
  if (leading_number<std::int64_t>(session.schema).value_or(0) > newest_major_schema)
    return fail(ErrorKind::unreadable, format("{} has schema {}, but this version of rankscope reads only schemas 2 "
                                              "and 3: export the report with an older nsys, or use a newer rankscope",
                                              database.path().string(), session.schema));
  session.host = database.setting(environment, "Hostname");
  session.shifted = is_set(export_setting(database, "EXPORT_CONFIG_TIME_SHIFT")) ||
                    is_set(export_setting(database, "EXPORT_PARAM_TIME_SHIFT")) ||
                    is_set(export_setting(database, "EXPORT_PARAM_TIME_NORMALIZE"));
  RS_TRY_VOID(read_clock(database, session));
  return session;
}

bool same_host(const Session& a, const Session& b) {
  if (a.shifted || b.shifted || a.host != b.host || a.host.empty()) return false;
  if (!a.utc_ns || !b.utc_ns || !a.host_start_ns || !b.host_start_ns) return false;
  return std::abs((*a.utc_ns - *a.host_start_ns) - (*b.utc_ns - *b.host_start_ns)) < boot_tolerance_ns;
}

Result<std::map<ProcessKey, std::string>> read_programs(const Database& database) {
  std::map<ProcessKey, std::string> programs;
  if (!database.has("PROCESSES")) return programs;
  constexpr std::array<std::string_view, 2> columns{"globalPid", "name"};
  RS_TRY(Rows rows, database.rows("PROCESSES", columns));
  while (rows.next()) {
    const std::string_view name = rows.text(1);
    const auto id = rows.integer(0);
    if (id) programs.insert_or_assign(ProcessKey::of(*id), std::string{name.substr(name.find_last_of('/') + 1)});
  }
  RS_TRY_VOID(rows.finish());
  return programs;
}

Result<void> read_thread_names(const Database& database, Timeline& timeline) {
  if (!database.has("ThreadNames")) return {};
  constexpr std::array<std::string_view, 2> columns{"nameId", "globalTid"};
  RS_TRY(Rows rows, database.rows("ThreadNames", columns));
  while (rows.next()) {
    const auto name = rows.integer(0);
    const auto thread = rows.integer(1);
    if (!name || !thread || !timeline.has(ProcessKey::of(*thread))) continue;  // 2,700 threads, 20 of them recorded
    if (const auto text = timeline.names().text(*name)) timeline.name_thread(*thread, std::string{*text});
  }
  return rows.finish();
}

Result<void> read_devices(const Database& database, Timeline& timeline) {
  RS_TRY(const Gpus gpus, read_gpus(database, timeline.builder()));
  RS_TRY(const DeviceMap map, read_device_map(database));
  for (const auto& [key, seen] : timeline.census().processes) {
    for (const std::int64_t ordinal : seen.devices) {
      const auto mapped = map.find({key.pid(), ordinal});
      const bool known = mapped != map.end() && gpus.contains(mapped->second);
      add_device(timeline, key, ordinal, known ? gpus.at(mapped->second) : any_of(gpus));
    }
  }
  return {};
}

Result<void> read_diagnostics(const Database& database, RunBuilder& builder) {
  if (!database.has("DIAGNOSTIC_EVENT")) return {};
  constexpr std::int64_t info = 1;
  constexpr std::int64_t warning = 2;
  constexpr std::int64_t error = 3;
  constexpr std::size_t most = 20;
  constexpr std::array<std::string_view, 2> columns{"severity", "text"};
  RS_TRY(Rows rows, database.rows("DIAGNOSTIC_EVENT", columns));
  std::set<std::string> texts;
  while (rows.next()) {
    const std::int64_t severity = rows.integer_or(0, 0);
    const bool warns = severity == warning || severity == error;
    const bool loses = (warns || severity == info) && reports_lost_events(rows.text(1));
    if (!warns && !loses) continue;  // 4 is "verbose"
    if (warns) builder.quality().add(Counter::source_warnings);
    if (loses) builder.quality().add(Counter::source_lost_events);
    const char* const kind = severity == error ? "error: " : warns ? "warning: " : "info: ";
    if (texts.size() < most) texts.insert(kind + one_line(rows.text(1)));
  }
  RS_TRY_VOID(rows.finish());
  for (std::size_t number = 1; const std::string& text : texts)
    builder.info().metadata.emplace_back(format("nsys.message.{:02}", number++), text);
  return {};
}

Result<std::uint64_t> count_secrets(const Database& database) {
  std::uint64_t count = database.row_count("ProcessStreams") + database.row_count("ANALYSIS_FILE") +
                        database.row_count("OSRT_FILE_ACCESS_DESCRIPTORS");
  RS_TRY(const std::uint64_t settings, count_rows(database, "META_DATA_CAPTURE", is_secret_setting));
  RS_TRY(const std::uint64_t facts, count_rows(database, environment, is_secret_fact));
  RS_TRY(const std::uint64_t exports, count_rows(database, "META_DATA_EXPORT", is_secret_export));
  RS_TRY(const std::uint64_t old_exports, count_rows(database, "EXPORT_META_DATA", is_secret_export));
  return count + settings + facts + exports + old_exports;
}

void note_absences(const Database& database, RunBuilder& builder) {
  if (const std::string unread = unread_tables(database); !unread.empty())
    builder.info().metadata.emplace_back("nsys.tables_not_read", unread);
  struct Column {
    std::string_view table;
    std::string_view column;
    std::string_view loss;
  };
  constexpr std::array wanted{
      Column{"CUPTI_ACTIVITY_KIND_KERNEL", "globalPid", "process of each kernel"},
      Column{"CUPTI_ACTIVITY_KIND_KERNEL", "correlationId", "launches"},
      Column{"CUPTI_ACTIVITY_KIND_KERNEL", "demangledName", "full kernel names"},
      Column{"CUPTI_ACTIVITY_KIND_KERNEL", "registersPerThread", "registers per thread"},
      Column{"CUPTI_ACTIVITY_KIND_KERNEL", "dynamicSharedMemory", "shared memory"},
      Column{"CUPTI_ACTIVITY_KIND_RUNTIME", "correlationId", "launches"},
      Column{"CUPTI_ACTIVITY_KIND_RUNTIME", "eventClass", "distinction between runtime and driver calls"},
      Column{"CUPTI_ACTIVITY_KIND_MEMCPY", "bytes", "copied bytes"},
      Column{"CUPTI_ACTIVITY_KIND_MEMCPY", "copyKind", "direction of copies"},
      Column{"NVTX_EVENTS", "domainId", "domains"},
      Column{"TARGET_INFO_GPU", "uuid", "identity of devices"},
  };
  std::string missing;
  for (const Column& column : wanted)
    if (database.has(column.table) && !database.has(column.table, column.column))
      missing += format("{}{}.{} ({})", missing.empty() ? "" : ", ", column.table, column.column, column.loss);
  for (const std::string_view table : {"CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS", "TARGET_INFO_GPU"})
    if (!database.has(table)) missing += format("{}{}", missing.empty() ? "" : ", ", table);
  if (!missing.empty()) builder.info().metadata.emplace_back("nsys.unavailable", missing);
}

}  // namespace rankscope::analyzer::nsys
