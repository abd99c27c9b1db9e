// A test double of libnvidia-ml: two GPUs, of which the second supports little. STANDIN_NVML_FAILS makes nvmlInit fail,
// STANDIN_NVML_FALTERS the temperature; STANDIN_NVML_SLOW makes the second GPU take 30 ms to say how busy it is,
// STANDIN_NVML_MIG divides it.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int success = 0, not_supported = 3, no_driver = 9, unknown = 999;
std::atomic<unsigned> rounds{0};
unsigned index_of(void* device) {
  return static_cast<unsigned>(static_cast<char*>(device) - static_cast<char*>(nullptr)) - 1;
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))
EXPORTED unsigned standin_rounds() { return rounds; }
EXPORTED int nvmlInit_v2() { return std::getenv("STANDIN_NVML_FAILS") != nullptr ? no_driver : success; }
EXPORTED int nvmlShutdown() { return success; }
EXPORTED const char* nvmlErrorString(int status) { return status == no_driver ? "Driver Not Loaded" : "Not Supported"; }
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
EXPORTED int nvmlDeviceGetMigMode(void* device, unsigned* mode, unsigned* pending) {
  *mode = *pending = std::getenv("STANDIN_NVML_MIG") != nullptr ? 1 : 0;
  return index_of(device) == 1 ? success : not_supported;
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
// nvmlDeviceGetTotalEccErrors is missing, as functions are in older drivers.
