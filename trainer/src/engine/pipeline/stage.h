// One stage of a pipeline: some blocks in a row, and the micro-batches that are on their way through them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "engine/layers/layers.h"
#include "engine/models/model.h"
#include "engine/step/step_parts.h"

namespace rankscope::trainer {

/// What a backward does about the gradients of weights.
enum class Backward : std::uint8_t {
  whole,       ///< computes them at once
  input_only,  ///< leaves those of linear and convolution layers to weight_gradients()
};

/// Activations need a gradient, samples do not.
enum class StageInput : std::uint8_t { samples, activations };

/// Cuts a model into models of its blocks, which keep their names; `sizes` are the blocks of each.
[[nodiscard]] std::vector<std::shared_ptr<Model>> parts_of(const Model& model, const std::vector<std::size_t>& sizes);

class Stage {
 public:
  /// The last stage's loss counts `loss_share` (one over the number of micro-batches).
  Stage(std::shared_ptr<Model> blocks, StageInput input, double loss_share)
      : blocks_(std::move(blocks)), input_(input), loss_share_(loss_share) {}

  [[nodiscard]] const Model& blocks() const { return *blocks_; }

  /// Forward of a stage with others behind it; what it returns is for the next one. The graph ends at `input`.
  at::Tensor forward(std::int32_t micro_batch, const at::Tensor& input, Backward backward);
  /// Forward of the last stage, to the loss times `factor`.
  Forward forward_to_loss(std::int32_t micro_batch, const Inputs& inputs, Backward backward, double factor = 1);

  /// Forward that leaves nothing behind.
  [[nodiscard]] at::Tensor predict(const at::Tensor& input) const;

  /// Returns the gradient of the stage's input, undefined for samples. `gradient` is that of its output, undefined for
  /// the last stage.
  at::Tensor backward(std::int32_t micro_batch, const at::Tensor& gradient);
  /// The other half of a backward with Backward::input_only.
  void weight_gradients(std::int32_t micro_batch);

 private:
  /// What a micro-batch leaves behind until its backward is done.
  struct InFlight {
    at::Tensor input;
    at::Tensor output;
    Backward kind = Backward::whole;
    WeightQueue weights;
  };
  InFlight& enter(std::int32_t micro_batch, const at::Tensor& input, Backward kind);

  std::shared_ptr<Model> blocks_;
  StageInput input_;
  double loss_share_;
  std::map<std::int32_t, InFlight> in_flight_;
};

}  // namespace rankscope::trainer
