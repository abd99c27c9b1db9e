// What the accelerators of a rank do at an instant (metrics.md C8).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rankscope::analyzer {

/// What an activity of an accelerator does. Where several run, an instant is charged to the first of these (C8).
enum class ActivityClass : std::uint8_t { compute, comm, memory };
inline constexpr std::size_t activity_class_count = 3;
[[nodiscard]] std::string_view name_of(ActivityClass kind);

/// Why a run of CPU ranks has no kernels.
inline constexpr std::string_view no_accelerator = "no rank has an accelerator";

}  // namespace rankscope::analyzer
