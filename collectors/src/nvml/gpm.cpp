#include "nvml/gpm.h"

#include <dlfcn.h>

#include <cmath>
#include <type_traits>
#include <utility>

#include "rankscope/core/format.h"

namespace rankscope::collectors::nvml {
namespace {

constexpr double per_mib = 1024 * 1024;

// Numbers of nvml.h. Sent and received are seen from the GPU.
constexpr std::array gpm_table{
    GpmQuantity{"gpm_sm_active_percent", 2},
    GpmQuantity{"gpm_sm_occupancy_percent", 3},
    GpmQuantity{"gpm_tensor_active_percent", 5},
    GpmQuantity{"gpm_dram_percent", 10},
    GpmQuantity{"gpm_pcie_sent_bytes_per_second", 20, per_mib},
    GpmQuantity{"gpm_pcie_received_bytes_per_second", 21, per_mib},
    GpmQuantity{"gpm_nvlink_sent_bytes_per_second", 61, per_mib},
    GpmQuantity{"gpm_nvlink_received_bytes_per_second", 60, per_mib},
};

}  // namespace

std::span<const GpmQuantity> gpm_quantities() { return gpm_table; }

GpmFunctions find_gpm_functions(void* library) {
  GpmFunctions call;
  const auto find = [library](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
  };
  find("nvmlGpmQueryDeviceSupport", call.support);
  find("nvmlGpmSampleAlloc", call.allocate);
  find("nvmlGpmSampleFree", call.release);
  find("nvmlGpmSampleGet", call.read);
  find("nvmlGpmMetricsGet", call.evaluate);
  find("nvmlDeviceGetMigMode", call.mig_mode);
  find("nvmlErrorString", call.error_text);
  return call;
}

GpmDevice::GpmDevice(const GpmFunctions& call, Handle device) : call_(call), device_(device), problem_(why_not()) {
  static_assert(gpm_table.size() == quantity_count);
  if (!problem_.empty()) return;
  int status = call_.allocate(&request_->before);
  if (status == success) status = call_.allocate(&request_->after);
  if (status != success) problem_ = reason(status);
}

GpmDevice::~GpmDevice() {
  for (void* const reading : {request_->before, request_->after})
    if (reading != nullptr) call_.release(reading);
}

std::string GpmDevice::why_not() const {
  if (call_.support == nullptr || call_.allocate == nullptr || call_.release == nullptr || call_.read == nullptr ||
      call_.evaluate == nullptr || call_.error_text == nullptr)
    return "this driver does not support GPM";
  GpmSupport support;
  if (const int status = call_.support(device_, &support); status != success) return reason(status);
  if (support.supported == 0) return "this GPU has no GPM, which needs Hopper or newer";
  unsigned now = 0, later = 0;
  if (call_.mig_mode != nullptr && call_.mig_mode(device_, &now, &later) == success && now != 0)
    return "this GPU is divided by MIG, so GPM reports values only for its parts";
  return {};
}

std::string GpmDevice::reason(int status) const {
  if (status == not_supported) return "not supported by this GPU or driver";
  const std::string text = call_.error_text(status);
  return status == no_permission ? format("this user is not allowed to read GPM metrics (NVML: {})", text)
                                 : "NVML: " + text;
}

void GpmDevice::fail(int status) {
  has_reading_ = false;
  if (!delivered_) problem_ = reason(status);
}

void GpmDevice::read(std::int64_t now_ns, const Take& take) {
  if (!problem_.empty() || (has_reading_ && now_ns - read_ns_ < least_apart_ns)) return;
  if (const int status = call_.read(device_, has_reading_ ? request_->after : request_->before); status != success)
    return fail(status);
  read_ns_ = now_ns;
  if (!std::exchange(has_reading_, true)) return;
  evaluate(take);
  std::swap(request_->before, request_->after);
}

void GpmDevice::evaluate(const Take& take) {
  request_->count = quantity_count;
  for (std::size_t i = 0; i < quantity_count; ++i) request_->metrics[i] = {.number = gpm_table[i].number};
  if (const int status = call_.evaluate(request_.get()); status != success) return fail(status);
  delivered_ = true;
  for (std::size_t i = 0; i < quantity_count; ++i) {
    const GpmMetric& metric = request_->metrics[i];
    if (metric.status == success && std::isfinite(metric.value)) {
      states_[i] = State::value;
      take(gpm_table[i], metric.value * gpm_table[i].factor);
    } else if (metric.status != success && states_[i] == State::nothing) {
      states_[i] = State::missing;
    }
  }
}

void GpmDevice::take_missing(const std::function<void(const GpmQuantity&, std::string_view why)>& take) {
  for (std::size_t i = 0; i < quantity_count; ++i) {
    if (states_[i] != State::missing) continue;
    states_[i] = State::missing_reported;
    take(gpm_table[i], reason(request_->metrics[i].status));
  }
}

}  // namespace rankscope::collectors::nvml
