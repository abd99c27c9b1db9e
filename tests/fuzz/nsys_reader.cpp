// An export of Nsight Systems -> Run -> text. Bytes of a database go to the reader as they are. All other input is a
// list of changes to a small sound export, because almost no change of bytes leaves a database that SQLite opens.
#include <sqlite3.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "rankscope/analyzer/open.h"
#include "rankscope/core/model/text.h"

namespace {

constexpr const char* sound = R"sql(
  PRAGMA synchronous=OFF; BEGIN;
  CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
  INSERT INTO StringIds VALUES (1,'gemm'),(2,'cudaLaunchKernel_v7000'),(3,'ncclDevKernel_AllReduce_Sum_bf16_RING_LL()'),
    (4,'ncclDevKernel_SendRecv()'),(5,'ncclGroupStart'),(6,'ncclGroupEnd'),(7,'ncclSend'),(8,'aten::mm, seq = 5, op_id = 7');
  CREATE TABLE K (start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName, shortName, gridX,
    gridY, gridZ, staticSharedMemory, dynamicSharedMemory, graphNodeId);
  INSERT INTO K VALUES (10,20,0,1,7,1,281474993487872,1,1,1,1,1,0,0,0),(30,40,0,1,8,2,281474993487872,3,3,1,1,1,0,0,0),
    (12,22,1,1,7,1,281475010265088,4,4,1,1,1,0,0,3),(32,45,1,1,8,2,281475010265088,3,3,1,1,1,0,0,0);
  ALTER TABLE K RENAME TO CUPTI_ACTIVITY_KIND_KERNEL;
  CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, returnValue);
  INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1,5,0,281474993487873,1,2,0),(6,8,1,281474993487873,2,2,0),
    (2,6,0,281475010265090,1,2,0),(7,9,0,281475010265090,2,2,1);
  CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes,
    copyKind, srcKind, dstKind, srcDeviceId, dstDeviceId, graphNodeId);
  INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (50,60,0,1,7,3,281474993487872,4096,10,2,2,0,1,0);
  CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, end, deviceId, contextId, streamId, correlationId, globalPid,
    syncType, eventId, eventSyncId);
  INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (60,70,0,1,7,4,281474993487872,2,5,6);
  CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end, deviceId, contextId, streamId, correlationId, globalPid,
    graphId, graphExecId);
  INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (70,80,0,1,7,5,281474993487872,1,2);
  CREATE TABLE NVTX_EVENTS (start, end, eventType, category, color, text, globalTid, textId, domainId, uint64Value,
    doubleValue, binaryData);
  INSERT INTO NVTX_EVENTS VALUES (0,9,59,NULL,NULL,NULL,281474993487873,8,0,NULL,NULL,NULL),
    (0,NULL,75,NULL,NULL,'NCCL',281474993487873,NULL,1,NULL,NULL,NULL),
    (1,2,59,NULL,NULL,NULL,281474993487873,5,1,NULL,NULL,NULL),(6,9,59,NULL,NULL,NULL,281474993487873,6,1,NULL,NULL,NULL),
    (3,4,59,1,255,NULL,281474993487873,7,1,NULL,1.5,x'01000000000000000a00000100000000180000000000000038000000000000001032547698badcfe400000000000000001000000cdcdcdcd'),
    (3,4,59,1,255,'ncclCommInitRank',281475010265090,NULL,1,7,NULL,x'01000000000000000200000100000000180000000000000038000000000000001032547698badcfe02000000010000000100000000000000');
  CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId, schemaId, name, offset);
  INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (1,16777218,'NCCL communicator ID',NULL),(1,16777218,'No. of ranks',8),
    (1,16777218,'Rank',12),(1,16777226,'NCCL communicator ID',NULL),(1,16777226,'Message size [bytes]',8),
    (1,16777226,'Peer rank',16);
  CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start, globalPid, deviceId, address, bytes, memKind, memoryOperationType);
  INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (5,281474993487872,0,4096,1024,2,0),(6,281474993487872,0,4096,1024,2,1);
  CREATE TABLE GPU_METRICS (timestamp, typeId, metricId, value);
  INSERT INTO GPU_METRICS VALUES (5,256,1,50.5);
  CREATE TABLE ANALYSIS_DETAILS (startTime, duration); INSERT INTO ANALYSIS_DETAILS VALUES (1000,100);
  CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs); INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (17000);
  CREATE TABLE META_DATA_EXPORT (name, value); INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION','3.25.0');
  CREATE TABLE TARGET_INFO_SYSTEM_ENV (name, value); INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname','n0');
  CREATE TABLE TARGET_INFO_GPU (id, name, uuid); INSERT INTO TARGET_INFO_GPU VALUES (0,'H100','u');
  CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid); INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0,0,1);
  CREATE TABLE DIAGNOSTIC_EVENT (severity, text); INSERT INTO DIAGNOSTIC_EVENT VALUES (2,'careful');
  CREATE TABLE MPI_RANKS (globalTid, rank); INSERT INTO MPI_RANKS VALUES (281474993487873,0);
  CREATE TABLE ThreadNames (nameId, globalTid); INSERT INTO ThreadNames VALUES (1,281474993487873);
  COMMIT;
)sql";

