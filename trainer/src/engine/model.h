// The models, all built the same way: a chain of blocks with known work, so that every mode can pace and split them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/libtorch.h"
#include "rankscope/core/result.h"
#include "rankscope/trainer/datasets.h"
#include "rankscope/trainer/options.h"

namespace rankscope::trainer {

/// One link of the chain.
class Block : public torch::nn::Module {
 public:
  virtual at::Tensor forward(const at::Tensor& input) = 0;
  double work = 0;  ///< FLOPs of forward for one sample
};

class Model : public torch::nn::Module {
 public:
  void add(const std::string& name, std::shared_ptr<Block> block);
  /// A second head on the input of the last block; it counts 0.3 in the loss.
  void add_auxiliary(std::shared_ptr<Block> head);

  [[nodiscard]] const std::vector<std::shared_ptr<Block>>& blocks() const { return blocks_; }
  [[nodiscard]] bool has_auxiliary() const { return auxiliary_ != nullptr; }
  [[nodiscard]] const std::shared_ptr<Block>& auxiliary() const { return auxiliary_; }
  [[nodiscard]] std::int64_t parameter_count() const;

  struct Output {
    at::Tensor logits;
    at::Tensor auxiliary;  ///< undefined where there is none or it is not asked for
  };
  /// `after_block` is called when block i is done.
  Output forward(const at::Tensor& input, bool with_auxiliary, const std::function<void(std::size_t)>& after_block);

 private:
  std::vector<std::shared_ptr<Block>> blocks_;
  std::shared_ptr<Block> auxiliary_;
};

/// FLOPs of forward for one sample, block 0 first.
[[nodiscard]] std::vector<double> work_of_blocks(const Model& model);

/// Layers that the options ask for, or those of the scale; 0 for models whose depth is in their name.
[[nodiscard]] std::int64_t layers_of(const ModelOptions& options);
/// A model that nobody gave a depth gets one that `parts` stages or devices can share.
[[nodiscard]] ModelOptions deep_enough(ModelOptions options, std::int64_t parts);

/// The shape of generated samples that fit a model.
[[nodiscard]] SampleShape fitting_shape(const ModelOptions& options);

/// Parameters are drawn from the seed, equally on all ranks.
[[nodiscard]] Result<std::shared_ptr<Model>> build_model(const ModelOptions& options, const SampleShape& shape,
                                                         DataType dtype, std::uint64_t seed);

}  // namespace rankscope::trainer
