// GPM of NVML: what the hardware of Hopper and newer counts all the time, as a mean between two readings. Unlike
// CUPTI's sampling it holds neither the counters nor the clocks of a GPU.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "nvml/quantities.h"

namespace rankscope::collectors::nvml {

inline constexpr int not_supported = 3;
inline constexpr int no_permission = 4;

/// nvmlGpmSupport_t.
struct GpmSupport {
  unsigned version = 1;
  unsigned supported = 0;
};
/// nvmlGpmMetric_t.
struct GpmMetric {
  unsigned number = 0;
  int status = 0;
  double value = 0;
  std::array<const char*, 3> names{};
};
/// nvmlGpmMetricsGet_t, of which drivers read `count` metrics; no header has as many as there is room for here.
struct GpmRequest {
  unsigned version = 1;
  unsigned count = 0;
  void* before = nullptr;
  void* after = nullptr;
  std::array<GpmMetric, 512> metrics{};
};

/// Null where a driver lacks them; it has all or none of GPM's.
struct GpmFunctions {
  int (*support)(Handle, GpmSupport*) = nullptr;
  int (*allocate)(void** reading) = nullptr;
  int (*release)(void* reading) = nullptr;
  int (*read)(Handle, void* reading) = nullptr;
  int (*evaluate)(GpmRequest*) = nullptr;
  int (*mig_mode)(Handle, unsigned* now, unsigned* later) = nullptr;
  const char* (*error_text)(int) = nullptr;
};
[[nodiscard]] GpmFunctions find_gpm_functions(void* library);

/// NVML's number of a metric, and what makes a value of it the unit in which the name ends.
struct GpmQuantity {
  std::string_view name;
  unsigned number;
  double factor = 1;
};
[[nodiscard]] std::span<const GpmQuantity> gpm_quantities();

/// One GPU. Readings are taken at least 100 ms apart: NVML does not renew them faster.
class GpmDevice {
 public:
  static constexpr std::int64_t least_apart_ns = 100'000'000;

  GpmDevice(const GpmFunctions& call, Handle device);
  GpmDevice(const GpmDevice&) = delete;
  GpmDevice& operator=(const GpmDevice&) = delete;
  ~GpmDevice();

  using Take = std::function<void(const GpmQuantity&, double value)>;
  /// Hands on the means since the reading before; nothing the first time, and where that is less than 100 ms ago.
  void read(std::int64_t now_ns, const Take& take);
  /// The next reading is a first one again: what is between is of no interest.
  void forget() { has_reading_ = false; }

  /// Why it is not read, or not any more; empty if it is.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Of those that it does not tell, once each: hands on the reason.
  void take_missing(const std::function<void(const GpmQuantity&, std::string_view why)>& take);

 private:
  static constexpr std::size_t quantity_count = 8;
  enum class State : std::uint8_t { nothing, value, missing, missing_reported };
  [[nodiscard]] std::string why_not() const;
  [[nodiscard]] std::string reason(int status) const;
  void evaluate(const Take& take);
  void fail(int status);

  const GpmFunctions& call_;
  Handle device_;
  std::unique_ptr<GpmRequest> request_ = std::make_unique<GpmRequest>();
  bool has_reading_ = false;  ///< in request_->before
  std::int64_t read_ns_ = 0;
  bool delivered_ = false;  ///< once: then a reading that fails is missing, not impossible
  std::array<State, quantity_count> states_{};
  std::string problem_;
};

}  // namespace rankscope::collectors::nvml
