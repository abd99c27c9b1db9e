// Where the tensors of the training are: the one place that decides it.
#pragma once

#include <optional>

#include "engine/libtorch.h"
#include "engine/step/step_parts.h"
#include "rankscope/trainer/launch/placement.h"
#include "rankscope/trainer/options/options.h"
#include "rankscope/trainer/plan/pace.h"

namespace rankscope::trainer {

/// Device number `index` of this process.
[[nodiscard]] at::Device device_of(const Placement& place, int index = 0);

/// Type and first device of parameters and gradients.
[[nodiscard]] at::TensorOptions tensor_kind(const TrainOptions& options, const Placement& place);
/// Of what stages give to one another.
[[nodiscard]] at::TensorOptions activation_kind(const TrainOptions& options, const Placement& place);

/// The same samples there. Copies to a GPU are not waited for: what computes with them comes behind them.
[[nodiscard]] Inputs on_device(at::Device device, Inputs inputs);

/// Moves parameters and buffers; before anything refers to their memory or waits for their gradients.
void move_to(torch::nn::Module& module, at::Device device);

/// How the device of the calling thread passes the time of a pacer.
[[nodiscard]] PacedDevice paced_device();

/// Tells the recording which GPU this rank has, and the log of rank 0 its own.
void describe_device(const Placement& place);

}  // namespace rankscope::trainer
