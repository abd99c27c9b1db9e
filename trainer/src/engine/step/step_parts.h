// What a training step is made of, apart from the loop itself.
#pragma once

#include <chrono>
#include <ctime>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/models/model.h"
#include "rankscope/core/result.h"
#include "rankscope/trainer/data/datasets.h"
#include "rankscope/trainer/options/options.h"
#include "rankscope/trainer/plan/pace.h"

namespace rankscope::trainer {

struct Inputs {
  at::Tensor data;
  at::Tensor labels;
};
/// Of ragged samples as many tokens as the longest one has, and the labels in a row for each sample.
[[nodiscard]] Inputs inputs_of(const Batch& batch, const SampleShape& shape, DataType dtype);

struct Forward {
  at::Tensor loss;     ///< mean over the samples (or tokens)
  at::Tensor correct;  ///< how many predictions were right
};
/// A module as it predicts: BatchNorm with its own statistics, nothing kept for backward; ends with it training.
class Predicting {
 public:
  explicit Predicting(torch::nn::Module& module) : module_(module) { module_.eval(); }
  Predicting(const Predicting&) = delete;
  Predicting& operator=(const Predicting&) = delete;
  ~Predicting() { module_.train(); }

 private:
  torch::nn::Module& module_;
  torch::NoGradGuard no_grad_;
};

[[nodiscard]] Forward run_forward(Model& model, const Inputs& inputs, Auxiliary head,
                                  const std::function<void(std::size_t)>& after_block);

[[nodiscard]] std::unique_ptr<torch::optim::Optimizer> make_optimizer(std::vector<at::Tensor> parameters,
                                                                      const OptimizerOptions& options);

/// The buffers of a module (BatchNorm statistics); ends with them as they were.
class KeptBuffers {
 public:
  explicit KeptBuffers(const torch::nn::Module& module);
  KeptBuffers(const KeptBuffers&) = delete;
  KeptBuffers& operator=(const KeptBuffers&) = delete;
  ~KeptBuffers();

 private:
  std::vector<at::Tensor> buffers_;
  std::vector<at::Tensor> before_;
};

[[nodiscard]] std::chrono::nanoseconds cpu_time_of(clockid_t clock);

/// CPU time of this process for one forward and backward, after one to warm up. Leaves the model as it was.
[[nodiscard]] std::chrono::nanoseconds cpu_time_of_step(Model& model, const Inputs& inputs);

/// Paces backward: when the last gradient of a block has been accumulated, the block is done, and sleeps to its nominal
/// time before anybody else hears of that gradient. Make it before the reducer: hooks run in the order of installation.
class BackwardPace {
 public:
  BackwardPace(const Model& model, Pacer& pacer);
  void begin();

 private:
  void accumulated(std::size_t block);

  Pacer& pacer_;
  std::vector<std::size_t> parameters_;  // of each block
  std::vector<std::size_t> missing_;
  std::vector<std::shared_ptr<torch::autograd::Node>> accumulators_;
};

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};
/// Undefined where a parameter has none.
[[nodiscard]] std::vector<NamedTensor> gradients_of(const Model& model);

/// Losses and gradients of each step as text that reads back exactly.
class GradientDump {
 public:
  [[nodiscard]] static Result<std::unique_ptr<GradientDump>> open(const std::string& path);
  [[nodiscard]] Result<void> gradients(std::int64_t step, const std::vector<NamedTensor>& gradients);
  [[nodiscard]] Result<void> loss(double mean);

 private:
  /// What has been written so far is in the file.
  [[nodiscard]] Result<void> flushed();

  std::string path_;
  std::ofstream file_;
};

}  // namespace rankscope::trainer
