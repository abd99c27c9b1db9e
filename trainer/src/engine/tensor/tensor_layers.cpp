#include "engine/tensor/tensor_layers.h"

#include <utility>

#include "engine/layers/layers.h"
#include "engine/layers/precision.h"

namespace rankscope::trainer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t sequence_dimension = 1;

/// A tensor that the group is still working on.
struct Pending {
  at::Tensor tensor;
  Handle handle;

  at::Tensor take() {
    handle.wait_or_throw();
    return std::exchange(tensor, {});
  }
};

/// A tensor of the caller, to which nobody else holds on.
Pending start_sum(at::Tensor term, const SplitLayer& layer, const char* pass) {
  Handle handle = layer.split.comm->allreduce(term, layer.name + pass);
  return {std::move(term), std::move(handle)};
}

// The parts lie behind one another in the group's tensor, but beside one another in each sample.
Pending start_sum_of_part(const at::Tensor& term, const SplitLayer& layer, const char* pass) {
  const at::Tensor by_rank =
      term.unflatten(sequence_dimension, {layer.split.parts(), -1}).movedim(sequence_dimension, 0).contiguous();
  at::Tensor own = at::empty_like(by_rank.select(0, 0));
  Handle handle = layer.split.comm->reduce_scatter(own, by_rank, layer.name + pass);
  return {std::move(own), std::move(handle)};
}

/// What take_gathered() makes whole.
Pending start_gather(const at::Tensor& part, const SplitLayer& layer, const char* pass) {
  const at::Tensor own = part.contiguous();
  std::vector<std::int64_t> shape = own.sizes().vec();
  shape.insert(shape.begin(), layer.split.parts());
  at::Tensor by_rank = at::empty(shape, own.options());
  Handle handle = layer.split.comm->allgather_flat(by_rank, own, layer.name + pass);
  return {std::move(by_rank), std::move(handle)};
}

at::Tensor take_gathered(Pending& pending) {
  return pending.take().movedim(0, sequence_dimension).flatten(sequence_dimension, sequence_dimension + 1);
}

at::Tensor gathered(const at::Tensor& part, const SplitLayer& layer, const char* pass) {
  Pending pending = start_gather(part, layer, pass);
  return take_gathered(pending);
}

void remember(AutogradContext& context, const SplitLayerPtr& layer) {
  context.saved_data["layer"] = c10::IValue::make_capsule(layer);
}
SplitLayerPtr remembered(AutogradContext& context) {
  return c10::static_intrusive_pointer_cast<SplitLayer>(context.saved_data["layer"].toCapsule());
}

struct ColumnProduct : torch::autograd::Function<ColumnProduct> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const at::Tensor& weight,
                            const SplitLayerPtr& layer) {
    context->save_for_backward({input, weight});
    remember(*context, layer);
    return at::linear(layer->split.splits_sequence() ? gathered(input, *layer, " forward") : input, lowered(weight));
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const SplitLayerPtr layer = remembered(*context);
    const bool sequence = layer->split.splits_sequence();
    const at::Tensor& gradient = gradients[0];
    // What is on its way is hidden behind a product each: the input behind the first, the sum behind the second.
    Pending input;
    if (sequence) input = start_gather(saved[0], *layer, " input again");
    Pending sum;
    if (context->needs_input_grad(0)) {
      at::Tensor of_input = gradient.matmul(saved[1].to(gradient.scalar_type()));
      sum = sequence ? start_sum_of_part(of_input, *layer, " backward")
                     : start_sum(std::move(of_input), *layer, " backward");
    }
    const at::Tensor of_weight = weight_gradient(saved[1], [gradient, input, part = saved[0], sequence]() mutable {
      const at::Tensor whole = sequence ? take_gathered(input) : part;
      return gradient.flatten(0, -2).t().mm(whole.flatten(0, -2));
    });
    return {sum.handle.valid() ? sum.take() : at::Tensor{}, of_weight, {}};
  }
};

struct SumOverRanks : torch::autograd::Function<SumOverRanks> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& term, const SplitLayerPtr& layer) {
    remember(*context, layer);
    // Autograd may still need the term: what is reduced in place is a copy.
    return layer->split.splits_sequence()
               ? start_sum_of_part(term, *layer, " forward").take()
               : start_sum(term.clone(at::MemoryFormat::Contiguous), *layer, " forward").take();
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const SplitLayerPtr layer = remembered(*context);
    return {layer->split.splits_sequence() ? gathered(gradients[0], *layer, " backward") : gradients[0], {}};
  }
};

