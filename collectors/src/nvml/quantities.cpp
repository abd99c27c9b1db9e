#include "nvml/quantities.h"

#include <array>

namespace rankscope::collectors::nvml {
namespace {

using Value = std::optional<double>;

// Numbers of nvml.h.
constexpr unsigned sm_clock = 1, memory_clock = 2;
constexpr unsigned of_the_gpu = 0;
constexpr unsigned sent = 0, received = 1;
constexpr unsigned uncorrected = 1, since_load = 0;
constexpr unsigned nvlink_sent_kib = 138, nvlink_received_kib = 139;
constexpr unsigned all_links = 0xFFFFFFFF;
constexpr double per_kib = 1024;
constexpr double per_thousandth = 1e-3;

/// Calls a function whose last argument takes a Number.
template <class Number, class Function, class... Arguments>
Value value_of(Function function, double factor, Arguments... arguments) {
  if (function == nullptr) return std::nullopt;
  Number value{};
  if (function(arguments..., &value) != success) return std::nullopt;
  return static_cast<double>(value) * factor;
}

template <unsigned Busy::*part>
Value busy(const Functions& call, Handle device) {
  Busy value;
  if (call.busy == nullptr || call.busy(device, &value) != success) return std::nullopt;
  return value.*part;
}

Value used_memory(const Functions& call, Handle device) {
  MemoryInfo value;
  if (call.memory == nullptr || call.memory(device, &value) != success) return std::nullopt;
  return static_cast<double>(value.used);
}

template <unsigned which>
Value clock(const Functions& call, Handle device) {
  return value_of<unsigned>(call.clock, 1, device, which);
}
Value power(const Functions& call, Handle device) { return value_of<unsigned>(call.power, per_thousandth, device); }
Value energy(const Functions& call, Handle device) {
  return value_of<unsigned long long>(call.energy, per_thousandth, device);
}
Value temperature(const Functions& call, Handle device) {
  return value_of<unsigned>(call.temperature, 1, device, of_the_gpu);
}
Value throttle_reasons(const Functions& call, Handle device) {
  return value_of<unsigned long long>(call.throttle_reasons, 1, device);
}
template <unsigned direction>
Value pcie(const Functions& call, Handle device) {
  return value_of<unsigned>(call.pcie, per_kib, device, direction);
}

template <unsigned which>
Value nvlink(const Functions& call, Handle device) {
  FieldValue value{.field = which, .scope = all_links};
  if (call.fields == nullptr || call.fields(device, 1, &value) != success || value.status != success)
    return std::nullopt;
  return static_cast<double>(value.value) * per_kib;
}

Value ecc_errors(const Functions& call, Handle device) {
  return value_of<unsigned long long>(call.ecc_errors, 1, device, uncorrected, since_load);
}

constexpr std::array quantity_table{
    Quantity{"nvml_busy_percent", busy<&Busy::gpu>},
    Quantity{"nvml_memory_busy_percent", busy<&Busy::memory>},
    Quantity{"memory_used_bytes", used_memory},
    Quantity{"sm_clock_mhz", clock<sm_clock>},
    Quantity{"memory_clock_mhz", clock<memory_clock>},
    Quantity{"power_watts", power},
    Quantity{"energy_joules", energy},
    Quantity{"temperature_celsius", temperature},
    Quantity{"throttle_reasons", throttle_reasons},
    Quantity{"pcie_sent_bytes_per_second", pcie<sent>, Cost::measures},
    Quantity{"pcie_received_bytes_per_second", pcie<received>, Cost::measures},
    Quantity{"nvlink_sent_bytes", nvlink<nvlink_sent_kib>},
    Quantity{"nvlink_received_bytes", nvlink<nvlink_received_kib>},
    Quantity{"ecc_uncorrected_errors", ecc_errors, Cost::seldom},
};

}  // namespace

std::span<const Quantity> quantities() { return quantity_table; }

}  // namespace rankscope::collectors::nvml
