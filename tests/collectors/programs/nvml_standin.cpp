// A test double of libnvidia-ml: two GPUs, of which the second supports little. STANDIN_NVML_FAILS makes nvmlInit fail,
// STANDIN_NVML_FALTERS the temperature; STANDIN_NVML_SLOW makes the second GPU take 30 ms to say how busy it is,
// STANDIN_NVML_MIG divides it. STANDIN_NVML_GPM makes GPM "denied", the first GPU divided by "mig", its links missing
// ("linkless"), or readings that cannot be compared ("garbled"). STANDIN_NVML_ERRORS is the number of memory errors,
// where they are counted; 7 without it. It aborts where readings are compared that are none.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int success = 0, not_supported = 3, denied = 4, no_driver = 9, unknown = 999;
std::atomic<unsigned> rounds{0};
unsigned index_of(void* device) {
  return static_cast<unsigned>(static_cast<char*>(device) - static_cast<char*>(nullptr)) - 1;
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))
EXPORTED unsigned standin_rounds() { return rounds; }
EXPORTED int nvmlInit_v2() { return std::getenv("STANDIN_NVML_FAILS") != nullptr ? no_driver : success; }
EXPORTED int nvmlShutdown() { return success; }
EXPORTED const char* nvmlErrorString(int status) {
  return status == no_driver ? "Driver Not Loaded" : status == denied ? "Insufficient Permissions" : "Not Supported";
}
EXPORTED int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::snprintf(text, size, "580.65.06");
  return success;
}
EXPORTED int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return success;
}
EXPORTED int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = static_cast<char*>(nullptr) + index + 1;
  return success;
}
EXPORTED int nvmlDeviceGetUUID(void* device, char* text, unsigned size) {
  std::snprintf(text, size, "GPU-%u", index_of(device));
  return success;
}
EXPORTED int nvmlDeviceGetName(void*, char* text, unsigned size) {
  std::snprintf(text, size, "NVIDIA Stand-in");
  return success;
}
EXPORTED int nvmlDeviceGetUtilizationRates(void* device, unsigned* busy) {
  if (index_of(device) == 0) ++rounds;
  if (index_of(device) == 1 && std::getenv("STANDIN_NVML_SLOW") != nullptr) usleep(30'000);
  busy[0] = 97;
  busy[1] = 45;
  return success;
}
EXPORTED int nvmlDeviceGetMemoryInfo(void*, unsigned long long* memory) {
  memory[0] = 80ULL << 30, memory[1] = 60ULL << 30, memory[2] = 20ULL << 30;
  return success;
}
EXPORTED int nvmlDeviceGetClockInfo(void*, unsigned type, unsigned* mhz) {
  *mhz = type == 1 ? 1980 : 2619;
  return success;
}
EXPORTED int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  *milliwatts = 350'500;
  return index_of(device) == 0 ? success : not_supported;
}
EXPORTED int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  *millijoules = 9'000'000;
  return index_of(device) == 0 ? success : not_supported;
}
EXPORTED int nvmlDeviceGetTemperature(void*, unsigned sensor, unsigned* celsius) {
  *celsius = 61;
  if (std::getenv("STANDIN_NVML_FALTERS") != nullptr) return unknown;
  return sensor == 0 ? success : not_supported;
}
EXPORTED int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = 4;
  return success;
}
EXPORTED int nvmlDeviceGetPcieThroughput(void*, unsigned counter, unsigned* kilobytes) {
  *kilobytes = counter == 0 ? 10 : 20;
  return success;
}
struct Field {
  unsigned field, scope;
  long long timestamp, latency;
  unsigned type;
  int status;
  unsigned long long value;
};
EXPORTED int nvmlDeviceGetFieldValues(void* device, int count, Field* fields) {
  for (int i = 0; i < count; ++i) {
    fields[i].status = index_of(device) == 0 ? success : not_supported;
    fields[i].value = fields[i].field == 138 ? 3 : 4;
  }
  return success;
}

namespace {

struct Reading {
  void* device = nullptr;
  unsigned number = 0;
};
std::atomic<unsigned> readings{0};
std::atomic<int> allocated{0};
bool gpm_is(const char* what) {
  const char* const set = std::getenv("STANDIN_NVML_GPM");
  return set != nullptr && std::strcmp(set, what) == 0;
}
void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

struct GpmSupport {
  unsigned version, supported;
};
struct GpmMetric {
  unsigned id;
  int status;
  double value;
  const char* names[3];
};
struct GpmRequest {
  unsigned version, count;
  Reading *before, *after;
  GpmMetric metrics[98];  // of CUDA 12.0
};
EXPORTED int standin_gpm_allocated() { return allocated; }
EXPORTED int nvmlGpmQueryDeviceSupport(void* device, GpmSupport* support) {
  require(support->version == 1);
  support->supported = index_of(device) == 0 ? 1 : 0;
  return success;
}
EXPORTED int nvmlGpmSampleAlloc(Reading** reading) {
  ++allocated;
  *reading = new Reading;
  return success;
}
EXPORTED int nvmlGpmSampleFree(Reading* reading) {
  --allocated;
  delete reading;
  return success;
}
EXPORTED int nvmlGpmSampleGet(void* device, Reading* reading) {
  if (gpm_is("denied")) return denied;
  *reading = {device, ++readings};
  return success;
}
EXPORTED int nvmlGpmMetricsGet(GpmRequest* request) {
  require(request->version == 1 && request->before->device == request->after->device);
  require(request->before->number != 0 && request->before->number < request->after->number);
  if (gpm_is("garbled")) return unknown;
  for (unsigned i = 0; i < request->count; ++i) {
    GpmMetric& metric = request->metrics[i];
    metric.value = metric.id;
    metric.status = metric.id >= 60 && gpm_is("linkless") ? not_supported : success;
  }
  return success;
}
EXPORTED int nvmlDeviceGetMigMode(void* device, unsigned* now, unsigned* later) {
  const bool divided = index_of(device) == 1 ? std::getenv("STANDIN_NVML_MIG") != nullptr : gpm_is("mig");
  *now = *later = divided ? 1 : 0;
  return success;
}
#ifdef STANDIN_NVML_COUNTS_ERRORS  // else it is missing, as functions are in older drivers
EXPORTED int nvmlDeviceGetTotalEccErrors(void*, unsigned kind, unsigned counter, unsigned long long* errors) {
  const char* const counted = std::getenv("STANDIN_NVML_ERRORS");
  *errors = counted != nullptr ? std::strtoull(counted, nullptr, 10) : 7;
  return kind == 1 && counter == 0 ? success : not_supported;
}
#endif
