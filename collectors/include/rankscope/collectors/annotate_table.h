// What annotate.h and the recorder (librankscope_inject.so) agree on: a table of functions and what it is given. Use
// annotate.h; this is for programs that cannot (C, other languages).
#pragma once

#include <cstdint>

extern "C" {
/// One collective or point-to-point operation, described once when it is enqueued.
struct rankscope_collective_v1 {
  std::uint64_t uid;       ///< unique in this process; joins enqueued, started and finished
  std::uint64_t sequence;  ///< n-th operation of this group, counted from 0, equal on all members
  std::uint64_t bytes;     ///< payload of one rank: count x element size (metrics.md 6, "count x t")
  const char* group;       ///< communicator name, equal on all members ("dp", "pp.2", ...), NUL-terminated
  const char* op;     ///< "allreduce" "allgather" "reduce_scatter" "broadcast" "alltoall" "send" "recv" "barrier" ...
  const char* dtype;  ///< "f32" "f64" "bf16" "u8" ...
  /// Global ranks in group order, "0,1,2,3"; lists of 4000 bytes and more as runs: "0-1023", "0-8184:8" (each eighth).
  /// What is still as long is cut, and read as a group that is not known.
  const char* members;
  std::int32_t peer;  ///< root of a rooted operation, global rank of the partner of send/recv, else -1
};

/// Function table of the recorder. Later versions only append.
struct rankscope_api_v1 {
  std::uint32_t version;
  std::uint32_t size;
  void (*push)(std::uint8_t kind, const char* name, std::uint32_t length);
  void (*pop)();
  void (*mark)(const char* name, std::uint32_t length);
  void (*attribute_int)(const char* key, std::int64_t value);  ///< of the innermost open span of this thread
  void (*attribute_text)(const char* key, const char* value, std::uint32_t length);
  void (*counter)(const char* name, double value);  ///< name with unit, e.g. "allocated_bytes"
  /// On the thread that enqueues, before it calls the library: what NCCL tells of it then is known to be the same.
  void (*collective_enqueued)(const rankscope_collective_v1* collective);
  void (*collective_started)(std::uint64_t uid);   ///< on the thread that executes
  void (*collective_finished)(std::uint64_t uid);  ///< on the thread that executes
  void (*name_thread)(const char* name);
  void (*metadata)(const char* key, const char* value);  ///< of the process, e.g. "parallel" = "ddp"
  int (*is_recording)();                                 ///< 0 outside the recording window
  std::uint32_t (*details)();  ///< bits of Detail that the user asked for; tell which of them you act on as metadata
                               ///< "details_recorded" = "shapes,memory"
  void (*attribute_json)(const char* key, const char* json, std::uint32_t length);  ///< of the innermost open span
  void (*mark_attribute_int)(const char* key, std::int64_t value);                  ///< of this thread's latest mark
  /// The optimizer has made its n-th step, from 0, on this thread: for programs whose loop nobody can mark. Steps last
  /// from one such call to the next, as soon as the ranges of the step have ended; the first two only show where.
  /// n < 0: there are no more steps.
  void (*optimizer_stepped)(std::int64_t n);
  /// For the hook in Python programs: records the collectives of this PyTorch (torch.__version__). Null if it does,
  /// else a sentence that says why not.
  const char* (*c10d_observe)(const char* torch_version);
  /// The backend that is asked for its sequence number next, on this thread, belongs to the group of that name (equal
  /// on all members) with these global ranks. With a null name: 1 if a backend was met since.
  int (*c10d_group)(const char* name, const char* members);
  /// 1 while the recorder uses CUPTI in this process, so that no other profiler can.
  int (*holds_cupti)();
};
}

namespace rankscope::annotate {

/// What is recorded only if the user asks for it, since it costs; bits of rankscope_api_v1::details: append only.
enum class Detail : std::uint32_t {
  shapes = 1,   ///< shapes and types of operator inputs
  memory = 2,   ///< allocations and releases
  stack = 4,    ///< where operators are called from
  modules = 8,  ///< a range per module
};

}  // namespace rankscope::annotate