/// What sqlite_master and PRAGMA table_info say, once: (table, column) of the sound export.
struct Place {
  std::string table;
  std::string column;
};

void run(sqlite3* database, const std::string& sql) { sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr); }

std::vector<Place> places_of(sqlite3* database) {
  std::vector<Place> places;
  sqlite3_stmt* rows = nullptr;
  sqlite3_prepare_v2(database,
                     "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type='table'", -1,
                     &rows, nullptr);
  const auto text = [rows](int column) {
    return std::string{reinterpret_cast<const char*>(sqlite3_column_text(rows, column))};
  };
  while (sqlite3_step(rows) == SQLITE_ROW) places.push_back({text(0), text(1)});
  sqlite3_finalize(rows);
  return places;
}

constexpr std::uint8_t copies_rows = 2;  // kind of change

/// Four bytes are one change: place, row, kind, value.
std::string change(const std::vector<Place>& places, std::span<const std::uint8_t> bytes) {
  const Place& place = places[bytes[0] % places.size()];
  const std::string row = std::to_string(bytes[1] % 8 + 1);
  constexpr std::array<const char*, 12> values{
      "NULL",   "0",       "-1", "9223372036854775807", "-9223372036854775807-1", "4294967295", "1e300",
      "'text'", "x'ff00'", "2",  "281474993487873",     "1152921504606846976"};
  switch (bytes[2] % 8) {
    case 0:
      return "ALTER TABLE \"" + place.table + "\" DROP COLUMN \"" + place.column + "\";";
    case 1:
      return "DROP TABLE \"" + place.table + "\";";
    case copies_rows:
      return "INSERT INTO \"" + place.table + "\" SELECT * FROM \"" + place.table + "\";";
    case 3:
      return "UPDATE \"" + place.table + "\" SET \"" + place.column + "\"=" + std::to_string(bytes[3]) +
             " WHERE rowid=" + row + ";";
    default:
      return "UPDATE \"" + place.table + "\" SET \"" + place.column + "\"=" + values[bytes[3] % values.size()] +
             " WHERE rowid=" + row + ";";
  }
}

void make(const std::filesystem::path& path, std::span<const std::uint8_t> changes) {
  std::filesystem::remove(path);
  sqlite3* database = nullptr;
  if (sqlite3_open(path.c_str(), &database) != SQLITE_OK) std::abort();
  char* message = nullptr;
  if (sqlite3_exec(database, sound, nullptr, nullptr, &message) != SQLITE_OK) std::abort();
  static const std::vector<Place> places = places_of(database);
  std::string sql = "BEGIN;";
  run(database, sql);
  constexpr std::size_t most = 64;
  int copies = 0;  // of all rows of a table: each doubles it
  for (std::size_t i = 0; i + 4 <= changes.size() && i < 4 * most; i += 4) {
    if (changes[i + 2] % 8 == copies_rows && ++copies > 8) continue;
    run(database, change(places, changes.subspan(i, 4)));
  }
  run(database, "COMMIT;");
  sqlite3_close(database);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const rankscope::fuzz::Folder folder;
  constexpr std::string_view magic{"SQLite format 3", 15};
  std::filesystem::path path = folder.path() / "a.sqlite";
  if (size >= magic.size() && std::memcmp(data, magic.data(), magic.size()) == 0)
    path = folder.write("a.sqlite", {data, size});
  else
    make(path, {data, size});
  const auto read = rankscope::analyzer::open_run(path);
  if (!read) {
    if (read.error().message.empty()) std::abort();  // an error without a sentence helps nobody
    return 0;
  }
  std::ostringstream text;
  rankscope::write_text(**read, text);
  return 0;
}
