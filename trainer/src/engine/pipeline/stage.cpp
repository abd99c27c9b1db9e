#include "engine/pipeline/stage.h"

#include <optional>

namespace rankscope::trainer {
namespace {

void no_pause(std::size_t) {}

}  // namespace

std::vector<std::shared_ptr<Model>> parts_of(const Model& model, const std::vector<std::size_t>& sizes) {
  const auto names = model.named_children().keys();
  std::vector<std::shared_ptr<Model>> parts;
  std::size_t block = 0;
  for (const std::size_t size : sizes) {
    auto& part = parts.emplace_back(std::make_shared<Model>());
    for (std::size_t i = 0; i < size; ++i, ++block) part->add(names[block], model.blocks()[block]);
    part->set_loss(model.loss());
    part->compute_in(model.computes_in());
  }
  return parts;
}

Stage::InFlight& Stage::enter(std::int32_t micro_batch, const at::Tensor& input, Backward kind) {
  const auto [place, added] = in_flight_.try_emplace(micro_batch);
  RS_CHECK(added);
  InFlight& flight = place->second;
  flight.kind = kind;
  flight.input = input.detach();
  if (input_ == StageInput::activations) flight.input.requires_grad_();
  return flight;
}

at::Tensor Stage::forward(std::int32_t micro_batch, const at::Tensor& input, Backward kind) {
  InFlight& flight = enter(micro_batch, input, kind);
  std::optional<CutBackward> cut;
  if (kind == Backward::input_only) cut.emplace(flight.weights);
  flight.output = blocks_->forward(flight.input, Auxiliary::left_out, no_pause).logits;
  return flight.output.detach();
}

Forward Stage::forward_to_loss(std::int32_t micro_batch, const Inputs& inputs, Backward kind, double factor) {
  InFlight& flight = enter(micro_batch, inputs.data, kind);
  std::optional<CutBackward> cut;
  if (kind == Backward::input_only) cut.emplace(flight.weights);
  Forward result = run_forward(*blocks_, {flight.input, inputs.labels}, Auxiliary::left_out, no_pause);
  result.loss = result.loss * factor;
  flight.output = result.loss * loss_share_;
  return {result.loss.detach(), result.correct};
}

at::Tensor Stage::predict(const at::Tensor& input) const {
  const Predicting predicting{*blocks_};
  return blocks_->forward(input, Auxiliary::left_out, no_pause).logits;
}

at::Tensor Stage::backward(std::int32_t micro_batch, const at::Tensor& gradient) {
  InFlight& flight = in_flight_.at(micro_batch);
  {
    std::optional<CutBackward> cut;
    if (flight.kind == Backward::input_only) cut.emplace(flight.weights);
    torch::autograd::backward({flight.output}, {gradient});
  }
  at::Tensor of_input = flight.input.grad();
  if (flight.kind == Backward::whole) {
    in_flight_.erase(micro_batch);
  } else {
    flight.input.reset();
    flight.output.reset();  // the graph goes; the queue holds what the weight gradients need
  }
  return of_input;
}

void Stage::weight_gradients(std::int32_t micro_batch) {
  in_flight_.at(micro_batch).weights.run();
  in_flight_.erase(micro_batch);
}

}  // namespace rankscope::trainer
