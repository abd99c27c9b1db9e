// Hosts that have more to do than CPUs (metrics.md 9.10).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "rankscope/analyzer/steps/section.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// By host, the share of the time in which at least one task was waiting for a CPU, where that was nearly always so: by
/// the kernel's pressure stall information from the first to the last step.
[[nodiscard]] std::map<StringId, double> crowded_cpus(const Run& run, const StepsSection& steps);

/// "on host n1, at least one task was waiting for a CPU 98 % of the time"
[[nodiscard]] std::string crowded_text(std::string_view host, double share);

}  // namespace rankscope::analyzer
