#include "devices/parts.h"

#include <array>
#include <cstdint>
#include <span>

#include <nlohmann/json.hpp>
#include "devices/sampled_gpus.h"
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

/// How many decimals are told.
enum class As : std::uint8_t { share, value };

template <class Counters>
struct Key {
  const char* name;
  Ratio Counters::*field;
  As as;
};
constexpr std::array nvml_activity{
    Key<NvmlCounters>{"busy", &NvmlCounters::busy, As::share},
    Key<NvmlCounters>{"memory_busy", &NvmlCounters::memory_busy, As::share},
};
constexpr std::array nvml_totals{
    Key<NvmlCounters>{"energy_joules", &NvmlCounters::energy_joules, As::value},
    Key<NvmlCounters>{"energy_covers", &NvmlCounters::energy_covers, As::share},
    Key<NvmlCounters>{"ecc_uncorrected_errors", &NvmlCounters::ecc_uncorrected_errors, As::value},
    Key<NvmlCounters>{"pcie_sent_bytes_per_second", &NvmlCounters::pcie_sent_bytes_per_second, As::value},
    Key<NvmlCounters>{"pcie_received_bytes_per_second", &NvmlCounters::pcie_received_bytes_per_second, As::value},
    Key<NvmlCounters>{"nvlink_sent_bytes_per_second", &NvmlCounters::nvlink_sent_bytes_per_second, As::value},
    Key<NvmlCounters>{"nvlink_received_bytes_per_second", &NvmlCounters::nvlink_received_bytes_per_second, As::value},
};
constexpr std::array pm_counters{
    Key<PmCounters>{"sm_active", &PmCounters::sm_active, As::share},
    Key<PmCounters>{"tensor_active", &PmCounters::tensor_active, As::share},
    Key<PmCounters>{"dram_read", &PmCounters::dram_read, As::share},
    Key<PmCounters>{"dram_write", &PmCounters::dram_write, As::share},
    Key<PmCounters>{"pcie_active", &PmCounters::pcie_active, As::share},
    Key<PmCounters>{"nvlink_received_bytes_per_second", &PmCounters::nvlink_received_bytes_per_second, As::value},
    Key<PmCounters>{"nvlink_sent_bytes_per_second", &PmCounters::nvlink_sent_bytes_per_second, As::value},
    Key<PmCounters>{"pcie_read_bytes_per_second", &PmCounters::pcie_read_bytes_per_second, As::value},
    Key<PmCounters>{"pcie_write_bytes_per_second", &PmCounters::pcie_write_bytes_per_second, As::value},
};

template <class Counters>
void put_all(Json& out, const Counters& counters, std::span<const Key<Counters>> keys) {
  for (const auto& [name, field, as] : keys) {
    const Ratio& told = counters.*field;
    put(out, name, rounded(told.value, as == As::share ? share_digits : value_digits), told.why);
  }
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
  put_all<NvmlCounters>(out, counters, nvml_activity);
  for (const auto& [name, field] : nvml_spreads) put_section(out, name, counters.*field, spread_json);
  put_section(out, "throttled", counters.throttling, throttling_json);
  put_all<NvmlCounters>(out, counters, nvml_totals);
  return out;
}

Json pm_json(const PmCounters& counters) {
  Json out;
  put_all<PmCounters>(out, counters, pm_counters);
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
