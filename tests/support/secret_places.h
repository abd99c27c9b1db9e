// Inputs of other profilers with a secret in each place that has text. "@NAME@" marks such a place.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::testing {

inline constexpr std::string_view secret_canary = "c4n4ryB1rd77x";

/// A place, and what stands there when it has a secret.
struct SecretPlace {
  std::string_view slot;
  std::string_view text;
};

inline const std::vector<SecretPlace>& kineto_places() {
  static const std::vector<SecretPlace> places{
      {"@OP@", "load password=c4n4ryB1rd77x"},
      {"@ARGUMENT@", "--token c4n4ryB1rd77x"},
      {"@SECRET_ARGUMENT@", "c4n4ryB1rd77x"},
      {"@ARGUMENT_KEY@", "api_key=c4n4ryB1rd77x"},
      {"@NESTED_ARGUMENT@", "c4n4ryB1rd77x"},
      {"@STEP_ARGUMENT@", "mysql -pc4n4ryB1rd77x db"},
      {"@KERNEL@", "kernel<secret='c4n4ryB1rd77x'>"},
      {"@KERNEL_ARGUMENT@", "https://c4n4ryB1rd77x@host/x"},
      {"@ANNOTATION@", "{'password': 'c4n4ryB1rd77x'}"},
      {"@PYTHON@", "train.py(3): run(password='c4n4ryB1rd77x')"},
      {"@INSTANT@", "https://host/x?sig=c4n4ryB1rd77x"},
      {"@COUNTER@", "password: c4n4ryB1rd77x"},
      {"@CATEGORY@", "cat password=c4n4ryB1rd77x"},
      {"@PROCESS@", "python --password=c4n4ryB1rd77x"},
      {"@THREAD@", "thread --api-key c4n4ryB1rd77x"},
      {"@HOST@", "n0 password=c4n4ryB1rd77x"},
      {"@JOB@", "job token=c4n4ryB1rd77x"},
      {"@TRACE@", "hf_c4n4ryB1rd77xc4n4ryB1rd77x"},
      {"@VERSION@", "12 secret: c4n4ryB1rd77x"},
      {"@BACKEND@", "nccl password=c4n4ryB1rd77x"},
      {"@GROUP@", "pg password=c4n4ryB1rd77x"},
      {"@COLLECTIVE@", "allreduce password=c4n4ryB1rd77x"},
      {"@GPU@", "H100 password=c4n4ryB1rd77x"},
      {"@GPU_PROPERTY@", "pass-phrase passphrase=c4n4ryB1rd77x"},
      {"@GPU_SECRET@", "c4n4ryB1rd77x"},
      {"@BLOCK@", "c4n4ryB1rd77x"},
      {"@ENVIRONMENT@", "c4n4ryB1rd77x"},
  };
  return places;
}

