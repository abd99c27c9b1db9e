// The activity records of one release of CUPTI: laid out by its own headers, decoded by the recorder, and walked by its
// own libcupti, if that is named. scripts/cupti-versions compiles it against the headers of each release, and names the
// newest structure of each kind (-DKERNEL=CUpti_ActivityKernel13). Prints a line for each kind, and for what sampling
// hands to CUPTI; ends with status 1 if one is not as it should be.
#include <cupti_activity.h>
#include <cupti_version.h>
#ifdef HAS_PM_SAMPLING  // not before 12.6
#include <cupti_pmsampling.h>
#endif
#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "cupti/records.h"
#include "cupti_builder.h"
#include "pm/cupti_pm.h"

namespace {

using namespace rankscope::collectors::cupti;
using rankscope::testing::activity_bytes;
namespace pm = rankscope::collectors::cupti::pm;

bool all_good = true;

std::string_view text_at(void*, std::uint64_t address) {
  return reinterpret_cast<const char*>(static_cast<std::uintptr_t>(address));
}
std::string_view name_of_call(void*, CallDomain, std::uint32_t number) { return number == 211 ? "call" : "another"; }

/// As a recording says it.
std::string said_of(const Decoded& decoded) {
  std::string said{decoded.name};
  const auto& on = decoded.activity;
  const auto& by = decoded.call;
  for (const std::int64_t number : {on.begin, on.end, by.begin, by.end, by.thread})
    said += " " + std::to_string(number);
  for (const std::uint32_t number : {on.device, on.context, on.stream, on.correlation, by.correlation, decoded.ordinal})
    said += " " + std::to_string(number);
  said += " " + std::string{decoded.uuid};
  for (const auto& item : decoded.items())
    said += " " + std::string{item.key} + "=" +
            (item.text.data() == nullptr ? std::to_string(item.number) : std::string{item.text});
  return said;
}

/// The library of the release, as far as it walks records.
struct Walker {
  CUptiResult (*next)(std::uint8_t*, std::size_t, CUpti_Activity**) = nullptr;

