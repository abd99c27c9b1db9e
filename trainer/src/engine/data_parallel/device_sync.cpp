// Data parallelism of models that are spread over several devices.
#include "engine/data_parallel/sync.h"

namespace rankscope::trainer {
namespace {

class DeviceSync final : public GradientSync {
 public:
  explicit DeviceSync(std::vector<std::unique_ptr<GradientSync>> of_devices) : of_devices_(std::move(of_devices)) {}

  Result<void> before_forward(Reduction reduction) override {
    for (auto& sync : of_devices_) RS_TRY_VOID(sync->before_forward(reduction));
    return {};
  }
  Result<void> before_backward(const at::Tensor& loss) override {
    for (auto& sync : of_devices_) RS_TRY_VOID(sync->before_backward(loss));
    return {};
  }
  Result<void> after_backward() override {
    for (auto sync = of_devices_.rbegin(); sync != of_devices_.rend(); ++sync) RS_TRY_VOID((*sync)->after_backward());
    return {};
  }
  // The first device's gradients come last.
  void delay_last(std::chrono::nanoseconds delay) override { of_devices_.front()->delay_last(delay); }

 private:
  std::vector<std::unique_ptr<GradientSync>> of_devices_;
};

}  // namespace

std::unique_ptr<GradientSync> make_device_sync(std::vector<std::unique_ptr<GradientSync>> of_devices) {
  return std::make_unique<DeviceSync>(std::move(of_devices));
}

}  // namespace rankscope::trainer