inline constexpr std::string_view kineto_with_places = R"({"schemaVersion": 1,
 "baseTimeNanoseconds": 1700000000000000000, "host_name": "@HOST@", "trace_id": "@TRACE@",
 "PT_PROFILER_JOB_NAME": "@JOB@", "cupti_version": "@VERSION@",
 "distributedInfo": {"rank": 0, "world_size": 1, "backend": "@BACKEND@",
  "pg_config": [{"pg_name": "@GROUP@", "ranks": [0]}]},
 "deviceProperties": [{"id": 0, "name": "@GPU@", "note": "@GPU_PROPERTY@", "api_token": "@GPU_SECRET@"}],
 "launch": {"api_key": "@BLOCK@"}, "environ": {"HOME_OF_ME": "@ENVIRONMENT@"},
 "traceEvents": [
 {"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "ts": 0, "args": {"name": "@PROCESS@"}},
 {"ph": "M", "name": "thread_name", "pid": 7, "tid": 7, "ts": 0, "args": {"name": "@THREAD@"}},
 {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 7, "tid": 7, "ts": 0, "dur": 100,
  "args": {"note": "@STEP_ARGUMENT@"}},
 {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "pid": 7, "tid": 7, "ts": 100, "dur": 100, "args": {}},
 {"ph": "X", "cat": "cpu_op", "name": "@OP@", "pid": 7, "tid": 7, "ts": 1, "dur": 20,
  "args": {"note": "@ARGUMENT@", "password": "@SECRET_ARGUMENT@", "@ARGUMENT_KEY@": 1,
           "config": {"secret": "@NESTED_ARGUMENT@"}}},
 {"ph": "X", "cat": "cpu_op", "name": "@HARMLESS@", "pid": 7, "tid": 7, "ts": 22, "dur": 2, "args": {"note": "@HARMLESS@"}},
 {"ph": "X", "cat": "user_annotation", "name": "@ANNOTATION@", "pid": 7, "tid": 7, "ts": 25, "dur": 20, "args": {}},
 {"ph": "X", "cat": "python_function", "name": "@PYTHON@", "pid": 7, "tid": 7, "ts": 50, "dur": 5, "args": {}},
 {"ph": "X", "cat": "@CATEGORY@", "name": "other", "pid": 7, "tid": 7, "ts": 56, "dur": 5, "args": {}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": 2, "dur": 3,
  "args": {"correlation": 11}},
 {"ph": "X", "cat": "kernel", "name": "@KERNEL@", "pid": 0, "tid": 7, "ts": 6, "dur": 4,
  "args": {"correlation": 11, "device": 0, "stream": 7, "note": "@KERNEL_ARGUMENT@"}},
 {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "pid": 0, "tid": 7, "ts": 20, "dur": 9,
  "args": {"correlation": 12, "device": 0, "stream": 7, "Collective name": "@COLLECTIVE@", "In msg nelems": 4,
           "Out msg nelems": 4, "Group size": 1, "dtype": "Float", "Process Group Name": "@GROUP@"}},
 {"ph": "i", "name": "@INSTANT@", "pid": 7, "tid": 7, "ts": 70, "s": "t", "args": {}},
 {"ph": "C", "name": "@COUNTER@", "pid": 7, "ts": 80, "args": {"bytes": 4}}
 ]})";

inline const std::vector<SecretPlace>& nsys_places() {
  static const std::vector<SecretPlace> places{
      {"@KERNEL@", "kernel password=c4n4ryB1rd77x"},
      {"@RANGE@", "login --token c4n4ryB1rd77x"},
      {"@RANGE_BY_ID@", "https://c4n4ryB1rd77x@host/x"},
      {"@MARK@", "mysql -pc4n4ryB1rd77x db"},
      {"@DOMAIN@", "domain password=c4n4ryB1rd77x"},
      {"@CATEGORY@", "category secret=c4n4ryB1rd77x"},
      {"@NVTX_THREAD@", "thread api_key=c4n4ryB1rd77x"},
      {"@PROCESS@", "train --password=c4n4ryB1rd77x"},
      {"@THREAD@", "loader passphrase: c4n4ryB1rd77x"},
      {"@CALL@", "cudaCall password=c4n4ryB1rd77x"},
      {"@SYSTEM_CALL@", "open https://host/x?sig=c4n4ryB1rd77x"},
      {"@HOST@", "n0 password=c4n4ryB1rd77x"},
      {"@GPU@", "H100 password=c4n4ryB1rd77x"},
      {"@GPU_UUID@", "gsk_c4n4ryB1rd77xc4n4ryB1rd77x"},
      {"@GPU_BUS@", "0000 password=c4n4ryB1rd77x"},
      {"@CHIP@", "GH100 token=c4n4ryB1rd77x"},
      {"@WARNING@", "cannot open https://me:c4n4ryB1rd77x@host/x"},
      {"@DRIVER@", "535 password=c4n4ryB1rd77x"},
      {"@PRODUCT@", "2026 password=c4n4ryB1rd77x"},
      {"@ENVIRONMENT@", "c4n4ryB1rd77x"},
      {"@COMMAND_ARGUMENT@", "--flag=c4n4ryB1rd77x"},
      {"@OUTPUT@", "printed c4n4ryB1rd77x"},
  };
  return places;
}

