// Gradients of a model whose layers are split over the ranks of a group.
#pragma once

#include <vector>

#include "engine/comm/comm.h"
#include "engine/models/model.h"
#include "engine/step/step_parts.h"
#include "rankscope/core/result.h"

namespace rankscope::trainer {

/// Sums the gradients of which each rank has only a term (Model::with_gradient_terms), in one reduction. Where there
/// are none, as without a split sequence, nothing is sent.
[[nodiscard]] Result<void> sum_gradient_terms(const Model& model, Comm& comm);

/// The whole tensor from the part that each rank has of it; `part` is this rank's. What all ranks have whole is
/// returned as it is.
[[nodiscard]] Result<at::Tensor> put_together(const at::Tensor& tensor, const TensorPart& part, Comm& comm,
                                              const std::string& label);

}  // namespace rankscope::trainer
