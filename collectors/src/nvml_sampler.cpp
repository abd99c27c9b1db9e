#include "nvml_sampler.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include "rankscope/core/format.h"

namespace rankscope::collectors {
namespace {

constexpr int success = 0;
constexpr std::uint32_t most_devices = 64;
constexpr std::size_t text_bytes = 96;

using Handle = void*;

struct Busy {
  unsigned gpu = 0, memory = 0;  ///< percent of the last sample period
};
struct MemoryInfo {
  unsigned long long total = 0, free = 0, used = 0;
};
/// nvmlFieldValue_t; 40 bytes.
struct FieldValue {
  unsigned field = 0;
  unsigned scope = 0;
  long long timestamp = 0;
  long long latency_us = 0;
  unsigned value_type = 0;
  int status = 0;
  unsigned long long value = 0;
};
static_assert(sizeof(FieldValue) == 40);

// Numbers of nvml.h.
constexpr unsigned sm_clock = 1, memory_clock = 2;
constexpr unsigned of_the_gpu = 0;
constexpr unsigned sent = 0, received = 1;
constexpr unsigned uncorrected = 1, since_load = 0;
constexpr unsigned nvlink_sent_kib = 138, nvlink_received_kib = 139;
constexpr unsigned all_links = 0xFFFFFFFF;

}  // namespace

struct NvmlSampler::Functions {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_text)(int) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*handle)(unsigned, Handle*) = nullptr;
  int (*uuid)(Handle, char*, unsigned) = nullptr;
  int (*name)(Handle, char*, unsigned) = nullptr;
  int (*busy)(Handle, Busy*) = nullptr;
  int (*memory)(Handle, MemoryInfo*) = nullptr;
  int (*clock)(Handle, unsigned, unsigned*) = nullptr;
  int (*power)(Handle, unsigned*) = nullptr;
  int (*energy)(Handle, unsigned long long*) = nullptr;
  int (*temperature)(Handle, unsigned, unsigned*) = nullptr;
  int (*throttle_reasons)(Handle, unsigned long long*) = nullptr;
  int (*pcie)(Handle, unsigned, unsigned*) = nullptr;
  int (*fields)(Handle, int, FieldValue*) = nullptr;
  int (*ecc_errors)(Handle, unsigned, unsigned, unsigned long long*) = nullptr;
};

/// Reads one value; nothing if the GPU does not support it.
struct NvmlSampler::Quantity {
  std::string_view name;
  std::optional<double> (*read)(const Functions& call, Handle device);
};

struct NvmlSampler::Track {
  const Quantity* quantity = nullptr;
  Handle device = nullptr;
  std::string name{};
  bool supported = true;
  bool delivered = false;  ///< once: then a value that fails is missing, not unsupported
};

std::span<const NvmlSampler::Quantity> NvmlSampler::quantities() {
  using Value = std::optional<double>;
  // Of functions that the driver may lack: they are null then.
  static constexpr auto number = [](auto function, auto... arguments) {
    return [=](Handle device, double factor) -> Value {
      if (function == nullptr) return std::nullopt;
      unsigned value = 0;
      if (function(device, arguments..., &value) != success) return std::nullopt;
      return static_cast<double>(value) * factor;
    };
  };
  static constexpr auto wide = [](auto function, auto... arguments) {
    return [=](Handle device, double factor) -> Value {
      if (function == nullptr) return std::nullopt;
      unsigned long long value = 0;
      if (function(device, arguments..., &value) != success) return std::nullopt;
      return static_cast<double>(value) * factor;
    };
  };
  static constexpr auto busy = [](const Functions& call, Handle device) -> std::optional<Busy> {
    Busy value;
    if (call.busy == nullptr || call.busy(device, &value) != success) return std::nullopt;
    return value;
  };
  static constexpr auto field = [](const Functions& call, Handle device, unsigned which) -> Value {
    FieldValue value{.field = which, .scope = all_links};
    if (call.fields == nullptr || call.fields(device, 1, &value) != success || value.status != success)
      return std::nullopt;
    return static_cast<double>(value.value) * 1024;
  };
  static constexpr std::array table{
      Quantity{"nvml_busy_percent",
               [](const Functions& call, Handle device) -> Value {
                 const auto value = busy(call, device);
                 return value ? Value{value->gpu} : std::nullopt;
               }},
      Quantity{"nvml_memory_busy_percent",
               [](const Functions& call, Handle device) -> Value {
                 const auto value = busy(call, device);
                 return value ? Value{value->memory} : std::nullopt;
               }},
      Quantity{"memory_used_bytes",
               [](const Functions& call, Handle device) -> Value {
                 MemoryInfo value;
                 if (call.memory == nullptr || call.memory(device, &value) != success) return std::nullopt;
                 return static_cast<double>(value.used);
               }},
      Quantity{"sm_clock_mhz",
               [](const Functions& call, Handle device) { return number(call.clock, sm_clock)(device, 1); }},
      Quantity{"memory_clock_mhz",
               [](const Functions& call, Handle device) { return number(call.clock, memory_clock)(device, 1); }},
      Quantity{"power_watts", [](const Functions& call, Handle device) { return number(call.power)(device, 1e-3); }},
      Quantity{"energy_joules", [](const Functions& call, Handle device) { return wide(call.energy)(device, 1e-3); }},
      Quantity{"temperature_celsius",
               [](const Functions& call, Handle device) { return number(call.temperature, of_the_gpu)(device, 1); }},
      Quantity{"throttle_reasons",
               [](const Functions& call, Handle device) { return wide(call.throttle_reasons)(device, 1); }},
      Quantity{"pcie_sent_bytes_per_second",
               [](const Functions& call, Handle device) { return number(call.pcie, sent)(device, 1024); }},
      Quantity{"pcie_received_bytes_per_second",
               [](const Functions& call, Handle device) { return number(call.pcie, received)(device, 1024); }},
      Quantity{"nvlink_sent_bytes",
               [](const Functions& call, Handle device) { return field(call, device, nvlink_sent_kib); }},
      Quantity{"nvlink_received_bytes",
               [](const Functions& call, Handle device) { return field(call, device, nvlink_received_kib); }},
      Quantity{"ecc_uncorrected_errors",
               [](const Functions& call, Handle device) {
                 return wide(call.ecc_errors, uncorrected, since_load)(device, 1);
               }},
  };
  return table;
}