/// Behind the tables of nsys_export.h. The process is 100, its thread 1100 (process_id() and thread_id() there).
inline constexpr std::string_view nsys_with_places = R"sql(
  INSERT INTO StringIds VALUES (50,'@KERNEL@'),(51,'@RANGE_BY_ID@'),(52,'@THREAD@'),(53,'@CALL@'),(54,'@SYSTEM_CALL@'),
    (55,'@OUTPUT@'),(56,'@HARMLESS@');
  CREATE TABLE ProcessStreams (globalPid INTEGER, filenameId INTEGER, contentId INTEGER);
  INSERT INTO ProcessStreams VALUES (1,55,55);
  CREATE TABLE OSRT_API (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER, returnValue INTEGER);
  INSERT INTO OSRT_API VALUES (500,510,@TID@,54,0);
  CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, uuid TEXT, busLocation TEXT, smCount INTEGER,
    totalMemory INTEGER, memoryBandwidth INTEGER, chipName TEXT);
  INSERT INTO TARGET_INFO_GPU VALUES (0,'@GPU@','@GPU_UUID@','@GPU_BUS@',132,80,3,'@CHIP@');
  CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, severity INTEGER, text TEXT);
  INSERT INTO DIAGNOSTIC_EVENT VALUES (0,2,'@WARNING@');
  UPDATE META_DATA_EXPORT SET value='@PRODUCT@' WHERE name='EXPORT_PRODUCT_VERSION';
  INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE_0','@ENVIRONMENT@'),
    ('PROCESS_0:ARGUMENT_0','@COMMAND_ARGUMENT@');
  INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0,'','Hostname',0,'@HOST@'),(0,'','NvDriverVersion',0,'@DRIVER@');
  INSERT INTO PROCESSES VALUES (@PID@,100,'@PROCESS@');
  INSERT INTO ThreadNames VALUES (52,0,@TID@);
  INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (20,30,0,1,7,5,@PID@,50,50,32,4,2,1,128,1,1,16,100,NULL,NULL);
  INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (5,9,0,@TID@,5,53,0);
  INSERT INTO NVTX_EVENTS (start,end,eventType,text,globalTid,domainId) VALUES (0,NULL,75,'@DOMAIN@',@TID@,3),
    (0,NULL,39,'@NVTX_THREAD@',@OTHER_TID@,0),(100,200,59,'@RANGE@',@TID@,3),(700,710,59,'step 1',@TID@,0),
    (800,810,59,'step 2',@TID@,0),(830,NULL,34,'@MARK@',@TID@,0),(840,845,59,'other thread',@OTHER_TID@,0);
  INSERT INTO NVTX_EVENTS (start,end,eventType,textId,globalTid,domainId) VALUES (300,400,59,51,@TID@,0),
    (410,420,59,56,@TID@,0);
  INSERT INTO NVTX_EVENTS (start,end,eventType,text,globalTid,domainId,category) VALUES
    (0,NULL,33,'@CATEGORY@',@TID@,0,8),(430,440,59,'categorized',@TID@,0,8);
)sql";

inline std::string replaced(std::string text, std::string_view slot, std::string_view with) {
  for (auto at = text.find(slot); at != std::string::npos; at = text.find(slot, at + with.size()))
    text.replace(at, slot.size(), with);
  return text;
}

/// The input with a secret in one place, or in all of them if the slot is empty. All other places have plain words.
inline std::string with_secret(std::string_view input, const std::vector<SecretPlace>& places, std::string_view slot) {
  std::string text = replaced(std::string{input}, "@HARMLESS@", secret_canary);
  for (const SecretPlace& place : places) {
    std::string plain{place.slot.substr(1, place.slot.size() - 2)};
    std::ranges::transform(plain, plain.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    text = replaced(std::move(text), place.slot, slot.empty() || slot == place.slot ? place.text : plain);
  }
  return text;
}

/// How often a text occurs in another one.
inline std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

}  // namespace rankscope::testing