/// Which of the labels lie in this rank's columns, and where.
struct OwnLabels {
  OwnLabels(const at::Tensor& labels, std::int64_t columns, std::int64_t part)
      : column((labels - part * columns).clamp(0, columns - 1).unsqueeze(1)),
        is_own(labels.div(columns, "floor").eq(part)) {}
  at::Tensor column;  ///< [rows, 1]; 0 or the last one for foreign labels
  at::Tensor is_own;  ///< [rows]
};

struct SplitCrossEntropy : torch::autograd::Function<SplitCrossEntropy> {
  static variable_list forward(AutogradContext* context, const at::Tensor& logits, const at::Tensor& labels,
                               const SplitLayerPtr& loss) {
    Comm& comm = *loss->split.comm;
    const OwnLabels own{labels, logits.size(1), loss->split.part()};
    const at::Tensor largest = logits.amax(1);
    Handle known = comm.allreduce_max(largest, loss->name + " largest logit");
    known.wait_or_throw();
    at::Tensor softmax = (logits - largest.unsqueeze(1)).exp_();
    const at::Tensor sum = start_sum(softmax.sum(1), *loss, " sum of exp").take();
    at::Tensor own_target = logits.gather(1, own.column).squeeze(1).masked_fill_(own.is_own.logical_not(), 0);
    const at::Tensor target = start_sum(std::move(own_target), *loss, " target logit").take();
    softmax.div_(sum.unsqueeze(1));
    context->save_for_backward({softmax, own.column, own.is_own});
    const at::Tensor correct = target.eq(largest).sum();
    context->mark_non_differentiable({correct});
    return {(sum.log() + largest - target).mean(), correct};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor of_logits =
        saved[0].scatter_add(1, saved[1], saved[2].to(saved[0].scalar_type()).neg().unsqueeze(1));
    return {of_logits * (gradients[0] / of_logits.size(0)), {}, {}};
  }
};

}  // namespace

SplitLayerPtr split_layer(const TensorSplit& split, std::string name) {
  return split.is_split() ? c10::make_intrusive<SplitLayer>(split, std::move(name)) : SplitLayerPtr{};
}

at::Tensor column_product(const at::Tensor& input, const at::Tensor& weight, const SplitLayerPtr& layer) {
  return ColumnProduct::apply(lowered(input), weight, layer);
}

at::Tensor sum_over_ranks(const at::Tensor& term, const SplitLayerPtr& layer) {
  return SumOverRanks::apply(lowered(term), layer);
}

SplitLoss split_cross_entropy(const at::Tensor& logits, const at::Tensor& labels, const TensorSplit& split) {
  const variable_list loss = SplitCrossEntropy::apply(in_full(logits), labels, split_layer(split, "loss"));
  return {loss[0], loss[1]};
}

at::Tensor TensorLinearImpl::forward(const at::Tensor& input) {
  if (!layer_ || share == LinearShare::whole) return LinearImpl::forward(input);
  const at::Tensor product = share == LinearShare::column ? column_product(input, weight, layer_)
                                                          : sum_over_ranks(without_bias(input), layer_);
  return bias.defined() ? product + lowered(bias) : product;
}

at::Tensor TensorEmbeddingImpl::forward(const at::Tensor& tokens) {
  if (!layer_) return torch::nn::EmbeddingImpl::forward(tokens);
  const std::int64_t rows = weight.size(0);
  const at::Tensor own = tokens - layer_->split.part() * rows;
  const at::Tensor foreign = own.lt(0).logical_or(own.ge(rows));
  const at::Tensor known = at::embedding(weight, own.masked_fill(foreign, 0));
  return sum_over_ranks(known.masked_fill(foreign.unsqueeze(-1), 0), layer_);
}

void keep_share(Block& block, const std::string& name, const TensorLinear& linear, const TensorSplit& split,
                std::int64_t sections) {
  const bool has_bias = linear->bias.defined();
  switch (split.is_split() ? linear->share : LinearShare::whole) {
    case LinearShare::whole:
      break;
    case LinearShare::column:
      block.keep(name + ".weight", split.along(0, sections));
      if (has_bias) block.keep(name + ".bias", split.along(0, sections));
      break;
    case LinearShare::row:
      block.keep(name + ".weight", split.along(1));
      // It is added to a part of the sequence only.
      if (has_bias && split.splits_sequence()) block.has_gradient_terms(name + ".bias");
      break;
  }
}

}  // namespace rankscope::trainer
