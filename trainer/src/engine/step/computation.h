// How a process comes from a batch to gradients: with the model as a whole, or spread over several devices.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "engine/models/model.h"
#include "engine/step/step_parts.h"
#include "rankscope/trainer/plan/pace.h"

namespace rankscope::trainer {

class Computation {
 public:
  virtual ~Computation() = default;
  /// Forward of one micro-step. The loss is the mean over its samples (or tokens).
  virtual Forward forward(const Inputs& inputs, Auxiliary head) = 0;
  /// Adds the gradients of the latest forward, divided by the number of micro-steps, to those of the parameters.
  virtual void backward(const Forward& result) = 0;
  /// What gives the model's output for samples of no step.
  virtual Model& model() = 0;
  /// Runs the optimizer where the parameters are.
  virtual void update(const std::function<void()>& optimizer) { optimizer(); }
  virtual void slow_down(double) {}  ///< the factor of devices that have a pace of their own
  virtual void set_work(double) {}   ///< of the next micro-step: Pacer::set_work of those devices
  /// CPU time of each device that has a thread of its own; none where the training thread is.
  virtual std::vector<std::chrono::nanoseconds> device_times() { return {}; }
  virtual void finish() {}  ///< tells the pacer of the process what those have overrun
};

/// What all of them are made with; it outlives them.
struct ComputationPlan {
  Model& model;
  Pacer& pacer;  ///< of the process
  PaceSchedule nominal;
  int micro_steps = 1;
  std::vector<at::Device> devices{};  ///< of the process; not needed where there is one
};

/// The whole model on the calling thread.
[[nodiscard]] std::unique_ptr<Computation> compute_here(ComputationPlan plan);

/// Layers spread over devices, one after the other: only one device is busy at a time. `parts` are the blocks of each
/// device; gradients are in the model's own parameters.
[[nodiscard]] std::unique_ptr<Computation> compute_in_chain(ComputationPlan plan,
                                                            const std::vector<std::shared_ptr<Model>>& parts, int rank);

/// The model on device 0, a replica on each other device, the batch cut among all. Only the model on device 0 gets
/// gradients; the replicas take its parameters and buffers before each forward.
[[nodiscard]] std::unique_ptr<Computation> compute_in_replicas(ComputationPlan plan,
                                                               const std::vector<std::shared_ptr<Model>>& replicas,
                                                               int rank);

}  // namespace rankscope::trainer