  /// "88": what it takes a record for; else why it does not tell.
  template <class Structure>
  std::string bytes_of(const Structure& structure) const {
    if (next == nullptr) return "-";
    // Wherever the second record begins, there is one.
    std::vector<std::uint8_t> buffer(4 * sizeof structure + 512);
    for (std::size_t at = 0; at + 8 <= buffer.size(); at += 8) std::memcpy(buffer.data() + at, &structure.kind, 4);
    CUpti_Activity* record = nullptr;
    for (int i = 0; i < 2; ++i)
      if (const CUptiResult status = next(buffer.data(), buffer.size(), &record); status != CUPTI_SUCCESS)
        return "error " + std::to_string(status);
    return std::to_string(reinterpret_cast<std::uint8_t*>(record) - buffer.data());
  }
};

Contexts contexts;
RecordDecoder decoder{CUPTI_API_VERSION, 1, {.kernel = text_at, .text = text_at, .call = name_of_call}, contexts};

template <class Structure>
Structure blank(CUpti_ActivityKind kind) {
  Structure structure;
  std::memset(static_cast<void*>(&structure), 0, sizeof structure);
  structure.kind = kind;
  return structure;
}
template <class Structure>
Structure on_stream(CUpti_ActivityKind kind) {
  auto structure = blank<Structure>(kind);
  structure.start = 100, structure.end = 250, structure.deviceId = 3, structure.contextId = 4;
  structure.streamId = 5, structure.correlationId = 6;
  return structure;
}

template <class Structure>
void report(const Walker& walker, const char* kind, const Structure& structure, const std::string& expected) {
  const std::string said = said_of(decoder.decode(std::as_bytes(std::span{&structure, 1})));
  const std::string walked = walker.bytes_of(structure);
  const std::size_t played = activity_bytes(structure.kind, CUPTI_API_VERSION);
  const bool good = said == expected,
             fits = walked == "-" || walked.starts_with("error") || walked == std::to_string(sizeof structure);
  std::printf("record %s bytes %zu walked %s stand-in %zu decoded %s\n", kind, sizeof structure, walked.c_str(), played,
              good ? "yes" : "no");
  if (!good) std::printf("  %s\n  where it should be\n  %s\n", said.c_str(), expected.c_str());
  all_good = all_good && good && fits && played == sizeof structure;
}

void report_work(const Walker& walker) {
  auto kernel = on_stream<KERNEL>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  kernel.name = "gemm", kernel.gridX = 7, kernel.gridY = 8, kernel.gridZ = 9, kernel.blockX = 10, kernel.blockY = 11;
  kernel.blockZ = 12, kernel.registersPerThread = 40, kernel.staticSharedMemory = 100, kernel.dynamicSharedMemory = 23;
  kernel.graphNodeId = 77, kernel.graphId = 78, kernel.channelID = 5, kernel.clusterX = 2, kernel.clusterY = 3;
  kernel.clusterZ = 4;
  report(
      walker, "kernel", kernel,
      "gemm 100 250 0 0 0 3 4 5 6 0 0  grid=[7,8,9] block=[10,11,12] registers per thread=40 shared memory=123 graph "
      "node id=77 graph id=78 channel=5 cluster=[2,3,4]");
  auto copy = on_stream<MEMCPY>(CUPTI_ACTIVITY_KIND_MEMCPY);
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED, copy.bytes = 4096, copy.graphNodeId = 7, copy.graphId = 8;
  report(walker, "copy", copy,
         "Memcpy DtoH (Device -> Pinned) 100 250 0 0 0 3 4 5 6 0 0  bytes=4096 graph node id=7 graph id=8");
  auto peer = on_stream<MEMCPY_PEER>(CUPTI_ACTIVITY_KIND_MEMCPY2);
  peer.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP, peer.bytes = 12, peer.srcDeviceId = 1, peer.dstDeviceId = 2;
  peer.graphNodeId = 7, peer.graphId = 8;
  report(walker, "peer_copy", peer,
         "Memcpy PtoP (Unknown -> Unknown) 100 250 0 0 0 3 4 5 6 0 0  bytes=12 fromDevice=1 toDevice=2 graph node id=7 "
         "graph id=8");
  auto set = on_stream<MEMSET>(CUPTI_ACTIVITY_KIND_MEMSET);
  set.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_MANAGED, set.bytes = 64, set.graphNodeId = 7, set.graphId = 8;
  report(walker, "memset", set, "Memset (Managed) 100 250 0 0 0 3 4 5 6 0 0  bytes=64 graph node id=7 graph id=8");
  auto graph = on_stream<GRAPH_TRACE>(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  graph.graphId = 12;
  report(walker, "graph", graph, "CUDA graph 12 100 250 0 0 0 3 4 5 6 0 0  graph id=12");
}

void report_calls(const Walker& walker) {
  auto call = blank<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME);
  call.start = 1, call.end = 2, call.threadId = 33, call.correlationId = 44, call.returnValue = 55, call.cbid = 211;
  report(walker, "call", call, "call 0 0 1 2 33 0 0 0 0 44 0  return value=55");
  auto overhead = blank<OVERHEAD>(CUPTI_ACTIVITY_KIND_OVERHEAD);
  overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING;
  overhead.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD, overhead.objectId.pt.threadId = 12;
  overhead.start = 3, overhead.end = 4;
  report(walker, "overhead", overhead, "Lazy Function Loading 0 0 3 4 12 0 0 0 0 0 0 ");
}

/// Of releases before 12.8, the structures lack the numbers of events.
template <class Wait, class Event>
void report_events(const Walker& walker) {
  auto context = blank<CONTEXT>(CUPTI_ACTIVITY_KIND_CONTEXT);
  context.contextId = 4, context.deviceId = 2;
  report(walker, "context", context, " 0 0 0 0 0 0 0 0 0 0 0 ");
  auto wait = blank<Wait>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE;
  wait.start = 100, wait.end = 250, wait.correlationId = 6, wait.contextId = 4, wait.streamId = 5, wait.cudaEventId = 8;
  std::string waited = "Event Sync 100 250 0 0 0 2 4 5 6 0 0  wait_on_cuda_event_id=8";
  if constexpr (requires { wait.cudaEventSyncId; }) wait.cudaEventSyncId = 9, waited += " event_sync_id=9";
  if constexpr (requires { wait.returnValue; }) {
    wait.returnValue = CUPTI_API_VERSION >= 130000 ? 10 : 0;  // before, the field is there and means nothing
    waited += CUPTI_API_VERSION >= 130000 ? " return value=10" : "";
  }
  report(walker, "synchronization", wait, waited);
  auto event = blank<Event>(CUPTI_ACTIVITY_KIND_CUDA_EVENT);
  event.correlationId = 6, event.contextId = 4, event.streamId = 5, event.eventId = 8;
  std::string recorded = "2 4 5 6 0 0  event_id=8", time = "0 0";
  if constexpr (requires { event.cudaEventSyncId; }) event.cudaEventSyncId = 9, recorded += " event_sync_id=9";
  if constexpr (requires { event.deviceTimestamp; }) {
    event.deviceTimestamp = CUPTI_API_VERSION >= 130000 ? 77 : 0;
    time = CUPTI_API_VERSION >= 130000 ? "77 77" : time;
  }
  report(walker, "event", event, "cudaEvent " + time + " 0 0 0 " + recorded);
}

void report_memory(const Walker& walker) {
  auto memory = blank<MEMORY>(CUPTI_ACTIVITY_KIND_MEMORY2);
  memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  memory.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, memory.correlationId = 6, memory.address = 7, memory.bytes = 8;
  memory.timestamp = 9, memory.deviceId = 3, memory.contextId = 4, memory.streamId = 5, memory.isAsync = 1;
  report(walker, "memory", memory,
         "[memory] 9 9 0 0 0 3 4 5 6 0 0  Device Type=1 Device Id=3 Addr=7 Bytes=-8 memory kind=Device async=1");
  auto pool = blank<MEMORY_POOL>(CUPTI_ACTIVITY_KIND_MEMORY_POOL);
  pool.memoryPoolOperationType = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED;
  pool.correlationId = 6, pool.deviceId = 3, pool.address = 7, pool.size = 8, pool.releaseThreshold = 9;
  pool.timestamp = 10;
  report(walker, "memory_pool", pool,
         "[memory pool] 10 10 0 0 0 3 0 4294967295 6 0 0  operation=trimmed Device Id=3 Addr=7 pool bytes=8 release "
         "threshold=9");
}

void report_device(const Walker& walker) {
  auto device = blank<DEVICE>(CUPTI_ACTIVITY_KIND_DEVICE);
  device.id = 3, device.name = "NVIDIA X", device.globalMemorySize = 5, device.globalMemoryBandwidth = 6;
  device.coreClockRate = 7, device.numMultiprocessors = 8, device.numThreadsPerWarp = 32, device.eccEnabled = 1;
  device.computeCapabilityMajor = 9, device.computeCapabilityMinor = 1, device.isCudaVisible = 1;
  device.uuid.bytes[0] = 0x1F, device.uuid.bytes[15] = 0x2E;
  report(walker, "device", device,
         "NVIDIA X 0 0 0 0 0 0 0 0 0 0 3 GPU-1f000000-0000-0000-0000-00000000002e computeCapability=9.1 numSms=8 "
         "totalGlobalMem=5 memoryBandwidthKBps=6 coreClockKHz=7 warpSize=32 eccEnabled=1");
  device.isMigEnabled = 1, device.gpuInstanceId = 7, device.computeInstanceId = 8, device.migUuid.bytes[0] = 0x3D;
  report(walker, "device_part", device,
         "NVIDIA X 0 0 0 0 0 0 0 0 0 0 3 GPU-1f000000-0000-0000-0000-00000000002e computeCapability=9.1 numSms=8 "
         "totalGlobalMem=5 memoryBandwidthKBps=6 coreClockKHz=7 warpSize=32 eccEnabled=1 "
         "mig=MIG-3d000000-0000-0000-0000-000000000000 gpuInstance=7 computeInstance=8");
}

/// What sampling hands to CUPTI: sizes as the release counts them.
void report_sampling() {
#ifdef HAS_PM_SAMPLING
  struct Size {
    const char* name;
    std::size_t ours, theirs;
  };
  const std::array sizes{
      Size{"Enable", pm::Enable{}.struct_size, CUpti_PmSampling_Enable_Params_STRUCT_SIZE},
      Size{"SetConfig", pm::SetConfig{}.struct_size, CUpti_PmSampling_SetConfig_Params_STRUCT_SIZE},
      Size{"Start", pm::Sampler{}.struct_size, CUpti_PmSampling_Start_Params_STRUCT_SIZE},
      Size{"GetCounterDataSize", pm::DataSize{}.struct_size, CUpti_PmSampling_GetCounterDataSize_Params_STRUCT_SIZE},
      Size{"DecodeData", pm::Decode{}.struct_size, CUpti_PmSampling_DecodeData_Params_STRUCT_SIZE},
      Size{"GetCounterDataInfo", pm::DataInfo{}.struct_size, CUpti_PmSampling_GetCounterDataInfo_Params_STRUCT_SIZE},
      Size{"GetSampleInfo", pm::SampleInfo{}.struct_size,
           CUpti_PmSampling_CounterData_GetSampleInfo_Params_STRUCT_SIZE}};
  for (const Size& size : sizes) std::printf("sampling %s ours %zu theirs %zu\n", size.name, size.ours, size.theirs);
#endif
}

}  // namespace

/// cupti_records [LIBCUPTI]
int main(int argc, char** argv) {
  Walker walker;
  if (argc > 1) {
    void* const library = dlopen(argv[1], RTLD_NOW);
    if (library == nullptr) return std::printf("%s\n", dlerror()), 2;
    walker.next = reinterpret_cast<decltype(walker.next)>(dlsym(library, "cuptiActivityGetNextRecord"));
  }
  std::printf("version %d\n", CUPTI_API_VERSION);
  report_work(walker);
  report_calls(walker);
  report_events<SYNCHRONIZATION, CUDA_EVENT>(walker);
  report_memory(walker);
  report_device(walker);
  report_sampling();
  return all_good ? 0 : 1;
}
