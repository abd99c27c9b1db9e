// DataParallel: one process, a replica of the model on each device. Everything goes through device 0:
// parameters out of it and gradients into it in each step, inputs, outputs, loss and optimizer.
#include <deque>
#include <numeric>

#include "engine/devices/device_thread.h"
#include "engine/step/computation.h"
#include "engine/step/devices.h"
#include "rankscope/collectors/annotate.h"

namespace rankscope::trainer {
namespace {

using annotate::Kind;
using std::chrono::nanoseconds;

std::vector<at::Tensor> parameters_and_buffers(const Model& model) {
  std::vector<at::Tensor> all = model.parameters();
  for (const auto& buffer : model.buffers()) all.push_back(buffer);
  return all;
}

std::size_t bytes_of(const std::vector<at::Tensor>& tensors) {
  return std::accumulate(tensors.begin(), tensors.end(), std::size_t{0},
                         [](std::size_t sum, const at::Tensor& tensor) { return sum + tensor.nbytes(); });
}

nanoseconds sum_of(const std::vector<nanoseconds>& times) {
  return std::accumulate(times.begin(), times.end(), nanoseconds{0});
}

class DeviceReplicas final : public Computation {
 public:
  DeviceReplicas(ComputationPlan plan, const std::vector<std::shared_ptr<Model>>& replicas, int rank)
      : plan_(std::move(plan)),
        forward_time_(sum_of(plan_.nominal.forward)),
        backward_time_(sum_of(plan_.nominal.backward)),
        copies_(rank) {
    for (std::size_t device = 0; device <= replicas.size(); ++device) {
      replicas_.push_back(
          {.model = device == 0 ? nullptr : replicas[device - 1], .pacer = Pacer{PaceSchedule{}, {}, paced_device()}});
      devices_.emplace_back(static_cast<int>(device), plan_.devices[device]);
    }
  }

  Model& model() override { return plan_.model; }

  std::vector<nanoseconds> device_times() override { return cpu_times_of(devices_); }

  Forward forward(const Inputs& inputs, Auxiliary) override {
    devices_[0].run([&] {
      broadcast();
      scatter(inputs.data);
    });
    on_all_devices([&](std::size_t device) { run_forward_of(device); });
    Forward result;
    devices_[0].run([&] { result = loss_of(inputs.labels); });
    return result;
  }

  void backward(const Forward& result) override {
    devices_[0].run([&] {
      annotate::Span span{Kind::backward, "backward of loss"};
      (result.loss / plan_.micro_steps).backward();
      scatter_gradients();
    });
    on_all_devices([&](std::size_t device) { run_backward_of(device); });
    devices_[0].run([&] { reduce(); });
  }

  void update(const std::function<void()>& optimizer) override { devices_[0].run(optimizer); }

  void slow_down(double factor) override {
    for (Replica& replica : replicas_) replica.pacer.slow_down(factor);
  }

  void set_work(double share) override {
    for (Replica& replica : replicas_) replica.pacer.set_work(share);
  }

  void finish() override {
    for (const Replica& replica : replicas_) plan_.pacer.take_overruns(replica.pacer);
  }

 private:
  struct Replica {
    std::shared_ptr<Model> model{};  ///< null: the model itself
    at::Tensor input{};
    at::Tensor output{};
    at::Tensor gathered{};  ///< its output on device 0
    at::Tensor gradient{};  ///< of its output
    Pacer pacer{PaceSchedule{}};
  };

  [[nodiscard]] Model& model_of(std::size_t device) { return device == 0 ? plan_.model : *replicas_[device].model; }

  template <class Work>
  void on_all_devices(Work work) {
    for (std::size_t device = 0; device < devices_.size(); ++device)
      devices_[device].start([work, device] { work(device); });
    for (auto& device : devices_) device.wait();
  }

  void broadcast() {
    const torch::NoGradGuard no_grad;
    const auto own = parameters_and_buffers(plan_.model);
    for (std::size_t device = 1; device < replicas_.size(); ++device) {
      auto others = parameters_and_buffers(model_of(device));
      copies_.moved("broadcast", bytes_of(own), own.front().scalar_type(), [&] {
        for (std::size_t i = 0; i < own.size(); ++i) others[i].copy_(own[i]);
      });
    }
  }

  void scatter(const at::Tensor& data) {
    const auto parts = data.chunk(static_cast<std::int64_t>(replicas_.size()));
    for (std::size_t device = 0; device < replicas_.size(); ++device)
      replicas_[device].input =
          device == 0 ? parts[0] : copies_.copied("scatter", parts[device], plan_.devices[device]);
  }

  void run_forward_of(std::size_t device) {
    Replica& replica = replicas_[device];
    annotate::Span span{Kind::forward, "forward"};
    span.with("device", static_cast<std::int64_t>(device));
    replica.pacer.begin();
    replica.output = model_of(device).forward(replica.input, Auxiliary::left_out, [](std::size_t) {}).logits;
    replica.pacer.part_done(forward_time_);
  }

  Forward loss_of(const at::Tensor& labels) {
    std::vector<at::Tensor> outputs;
    for (std::size_t device = 0; device < replicas_.size(); ++device) {
      Replica& replica = replicas_[device];
      replica.gathered =
          device == 0 ? replica.output.detach() : copies_.copied("gather", replica.output, plan_.devices[0]);
      outputs.push_back(replica.gathered.requires_grad_());
    }
    annotate::Span span{Kind::forward, "loss"};
    const Loss loss = plan_.model.loss()(at::cat(outputs), labels);
    return {loss.mean, loss.correct};
  }

  void scatter_gradients() {
    for (std::size_t device = 0; device < replicas_.size(); ++device) {
      Replica& replica = replicas_[device];
      const at::Tensor gradient = replica.gathered.grad();
      replica.gradient = device == 0 ? gradient : copies_.copied("scatter", gradient, plan_.devices[device]);
    }
  }

  void run_backward_of(std::size_t device) {
    Replica& replica = replicas_[device];
    annotate::Span span{Kind::backward, "backward"};
    span.with("device", static_cast<std::int64_t>(device));
    replica.pacer.begin();
    torch::autograd::backward({replica.output}, {replica.gradient});
    for (at::Tensor* tensor : {&replica.input, &replica.output, &replica.gathered, &replica.gradient}) tensor->reset();
    replica.pacer.part_done(backward_time_);
  }

  void reduce() {
    const torch::NoGradGuard no_grad;
    const auto own = plan_.model.parameters();
    for (std::size_t device = 1; device < replicas_.size(); ++device) {
      const auto others = model_of(device).parameters();
      copies_.moved("reduce", bytes_of(own), own.front().scalar_type(), [&] {
        for (std::size_t i = 0; i < own.size(); ++i) own[i].mutable_grad().add_(others[i].grad().to(own[i].device()));
      });
      model_of(device).zero_grad(true);
    }
  }

  ComputationPlan plan_;
  nanoseconds forward_time_;
  nanoseconds backward_time_;
  DeviceCopies copies_;
  std::vector<Replica> replicas_;
  std::deque<DeviceThread> devices_;
};

}  // namespace

std::unique_ptr<Computation> compute_in_replicas(ComputationPlan plan,
                                                 const std::vector<std::shared_ptr<Model>>& replicas, int rank) {
  return std::make_unique<DeviceReplicas>(std::move(plan), replicas, rank);
}

}  // namespace rankscope::trainer
