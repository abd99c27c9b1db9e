// Batch normalization, over the samples of this rank or of a group of ranks (SyncBatchNorm).
#pragma once

#include <string>

#include "engine/comm/comm.h"
#include "engine/libtorch.h"

namespace rankscope::trainer {

struct BatchNorm2dImpl : torch::nn::BatchNorm2dImpl {
  using torch::nn::BatchNorm2dImpl::BatchNorm2dImpl;

  /// Takes the statistics of training from all ranks of `group` from now on, which see different samples or parts of
  /// images; `name` labels what it sends.
  void synchronize(Comm& group, std::string name);

  at::Tensor forward(const at::Tensor& input);

 private:
  Comm* group_ = nullptr;
  std::string name_;
};
TORCH_MODULE(BatchNorm2d);

/// Each batch normalization of a model.
void synchronize_batch_norms(const torch::nn::Module& model, Comm& group);

}  // namespace rankscope::trainer
