// Naive model parallelism: the layers are spread over devices, and a batch goes through them in one
// piece, so that all devices but one wait at any time.
#include <deque>
#include <numeric>

#include "engine/devices/device_thread.h"
#include "engine/pipeline/stage.h"
#include "engine/step/computation.h"
#include "rankscope/collectors/annotate.h"

namespace rankscope::trainer {
namespace {

using annotate::Kind;
using std::chrono::nanoseconds;

constexpr std::int32_t only_micro_batch = 0;

class DeviceChain final : public Computation {
 public:
  DeviceChain(ComputationPlan plan, const std::vector<std::shared_ptr<Model>>& parts, int rank)
      : plan_(std::move(plan)), backward_pace_(plan_.model, plan_.pacer), copies_(rank) {
    auto nominal = plan_.nominal.forward.begin();
    for (std::size_t device = 0; device < parts.size(); ++device) {
      const auto end = nominal + static_cast<std::ptrdiff_t>(parts[device]->blocks().size());
      forward_time_.push_back(std::accumulate(nominal, end, nanoseconds{0}));
      nominal = end;
      const StageInput input = device == 0 ? StageInput::samples : StageInput::activations;
      stages_.emplace_back(parts[device], input, 1.0 / plan_.micro_steps);
      devices_.emplace_back(static_cast<int>(device), plan_.devices[device]);
    }
  }

  Model& model() override { return plan_.model; }

  std::vector<nanoseconds> device_times() override { return cpu_times_of(devices_); }

  Forward forward(const Inputs& inputs, Auxiliary) override {
    at::Tensor flowing = inputs.data;
    Forward result;
    plan_.pacer.begin();
    for (std::size_t device = 0; device < devices_.size(); ++device) {
      devices_[device].run([&] {
        if (device > 0) flowing = copies_.copied("copy", flowing, plan_.devices[device]);
        annotate::Span span{Kind::forward, "forward"};
        span.with("device", static_cast<std::int64_t>(device));
        if (device + 1 < devices_.size())
          flowing = stages_[device].forward(only_micro_batch, flowing, Backward::whole);
        else
          result = stages_[device].forward_to_loss(only_micro_batch, {flowing, inputs.labels.to(plan_.devices[device])},
                                                   Backward::whole);
        plan_.pacer.part_done(forward_time_[device]);
      });
    }
    return result;
  }

  void backward(const Forward&) override {
    at::Tensor gradient;
    backward_pace_.begin();
    for (std::size_t device = devices_.size(); device-- > 0;) {
      devices_[device].run([&] {
        if (gradient.defined()) gradient = copies_.copied("copy", gradient, plan_.devices[device]);
        annotate::Span span{Kind::backward, "backward"};
        span.with("device", static_cast<std::int64_t>(device));
        gradient = stages_[device].backward(only_micro_batch, gradient);
      });
    }
  }

 private:
  ComputationPlan plan_;
  BackwardPace backward_pace_;
  DeviceCopies copies_;
  std::vector<nanoseconds> forward_time_;  // by device
  std::vector<Stage> stages_;
  std::deque<DeviceThread> devices_;
};

}  // namespace

std::unique_ptr<Computation> compute_in_chain(ComputationPlan plan, const std::vector<std::shared_ptr<Model>>& parts,
                                              int rank) {
  return std::make_unique<DeviceChain>(std::move(plan), parts, rank);
}

}  // namespace rankscope::trainer
