// The offsets that records are read and built by, against NVIDIA's own declarations. Built where the headers of
// CUDA 13.0 are installed.
#include <cupti.h>
#include <gmock/gmock.h>

#include "cupti/library.h"
#include "cupti/records.h"
#include "programs/cupti/cupti_builder.h"

namespace rankscope::collectors::cupti {
namespace {

using rankscope::testing::activity_bytes;

Texts plain_header_texts() {
  const auto text = [](void*, std::uint64_t address) {
    return std::string_view{reinterpret_cast<const char*>(static_cast<std::uintptr_t>(address))};
  };
  return {
      .kernel = text, .text = text, .call = [](void*, CallDomain, std::uint32_t) { return std::string_view{"call"}; }};
}

/// Decodes a structure of NVIDIA's in which only what the test sets is not 0.
class FromStructure {
 public:
  template <class Structure>
  const Decoded& operator()(const Structure& structure) {
    return decoder_.decode(std::as_bytes(std::span{&structure, 1}));
  }

 private:
  Contexts contexts_;
  RecordDecoder decoder_{130001, 1, plain_header_texts(), contexts_};
};

template <class Structure>
Structure blank(CUpti_ActivityKind kind) {
  Structure structure;
  std::memset(static_cast<void*>(&structure), 0, sizeof structure);
  structure.kind = kind;
  return structure;
}

/// Head of everything on a stream.
template <class Structure>
Structure on_stream(CUpti_ActivityKind kind) {
  auto structure = blank<Structure>(kind);
  structure.start = 100;
  structure.end = 250;
  structure.deviceId = 3;
  structure.contextId = 4;
  structure.streamId = 5;
  structure.correlationId = 6;
  return structure;
}

void expect_head(const Decoded& decoded, std::uint32_t device = 3) {
  EXPECT_EQ(decoded.shape, Decoded::Shape::activity);
  const auto& head = decoded.activity;
  EXPECT_EQ(head.begin, 100);
  EXPECT_EQ(head.end, 250);
  EXPECT_EQ(head.device, device);
  EXPECT_EQ(head.context, 4U);
  EXPECT_EQ(head.stream, 5U);
  EXPECT_EQ(head.correlation, 6U);
}

std::vector<std::string> header_texts_of(const Decoded& decoded) {
  std::vector<std::string> texts;
  for (const recording::Item& item : decoded.items())
    texts.push_back(std::string{item.key} + "=" +
                    (item.text.data() == nullptr ? std::to_string(item.number) : std::string{item.text}));
  return texts;
}

TEST(CuptiHeaders, Kernel) {
  auto kernel = on_stream<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  kernel.name = "gemm";
  kernel.gridX = 7, kernel.gridY = 8, kernel.gridZ = 9, kernel.blockX = 10, kernel.blockY = 11, kernel.blockZ = 12;
  kernel.registersPerThread = 40, kernel.staticSharedMemory = 100, kernel.dynamicSharedMemory = 23;
  kernel.graphNodeId = 77, kernel.graphId = 78, kernel.channelID = 5;
  kernel.clusterX = 2, kernel.clusterY = 3, kernel.clusterZ = 4;
  FromStructure decode;
  const Decoded& decoded = decode(kernel);
  expect_head(decoded);
  EXPECT_EQ(decoded.name, "gemm");
  EXPECT_THAT(header_texts_of(decoded),
              ::testing::ElementsAre("grid=[7,8,9]", "block=[10,11,12]", "registers per thread=40", "shared memory=123",
                                     "graph node id=77", "graph id=78", "channel=5", "cluster=[2,3,4]"));
}

TEST(CuptiHeaders, Copies) {
  auto copy = on_stream<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY);
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED, copy.bytes = 4096, copy.graphNodeId = 7, copy.graphId = 8;
  FromStructure decode;
  const Decoded& decoded = decode(copy);
  expect_head(decoded);
  EXPECT_EQ(decoded.name, "Memcpy DtoH (Device -> Pinned)");
  EXPECT_THAT(header_texts_of(decoded), ::testing::ElementsAre("bytes=4096", "graph node id=7", "graph id=8"));
  auto peer = on_stream<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2);
  peer.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP, peer.bytes = 12, peer.srcDeviceId = 1, peer.dstDeviceId = 2;
  peer.graphNodeId = 7, peer.graphId = 8;
  const Decoded& between = decode(peer);
  expect_head(between);
  EXPECT_THAT(header_texts_of(between),
              ::testing::ElementsAre("bytes=12", "fromDevice=1", "toDevice=2", "graph node id=7", "graph id=8"));
}

