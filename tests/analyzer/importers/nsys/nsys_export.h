// Small exports of Nsight Systems, made by the tests themselves: SQL text becomes a file.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <string>

#include "importers/nsys/nsys.h"
#include "rankscope/core/model/run.h"

namespace rankscope::testing {

/// Runs SQL on a file; makes the file if it is not there.
inline void run_sql(const std::filesystem::path& path, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  char* message = nullptr;
  const std::string quickly = "PRAGMA synchronous=OFF; BEGIN;" + sql + "COMMIT;";
  EXPECT_EQ(sqlite3_exec(database, quickly.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
  sqlite3_free(message);
  sqlite3_close(database);
}

/// Global ids of the process with this pid, and of one of its threads.
constexpr std::int64_t process_id(std::int64_t pid) { return (std::int64_t{1} << 48) | (pid << 24); }
constexpr std::int64_t thread_id(std::int64_t pid, std::int64_t tid) { return process_id(pid) | tid; }

/// Tables as recent versions write them, without rows.
inline const std::string modern_tables = R"sql(
  CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
  CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
  CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);
  CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT, nameEnum INTEGER, value TEXT);
  CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
  CREATE TABLE ANALYSIS_DETAILS (globalVid INTEGER, duration INTEGER, startTime INTEGER, stopTime INTEGER);
  CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER, deviceId INTEGER, contextId INTEGER,
    streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER,
    registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER,
    blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, graphNodeId INTEGER, graphId INTEGER);
  CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
    streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER,
    dstKind INTEGER, srcDeviceId INTEGER, dstDeviceId INTEGER, graphNodeId INTEGER);
  CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
    correlationId INTEGER, nameId INTEGER, returnValue INTEGER);
  CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
    streamId INTEGER, correlationId INTEGER, globalPid INTEGER, syncType INTEGER, eventId INTEGER,
    eventSyncId INTEGER);
  CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER,
    category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER,
    domainId INTEGER, uint64Value INTEGER, int64Value INTEGER, doubleValue REAL, uint32Value INTEGER,
    int32Value INTEGER, floatValue REAL, jsonTextId INTEGER, jsonText TEXT, binaryData TEXT);
  CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
  CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);
  INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.25.0'), ('EXPORT_PRODUCT_VERSION', '2026.2.1');
  INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'cudaLaunchKernel_v7000'),
    (3, 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage)'),
    (4, 'ncclDevKernel_SendRecv(ncclDevKernelArgsStorage)');
)sql";

/// One kernel: [begin, end) of a process on a device and stream; the name is an id of StringIds.
struct Kernel {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t pid = 100;
  std::int64_t device = 0;
  std::int64_t stream = 7;
  std::int64_t correlation = 0;
  std::int64_t name = 1;
};
inline std::string insert(const Kernel& kernel) {
  std::string sql = "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (";
  for (const std::int64_t value : {kernel.begin, kernel.end, kernel.device, std::int64_t{1}, kernel.stream,
                                   kernel.correlation, process_id(kernel.pid), kernel.name, kernel.name})
    sql += std::to_string(value) + ",";
  return sql + "32,4,2,1,128,1,1,16,100,NULL,NULL);\n";
}

/// One launch call of thread 1000 + pid.
struct LaunchCall {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t pid = 100;
  std::int64_t correlation = 0;
};
inline std::string insert(const LaunchCall& call) {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" + std::to_string(call.begin) + "," +
         std::to_string(call.end) + ",0," + std::to_string(thread_id(call.pid, 1000 + call.pid)) + "," +
         std::to_string(call.correlation) + ",2,0);\n";
}

/// One push/pop range of thread 1000 + pid, with a payload as hexadecimal text.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t pid = 100;
  std::string text{};
  std::int64_t domain = 0;
  std::string payload{};
};
inline std::string insert(const Range& range) {
  return "INSERT INTO NVTX_EVENTS (start,end,eventType,text,globalTid,domainId,binaryData) VALUES (" +
         std::to_string(range.begin) + "," + std::to_string(range.end) + ",59,'" + range.text + "'," +
         std::to_string(thread_id(range.pid, 1000 + range.pid)) + "," + std::to_string(range.domain) + "," +
         (range.payload.empty() ? std::string{"NULL"} : "x'" + range.payload + "'") + ");\n";
}

inline Result<std::shared_ptr<const Run>> read_export(const std::filesystem::path& path,
                                                      const analyzer::ImportOptions& options = {}) {
  return analyzer::nsys::read(std::span{&path, 1}, options);
}

/// The only span of a name; the test fails if there is none or more.
inline const Span& only_span(const Run& run, std::string_view name) {
  const Span* found = nullptr;
  int count = 0;
  for (const Span& span : run.spans())
    if (run.text(span.name) == name) {
      found = &span;
      ++count;
    }
  EXPECT_EQ(count, 1) << name;
  static const Span none{};
  return found == nullptr ? none : *found;
}

inline std::string text_attribute(const Run& run, const Span& span, std::string_view key) {
  const auto value = run.attributes_of(run.id_of(span)).find(run.strings().find(key));
  return value && value->kind != AttributeKind::number ? std::string{run.text(value->text)} : std::string{};
}

}  // namespace rankscope::testing
