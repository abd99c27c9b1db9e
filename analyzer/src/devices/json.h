// The devices of a rank as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <span>

#include "rankscope/analyzer/devices/section.h"

namespace rankscope::analyzer {

[[nodiscard]] nlohmann::ordered_json devices_json(std::span<const DeviceRow> devices);

}  // namespace rankscope::analyzer
