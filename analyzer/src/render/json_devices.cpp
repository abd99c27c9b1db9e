#include "render/json_devices.h"

#include "render/json_number.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

constexpr int share_digits = 6;
constexpr int value_digits = 1;

template <class T, class ToJson>
void put_section(Json& out, const std::string& name, const Section<T>& section, ToJson to_json) {
  out[name] = section ? to_json(*section) : Json(nullptr);
  if (!section) out["why"][name] = section.error().why;
}

void put_value(Json& out, const std::string& name, const Ratio& value) {
  put(out, name, rounded(value.value, value_digits), value.why);
}

Json spread_json(const Spread& spread) {
  return {{"median", rounded(spread.median, value_digits)}, {"max", rounded(spread.most, value_digits)}};
}

/// What slows a GPU that has work, apart from what does not.
Json throttling_json(const Throttling& throttling) {
  Json out{{"share", rounded(throttling.share, share_digits)}, {"reasons", Json::object()}, {"other", Json::object()}};
  for (const ReasonShare& row : throttling.reasons)
    out[is_throttling(row.reason) ? "reasons" : "other"][std::string{name_of(row.reason)}] =
        rounded(row.share, share_digits);
  return out;
}

Json nvml_json(const NvmlCounters& counters) {
  Json out;
  put(out, "busy", counters.busy);
  put(out, "memory_busy", counters.memory_busy);
  put_section(out, "sm_clock_mhz", counters.sm_clock_mhz, spread_json);
  put_section(out, "memory_clock_mhz", counters.memory_clock_mhz, spread_json);
  put_section(out, "power_watts", counters.power_watts, spread_json);
  put_section(out, "temperature_celsius", counters.temperature_celsius, spread_json);
  put_section(out, "memory_used_bytes", counters.memory_used_bytes, spread_json);
  put_section(out, "throttled", counters.throttling, throttling_json);
  put_value(out, "energy_joules", counters.energy_joules);
  put(out, "energy_covers", counters.energy_covers);
  put_value(out, "ecc_uncorrected_errors", counters.ecc_uncorrected_errors);
  put_value(out, "pcie_sent_bytes_per_second", counters.pcie_sent_bytes_per_second);
  put_value(out, "pcie_received_bytes_per_second", counters.pcie_received_bytes_per_second);
  put_value(out, "nvlink_sent_bytes_per_second", counters.nvlink_sent_bytes_per_second);
  put_value(out, "nvlink_received_bytes_per_second", counters.nvlink_received_bytes_per_second);
  return out;
}

Json pm_json(const PmCounters& counters) {
  Json out;
  put(out, "sm_active", counters.sm_active);
  put(out, "tensor_active", counters.tensor_active);
  put(out, "dram_read", counters.dram_read);
  put(out, "dram_write", counters.dram_write);
  put(out, "pcie_active", counters.pcie_active);
  put_value(out, "nvlink_received_bytes_per_second", counters.nvlink_received_bytes_per_second);
  put_value(out, "nvlink_sent_bytes_per_second", counters.nvlink_sent_bytes_per_second);
  put_value(out, "pcie_read_bytes_per_second", counters.pcie_read_bytes_per_second);
  put_value(out, "pcie_write_bytes_per_second", counters.pcie_write_bytes_per_second);
  return out;
}

Json device_json(const DeviceRow& device) {
  const auto text = [](const std::string& value) { return value.empty() ? std::nullopt : std::optional<Json>{value}; };
  Json out;
  put(out, "ordinal", device.ordinal < 0 ? std::nullopt : std::optional<Json>{device.ordinal}, "not recorded");
  put(out, "name", text(device.name), "not recorded");
  put(out, "uuid", text(device.uuid), device.why_no_uuid);
  put_section(out, "nvml", device.nvml, nvml_json);
  put_section(out, "pm", device.pm, pm_json);
  return out;
}

}  // namespace

Json devices_json(std::span<const DeviceRow> devices) {
  Json out = Json::array();
  for (const DeviceRow& device : devices) out.push_back(device_json(device));
  return out;
}

}  // namespace rankscope::analyzer
