// The models, all built the same way: a chain of blocks with known work, so that every mode can pace and split them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/layers/block.h"
#include "engine/libtorch.h"
#include "engine/tensor/tensor_split.h"
#include "rankscope/core/result.h"
#include "rankscope/trainer/data/datasets.h"
#include "rankscope/trainer/options/options.h"

namespace rankscope::trainer {

/// Mean over the samples (or tokens), and how many predictions were right; of ragged samples the sum of the shares of
/// their tokens.
struct Loss {
  at::Tensor mean;
  at::Tensor correct;
};
using LossFunction = std::function<Loss(const at::Tensor& logits, const at::Tensor& labels)>;
/// Of logits that are all here, in f32 at least. Labels of ragged samples have a row for each.
[[nodiscard]] Loss cross_entropy(const at::Tensor& logits, const at::Tensor& labels);

/// FLOPs of forward for one row of the input.
[[nodiscard]] double flops_of_linear(std::int64_t in, std::int64_t out);

/// Whether forward also runs the auxiliary head, where there is one.
enum class Auxiliary : std::uint8_t { left_out, computed };

class Model : public torch::nn::Module {
 public:
  void add(const std::string& name, std::shared_ptr<Block> block);
  /// A second head on the input of the last block; it counts 0.3 in the loss.
  void add_auxiliary(std::shared_ptr<Block> head);

  [[nodiscard]] const std::vector<std::shared_ptr<Block>>& blocks() const { return blocks_; }
  [[nodiscard]] bool has_auxiliary() const { return auxiliary_ != nullptr; }
  [[nodiscard]] const std::shared_ptr<Block>& auxiliary() const { return auxiliary_; }
  /// Of the whole model, also where only a part of it is here.
  [[nodiscard]] std::int64_t parameter_count() const;
  /// How the parameter of that name ("layer0.qkv.weight") lies in that of the whole model.
  [[nodiscard]] TensorPart part_of(const std::string& parameter) const;
  /// Parameters whose gradients must be summed over the ranks of the split, in an order that is equal on all of them.
  [[nodiscard]] std::vector<at::Tensor> with_gradient_terms() const;

  /// How the logits of the last block become a loss.
  void set_loss(LossFunction loss) { loss_ = std::move(loss); }
  [[nodiscard]] const LossFunction& loss() const { return loss_; }

  /// bf16: its forward is mixed (precision.h).
  void compute_in(DataType type) { type_ = type; }
  [[nodiscard]] DataType computes_in() const { return type_; }
  /// Where the parameters of each block are, if not all are on one device: forward goes from one to the next.
  void spread(std::vector<at::Device> of_blocks) { devices_ = std::move(of_blocks); }

  struct Output {
    at::Tensor logits;
    at::Tensor auxiliary;  ///< undefined where there is none or it is not asked for
  };
  /// `after_block` is called when block i is done. Where it is mixed, what it gives is bf16, and what it takes may be.
  Output forward(const at::Tensor& input, Auxiliary head, const std::function<void(std::size_t)>& after_block);

 private:
  std::vector<std::string> names_;  // of the blocks
  std::vector<std::shared_ptr<Block>> blocks_;
  std::shared_ptr<Block> auxiliary_;
  std::vector<at::Device> devices_;  // of the blocks; empty: that of the input
  LossFunction loss_ = cross_entropy;
  DataType type_ = DataType::f32;
};

/// FLOPs of forward for one sample, block 0 first.
[[nodiscard]] std::vector<double> work_of_blocks(const Model& model);

/// A model that nobody gave a depth gets one that `parts` stages or devices can share.
[[nodiscard]] ModelOptions deep_enough(ModelOptions options, std::int64_t parts);

/// The shape of generated samples that fit a model.
[[nodiscard]] SampleShape fitting_shape(const ModelOptions& options);

/// Parameters are drawn from the seed, equally on all ranks; of a split model each rank keeps its part. That it can be
/// split has been checked (check_split).
[[nodiscard]] Result<std::shared_ptr<Model>> build_model(const ModelOptions& options, const SampleShape& shape,
                                                         DataType dtype, std::uint64_t seed,
                                                         const TensorSplit& split = {});

}  // namespace rankscope::trainer
