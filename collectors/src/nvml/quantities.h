// What is read of a GPU through NVML. The functions are declared here; where a driver lacks one it is null.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace rankscope::collectors::nvml {

inline constexpr int success = 0;

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

struct Functions {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_text)(int) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*handle)(unsigned, Handle*) = nullptr;
  int (*uuid)(Handle, char*, unsigned) = nullptr;
  int (*name)(Handle, char*, unsigned) = nullptr;
  int (*mig_mode)(Handle, unsigned*, unsigned*) = nullptr;
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

/// measures: the call itself takes slow_read_ns. seldom: it hardly ever changes, and is read once in rare_period_ns and
/// at both ends of what is recorded, so that each change is between two values.
enum class Cost : std::uint8_t { little, measures, seldom };

/// nvml.h: nvmlDeviceGetPcieThroughput counts for 20 ms.
inline constexpr std::int64_t slow_read_ns = 20'000'000;
inline constexpr std::int64_t rare_period_ns = 1'000'000'000;

/// Reads one value; nothing if the GPU does not support it.
struct Quantity {
  std::string_view name;
  std::optional<double> (*read)(const Functions& call, Handle device);
  Cost cost = Cost::little;
};

[[nodiscard]] std::span<const Quantity> quantities();

}  // namespace rankscope::collectors::nvml