TEST(CuptiHeaders, Memset) {
  auto set = on_stream<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET);
  set.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_MANAGED, set.bytes = 64, set.graphNodeId = 7, set.graphId = 8;
  FromStructure decode;
  const Decoded& decoded = decode(set);
  expect_head(decoded);
  EXPECT_EQ(decoded.name, "Memset (Managed)");
  EXPECT_THAT(header_texts_of(decoded), ::testing::ElementsAre("bytes=64", "graph node id=7", "graph id=8"));
}

TEST(CuptiHeaders, Call) {
  auto call = blank<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_DRIVER);
  call.start = 1, call.end = 2, call.threadId = 33, call.correlationId = 44, call.returnValue = 55, call.cbid = 307;
  FromStructure decode;
  const Decoded& decoded = decode(call);
  EXPECT_EQ(decoded.shape, Decoded::Shape::call);
  EXPECT_EQ(decoded.call.begin, 1);
  EXPECT_EQ(decoded.call.end, 2);
  EXPECT_EQ(decoded.call.thread, 33);
  EXPECT_EQ(decoded.call.correlation, 44U);
  EXPECT_THAT(header_texts_of(decoded), ::testing::ElementsAre("cat=cuda_driver", "return value=55"));
}

TEST(CuptiHeaders, WaitsAndEvents) {
  FromStructure decode;
  auto context = blank<CUpti_ActivityContext3>(CUPTI_ACTIVITY_KIND_CONTEXT);
  context.contextId = 4, context.deviceId = 2;
  decode(context);
  auto wait = blank<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE;
  wait.start = 100, wait.end = 250, wait.correlationId = 6, wait.contextId = 4, wait.streamId = 5;
  wait.cudaEventId = 8, wait.cudaEventSyncId = 9, wait.returnValue = 10;
  const Decoded& decoded = decode(wait);
  expect_head(decoded, 2);
  EXPECT_EQ(decoded.name, "Event Sync");
  EXPECT_THAT(header_texts_of(decoded),
              ::testing::ElementsAre("wait_on_cuda_event_id=8", "event_sync_id=9", "return value=10"));
  auto event = blank<CUpti_ActivityCudaEvent2>(CUPTI_ACTIVITY_KIND_CUDA_EVENT);
  event.correlationId = 6, event.contextId = 4, event.streamId = 5, event.eventId = 8, event.deviceTimestamp = 77;
  event.cudaEventSyncId = 9;
  const Decoded& recorded = decode(event);
  EXPECT_EQ(recorded.activity.begin, 77);
  EXPECT_EQ(recorded.activity.correlation, 6U);
  EXPECT_EQ(recorded.activity.stream, 5U);
  EXPECT_EQ(recorded.activity.device, 2U);
  EXPECT_THAT(header_texts_of(recorded), ::testing::ElementsAre("event_id=8", "event_sync_id=9"));
}

TEST(CuptiHeaders, Overhead) {
  auto overhead = blank<CUpti_ActivityOverhead3>(CUPTI_ACTIVITY_KIND_OVERHEAD);
  overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING;
  overhead.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  overhead.objectId.pt.threadId = 12, overhead.start = 3, overhead.end = 4;
  FromStructure decode;
  const Decoded& decoded = decode(overhead);
  EXPECT_EQ(decoded.name, "Lazy Function Loading");
  EXPECT_EQ(decoded.call.thread, 12);
  EXPECT_EQ(decoded.call.begin, 3);
  EXPECT_EQ(decoded.call.end, 4);
}

TEST(CuptiHeaders, Memory) {
  auto memory = blank<CUpti_ActivityMemory4>(CUPTI_ACTIVITY_KIND_MEMORY2);
  memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  memory.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, memory.correlationId = 6, memory.address = 7, memory.bytes = 8;
  memory.timestamp = 9, memory.deviceId = 3, memory.contextId = 4, memory.streamId = 5, memory.isAsync = 1;
  FromStructure decode;
  const Decoded& decoded = decode(memory);
  EXPECT_EQ(decoded.activity.begin, 9);
  EXPECT_EQ(decoded.activity.correlation, 6U);
  EXPECT_THAT(header_texts_of(decoded), ::testing::ElementsAre("Device Type=1", "Device Id=3", "Addr=7", "Bytes=-8",
                                                               "memory kind=Device", "async=1"));
  auto pool = blank<CUpti_ActivityMemoryPool3>(CUPTI_ACTIVITY_KIND_MEMORY_POOL);
  pool.memoryPoolOperationType = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED;
  pool.correlationId = 6, pool.deviceId = 3, pool.address = 7, pool.size = 8, pool.releaseThreshold = 9;
  pool.timestamp = 10;
  const Decoded& trimmed = decode(pool);
  EXPECT_EQ(trimmed.activity.begin, 10);
  EXPECT_THAT(header_texts_of(trimmed), ::testing::ElementsAre("operation=trimmed", "Device Id=3", "Addr=7",
                                                               "pool bytes=8", "release threshold=9"));
}