NvmlSampler::NvmlSampler(const std::string& library) : call_(std::make_unique<Functions>()) {
  const char* const named = std::getenv("RANKSCOPE_NVML");
  const std::string wanted = named != nullptr && *named != '\0' ? named : "libnvidia-ml.so.1";
  problem_ = load(library.empty() ? wanted : library);
  if (problem_.empty()) problem_ = find_devices();
}

NvmlSampler::~NvmlSampler() {
  if (call_->shutdown != nullptr) call_->shutdown();
}

std::string NvmlSampler::load(const std::string& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  absent_ = handle == nullptr;
  if (absent_)
    return format(
        "{} cannot be loaded: no NVIDIA driver, or a container without it; NVIDIA_DRIVER_CAPABILITIES must "
        "have utility there",
        library);
  const auto find = [handle](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    return function != nullptr;
  };
  int (*shutdown)() = nullptr;
  const bool usable = find("nvmlInit_v2", call_->init) && find("nvmlShutdown", shutdown) &&
                      find("nvmlErrorString", call_->error_text) && find("nvmlDeviceGetCount_v2", call_->count) &&
                      find("nvmlDeviceGetHandleByIndex_v2", call_->handle) && find("nvmlDeviceGetUUID", call_->uuid) &&
                      find("nvmlDeviceGetName", call_->name);
  if (!usable) return format("{} is no NVML that is known here", library);
  find("nvmlSystemGetDriverVersion", call_->driver_version);
  find("nvmlDeviceGetUtilizationRates", call_->busy);
  find("nvmlDeviceGetMemoryInfo", call_->memory);
  find("nvmlDeviceGetClockInfo", call_->clock);
  find("nvmlDeviceGetPowerUsage", call_->power);
  find("nvmlDeviceGetTotalEnergyConsumption", call_->energy);
  find("nvmlDeviceGetTemperature", call_->temperature);
  find("nvmlDeviceGetCurrentClocksThrottleReasons", call_->throttle_reasons);
  find("nvmlDeviceGetPcieThroughput", call_->pcie);
  find("nvmlDeviceGetFieldValues", call_->fields);
  find("nvmlDeviceGetTotalEccErrors", call_->ecc_errors);
  if (const int status = call_->init(); status != success) return format("NVML refuses: {}", call_->error_text(status));
  call_->shutdown = shutdown;  // it was initialised
  return {};
}

std::string NvmlSampler::find_devices() {
  std::array<char, text_bytes> text{};
  if (call_->driver_version != nullptr && call_->driver_version(text.data(), text.size() - 1) == success)
    driver_ = text.data();
  unsigned count = 0;
  if (const int status = call_->count(&count); status != success)
    return format("NVML tells no devices: {}", call_->error_text(status));
  for (unsigned index = 0; index < std::min(count, most_devices); ++index) {
    Handle handle = nullptr;
    if (call_->handle(index, &handle) != success) continue;  // another user's, or lost
    NvmlDevice device{.index = index};
    if (call_->name(handle, text.data(), text.size() - 1) == success) device.name = text.data();
    if (call_->uuid(handle, text.data(), text.size() - 1) == success) device.uuid = text.data();
    devices_.push_back(device);
    for (const Quantity& quantity : quantities())
      tracks_.push_back({.quantity = &quantity, .device = handle, .name = format("GPU {} {}", index, quantity.name)});
  }
  samples_.reserve(tracks_.size());
  return devices_.empty() ? "NVML finds no GPU that may be used" : "";
}

std::span<const NvmlSample> NvmlSampler::sample() {
  samples_.clear();
  for (Track& track : tracks_) {
    if (!track.supported) continue;
    const auto value = track.quantity->read(*call_, track.device);
    track.delivered = track.delivered || value.has_value();
    track.supported = track.delivered;
    if (value)
      samples_.push_back({track.name, *value});
    else if (!track.supported)
      unsupported_.push_back(track.name);
  }
  return samples_;
}

}  // namespace rankscope::collectors
