// What the processor can compute, as the kernel reports it.
#pragma once

#include <string>
#include <string_view>

namespace rankscope::trainer {

/// The text of /proc/cpuinfo; "" where it cannot be read.
[[nodiscard]] std::string cpu_features();

/// Whether a processor with such a text has instructions for bf16.
[[nodiscard]] bool computes_bf16(std::string_view features);

}  // namespace rankscope::trainer
