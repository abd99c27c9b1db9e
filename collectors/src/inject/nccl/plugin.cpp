// The tables that NCCL looks up in a profiler plugin. It takes the newest one that it knows, so that every NCCL
// from 2.23 to 2.32 finds the version it was built with: NCCL's own adapters for older ones lose the communicator's
// identity. RCCL looks up the same tables.
#include "inject/nccl/source.h"

namespace rankscope::inject::nccl {
namespace {

constexpr int success = 0;  // a profiler never makes NCCL fail

using Logger = void (*)(int, unsigned long, const char*, int, const char*, ...);

template <class Init>
struct Table {
  const char* name;
  Init init;
  int (*start)(void* context, void** handle, void* descriptor);
  int (*stop)(void* handle);
  int (*change_state)(void* handle, int state, void* arguments);
  int (*finalize)(void* context);
};
static_assert(sizeof(Table<void (*)()>) == 48);

using InitV1 = int (*)(void** context, int* mask);
using InitV4 = int (*)(void** context, int* mask, const char* name, std::uint64_t hash, int nodes, int ranks, int rank,
                       Logger logger);
using InitV5 = int (*)(void** context, std::uint64_t hash, int* mask, const char* name, int nodes, int ranks, int rank,
                       Logger logger);

void* as_pointer(Handle handle) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(handle)); }
Handle as_handle(void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

template <int version>
int init_alone(void** context, int* mask) {
  *context = introduce({}, version, mask);
  return success;
}

// As many parameters as NCCL passes. NOLINTBEGIN(readability-function-size)
template <int version>
int init_named(void** context, int* mask, const char* name, std::uint64_t hash, int, int ranks, int rank, Logger) {
  *context = introduce({hash, name, ranks, rank}, version, mask);
  return success;
}

template <int version>
int init_numbered(void** context, std::uint64_t hash, int* mask, const char* name, int, int ranks, int rank, Logger) {
  *context = introduce({hash, name, ranks, rank}, version, mask);
  return success;
}

// NOLINTEND(readability-function-size)

template <int version>
int start_event(void* context, void** handle, void* descriptor) {
  *handle = as_pointer(start(static_cast<Communicator*>(context), descriptor, version, as_handle(*handle)));
  return success;
}

int stop_event(void* handle) {
  stop(as_handle(handle));
  return success;
}

template <int version>
int record_event_state(void* handle, int state, void* arguments) {
  change_state(as_handle(handle), state, arguments, version);
  return success;
}

int finalize(void*) { return success; }

template <int version, class Init>
constexpr Table<Init> table(Init init) {
  return {"rankscope", init, start_event<version>, stop_event, record_event_state<version>, finalize};
}

}  // namespace
}  // namespace rankscope::inject::nccl

#define RANKSCOPE_EXPORTED extern "C" __attribute__((visibility("default"), used)) const
namespace nccl = rankscope::inject::nccl;
extern "C" {
RANKSCOPE_EXPORTED nccl::Table<nccl::InitV1> ncclProfiler_v1 = nccl::table<1>(&nccl::init_alone<1>);
RANKSCOPE_EXPORTED nccl::Table<nccl::InitV1> ncclProfiler_v2 = nccl::table<2>(&nccl::init_alone<2>);
RANKSCOPE_EXPORTED nccl::Table<nccl::InitV1> ncclProfiler_v3 = nccl::table<3>(&nccl::init_alone<3>);
RANKSCOPE_EXPORTED nccl::Table<nccl::InitV4> ncclProfiler_v4 = nccl::table<4>(&nccl::init_named<4>);
RANKSCOPE_EXPORTED nccl::Table<nccl::InitV5> ncclProfiler_v5 = nccl::table<5>(&nccl::init_numbered<5>);
RANKSCOPE_EXPORTED nccl::Table<nccl::InitV5> ncclProfiler_v6 = nccl::table<6>(&nccl::init_numbered<6>);
RANKSCOPE_EXPORTED nccl::Table<nccl::InitV5> ncclProfiler_v7 = nccl::table<7>(&nccl::init_numbered<7>);
}