TEST(CuptiHeaders, Device) {
  auto device = blank<CUpti_ActivityDevice5>(CUPTI_ACTIVITY_KIND_DEVICE);
  device.id = 3, device.name = "NVIDIA X", device.globalMemorySize = 5, device.globalMemoryBandwidth = 6;
  device.coreClockRate = 7, device.numMultiprocessors = 8, device.numThreadsPerWarp = 32, device.eccEnabled = 1;
  device.computeCapabilityMajor = 9, device.computeCapabilityMinor = 1;
  device.uuid.bytes[0] = 0x1F, device.uuid.bytes[15] = 0x2E;
  device.isCudaVisible = 1;
  FromStructure decode;
  const Decoded& decoded = decode(device);
  EXPECT_EQ(decoded.ordinal, 3U);
  EXPECT_EQ(decoded.name, "NVIDIA X");
  EXPECT_EQ(decoded.uuid, "GPU-1f000000-0000-0000-0000-00000000002e");
  EXPECT_THAT(header_texts_of(decoded),
              ::testing::ElementsAre("computeCapability=9.1", "numSms=8", "totalGlobalMem=5", "memoryBandwidthKBps=6",
                                     "coreClockKHz=7", "warpSize=32", "eccEnabled=1"));
  device.isCudaVisible = 0;
  EXPECT_THAT(header_texts_of(decode(device)), ::testing::Contains("cudaVisible=0"));
  device.isMigEnabled = 1, device.gpuInstanceId = 7, device.computeInstanceId = 8, device.migUuid.bytes[0] = 0x3D;
  EXPECT_THAT(header_texts_of(decode(device)), ::testing::IsSupersetOf({"mig=MIG-3d000000-0000-0000-0000-000000000000",
                                                                        "gpuInstance=7", "computeInstance=8"}));
}

