#include "engine/step/devices.h"

#include "engine/comm/accelerator.h"
#include "engine/layers/precision.h"
#include "engine/note.h"
#include "engine/step/progress.h"
#include "rankscope/core/format.h"
#include "rankscope/trainer/launch/log.h"

namespace rankscope::trainer {

at::Device device_of(const Placement& place, int index) {
  if (!place.gpu) return at::kCPU;
  return {at::kCUDA, static_cast<c10::DeviceIndex>(*place.gpu + index)};
}

at::TensorOptions tensor_kind(const TrainOptions& options, const Placement& place) {
  return at::TensorOptions{torch_type(options.dtype)}.device(device_of(place));
}

at::TensorOptions activation_kind(const TrainOptions& options, const Placement& place) {
  return at::TensorOptions{activation_type(options.dtype)}.device(device_of(place));
}

Inputs on_device(at::Device device, Inputs inputs) {
  if (device.is_cpu()) return inputs;
  const auto moved = [&](const at::Tensor& tensor) { return tensor.pin_memory().to(device, /*non_blocking=*/true); };
  return {moved(inputs.data), moved(inputs.labels)};
}

void move_to(torch::nn::Module& module, at::Device device) {
  if (!device.is_cpu()) module.to(device);
}

PacedDevice paced_device() {
  Accelerator* const gpus = accelerator();
  if (gpus == nullptr) return {};
  return {.finish = [gpus] { gpus->finish(); },
          .keep_busy = [gpus](std::chrono::nanoseconds time) { gpus->keep_busy(time); }};
}

void describe_device(const Placement& place) {
  if (!place.gpu) return;
  const Accelerator::Device device = accelerator()->describe(*place.gpu);
  note("device", format("cuda:{} {}", *place.gpu, device.name));
  note("device_uuid", device.uuid);
  if (place.world_size > 1) note("comm_backend", "nccl");
  log_progress(format("on GPU {}: {} ({})", *place.gpu, device.name, device.uuid));
}

}  // namespace rankscope::trainer
