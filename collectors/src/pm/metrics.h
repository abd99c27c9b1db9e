// Which counters of the hardware are sampled, by the names that a chip has for them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pm/cupti_pm.h"

namespace rankscope::collectors {

/// What is sampled. Its name ends in its unit; of the metrics of CUPTI that tell it the first is taken that the chip
/// has and that fits. A percentage is of what the unit could do all the time.
struct PmQuantity {
  std::string_view name;
  std::array<const char*, 2> metrics{};  ///< best first; null where there are fewer
};
/// All of them, the most important first.
[[nodiscard]] std::span<const PmQuantity> pm_quantities();

/// What a configuration of a chip's counters is made of; lives in CUPTI.
class PmHost {
 public:
  /// `availability`: of the device, or empty.
  PmHost(const cupti::PmFunctions& call, const std::string& chip, std::span<const std::uint8_t> availability);
  PmHost(const PmHost&) = delete;
  PmHost& operator=(const PmHost&) = delete;
  ~PmHost();

  /// CUptiResult.
  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] void* handle() const { return host_; }
  /// Adds metrics, once; then config() and passes() are theirs, or status() tells why not.
  void add(std::span<const char* const> metrics);
  [[nodiscard]] std::span<const std::uint8_t> config() const { return config_; }
  [[nodiscard]] std::size_t passes() const { return passes_; }

 private:
  const cupti::PmFunctions& call_;
  void* host_ = nullptr;
  int status_ = 0;
  std::vector<std::uint8_t> config_;
  std::size_t passes_ = 0;
};

/// What can be sampled of a chip at a time.
struct PmSelection {
  struct LeftOut {
    std::string_view name;
    std::string_view why;
  };
  std::vector<std::string_view> names{};  ///< of the quantities, in the order of `metrics`
  std::vector<const char*> metrics{};
  std::vector<LeftOut> left_out{};
  std::unique_ptr<PmHost> host{};  ///< with these metrics; null if there are none
  int status = 0;                  ///< CUptiResult, of a chip that CUPTI does not know
};

/// Takes what one pass of the hardware holds, in the order of pm_quantities(): more than one pass would need the
/// program to be run again.
[[nodiscard]] PmSelection select_pm_metrics(const cupti::PmFunctions& call, const std::string& chip,
                                            std::span<const std::uint8_t> availability);

}  // namespace rankscope::collectors