TEST(CuptiHeaders, Graph) {
  auto graph = on_stream<CUpti_ActivityGraphTrace2>(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  graph.graphId = 12;
  FromStructure decode;
  const Decoded& decoded = decode(graph);
  expect_head(decoded);
  EXPECT_EQ(decoded.name, "CUDA graph 12");
}

TEST(CuptiHeaders, SizesOfTheStandInAreThoseOf13) {
  EXPECT_EQ(activity_bytes(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 130001), sizeof(CUpti_ActivityKernel10));
  EXPECT_EQ(activity_bytes(CUPTI_ACTIVITY_KIND_MEMCPY, 130001), sizeof(CUpti_ActivityMemcpy6));
  EXPECT_EQ(activity_bytes(CUPTI_ACTIVITY_KIND_MEMCPY2, 130001), sizeof(CUpti_ActivityMemcpyPtoP4));
  EXPECT_EQ(activity_bytes(CUPTI_ACTIVITY_KIND_MEMSET, 130001), sizeof(CUpti_ActivityMemset4));
  EXPECT_EQ(activity_bytes(CUPTI_ACTIVITY_KIND_RUNTIME, 130001), sizeof(CUpti_ActivityAPI));
  EXPECT_EQ(activity_bytes(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 130001), sizeof(CUpti_ActivitySynchronization2));
  EXPECT_EQ(activity_bytes(CUPTI_ACTIVITY_KIND_CUDA_EVENT, 130001), sizeof(CUpti_ActivityCudaEvent2));
  EXPECT_EQ(activity_bytes(CUPTI_ACTIVITY_KIND_OVERHEAD, 130001), sizeof(CUpti_ActivityOverhead3));
  EXPECT_EQ(activity_bytes(CUPTI_ACTIVITY_KIND_MEMORY2, 130001), sizeof(CUpti_ActivityMemory4));
  EXPECT_EQ(activity_bytes(CUPTI_ACTIVITY_KIND_MEMORY_POOL, 130001), sizeof(CUpti_ActivityMemoryPool3));
  EXPECT_EQ(activity_bytes(CUPTI_ACTIVITY_KIND_DEVICE, 130001), sizeof(CUpti_ActivityDevice5));
  EXPECT_EQ(activity_bytes(CUPTI_ACTIVITY_KIND_CONTEXT, 130001), sizeof(CUpti_ActivityContext3));
  EXPECT_EQ(activity_bytes(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 130001), sizeof(CUpti_ActivityGraphTrace2));
  EXPECT_EQ(activity_bytes(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 22), sizeof(CUpti_ActivityKernel9));
}

TEST(CuptiHeaders, CallsThatSwitchTheRecordingHaveTheirNumbers) {
  const auto starts = [](int domain, std::uint32_t number) {
    for (const WatchedCall& call : profiler_calls)
      if (call.domain == domain && call.number == number) return call.starts ? 1 : 0;
    return -1;
  };
  EXPECT_EQ(starts(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000), 1);
  EXPECT_EQ(starts(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000), 0);
  EXPECT_EQ(starts(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart), 1);
  EXPECT_EQ(starts(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop), 0);
}

TEST(CuptiHeaders, CallsThatLaunchTheKernelsOfNcclHaveTheirNumbers) {
  EXPECT_THAT(
      driver_launches,
      ::testing::ElementsAre(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
                             CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz));
}

TEST(CuptiHeaders, CallsThatAreNotRecordedHaveTheirNumbers) {
  EXPECT_THAT(
      idle_runtime_calls,
      ::testing::ElementsAre(
          CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020, CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020,
          CUPTI_RUNTIME_TRACE_CBID_cudaGetErrorString_v3020, CUPTI_RUNTIME_TRACE_CBID_cudaSetDevice_v3020,
          CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020, CUPTI_RUNTIME_TRACE_CBID_cudaEventCreate_v3020,
          CUPTI_RUNTIME_TRACE_CBID_cudaEventCreateWithFlags_v3020, CUPTI_RUNTIME_TRACE_CBID_cudaEventDestroy_v3020,
          CUPTI_RUNTIME_TRACE_CBID_cudaEventQuery_v3020, CUPTI_RUNTIME_TRACE_CBID_cudaPointerGetAttributes_v4000,
          CUPTI_RUNTIME_TRACE_CBID_cudaDeviceGetAttribute_v5000,
          CUPTI_RUNTIME_TRACE_CBID_cudaOccupancyMaxActiveBlocksPerMultiprocessor_v6000,
          CUPTI_RUNTIME_TRACE_CBID_cudaOccupancyMaxActiveBlocksPerMultiprocessor_v6050,
          CUPTI_RUNTIME_TRACE_CBID_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v7000,
          CUPTI_RUNTIME_TRACE_CBID_cudaStreamIsCapturing_v10000,
          CUPTI_RUNTIME_TRACE_CBID_cudaStreamIsCapturing_ptsz_v10000,
          CUPTI_RUNTIME_TRACE_CBID_cudaStreamGetCaptureInfo_v10010,
          CUPTI_RUNTIME_TRACE_CBID_cudaStreamGetCaptureInfo_ptsz_v10010,
          CUPTI_RUNTIME_TRACE_CBID_cudaThreadExchangeStreamCaptureMode_v10010,
          CUPTI_RUNTIME_TRACE_CBID_cudaGetFuncBySymbol_v11000, CUPTI_RUNTIME_TRACE_CBID_cudaGetDriverEntryPoint_v11030,
          CUPTI_RUNTIME_TRACE_CBID_cudaStreamGetCaptureInfo_v2_v11030,
          CUPTI_RUNTIME_TRACE_CBID_cudaStreamGetCaptureInfo_v12030,
          CUPTI_RUNTIME_TRACE_CBID_cudaGetDriverEntryPointByVersion_v12050));
  EXPECT_THAT(idle_driver_calls,
              ::testing::ElementsAre(
                  CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion, CUPTI_DRIVER_TRACE_CBID_cuDeviceGet,
                  CUPTI_DRIVER_TRACE_CBID_cuDeviceGetAttribute, CUPTI_DRIVER_TRACE_CBID_cuFuncGetAttribute,
                  CUPTI_DRIVER_TRACE_CBID_cuEventQuery, CUPTI_DRIVER_TRACE_CBID_cuCtxGetLimit,
                  CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent, CUPTI_DRIVER_TRACE_CBID_cuPointerGetAttribute,
                  CUPTI_DRIVER_TRACE_CBID_cuGetErrorString, CUPTI_DRIVER_TRACE_CBID_cuGetErrorName,
                  CUPTI_DRIVER_TRACE_CBID_cuOccupancyMaxActiveBlocksPerMultiprocessor,
                  CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxGetState, CUPTI_DRIVER_TRACE_CBID_cuPointerGetAttributes,
                  CUPTI_DRIVER_TRACE_CBID_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
                  CUPTI_DRIVER_TRACE_CBID_cuStreamIsCapturing, CUPTI_DRIVER_TRACE_CBID_cuStreamGetCaptureInfo,
                  CUPTI_DRIVER_TRACE_CBID_cuThreadExchangeStreamCaptureMode, CUPTI_DRIVER_TRACE_CBID_cuGetProcAddress,
                  CUPTI_DRIVER_TRACE_CBID_cuStreamGetCaptureInfo_v2, CUPTI_DRIVER_TRACE_CBID_cuGetProcAddress_v2,
                  CUPTI_DRIVER_TRACE_CBID_cuKernelGetFunction, CUPTI_DRIVER_TRACE_CBID_cuKernelGetAttribute,
                  CUPTI_DRIVER_TRACE_CBID_cuKernelGetName, CUPTI_DRIVER_TRACE_CBID_cuStreamGetCaptureInfo_v3));
}

}  // namespace
}  // namespace rankscope::collectors::cupti
