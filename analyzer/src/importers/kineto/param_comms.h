// What the recorded inputs of a collective tell (with record_shapes=True), where its arguments do not.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "words/element_type.h"

namespace rankscope::analyzer::kineto {

/// The inputs of a host range as Kineto writes them: three lists of equal length, as JSON.
struct RecordedInputs {
  std::string_view dims;    ///< "Input Dims"
  std::string_view types;   ///< "Input type"
  std::string_view values;  ///< "Concrete Inputs"; texts, empty for tensors, tuples and texts
};

/// What the inputs of record_param_comms say by their places. -1: not told.
struct ParamComms {
  std::int64_t sequence = -1;
  std::int64_t rank = -1;   ///< in the group: the root of a rooted operation, the partner of a send, else the own one
  bool names_root = false;  ///< `rank` is that; before 2024 it is always the own one
};

/// The macros of torch/csrc/distributed/c10d/ParamCommsUtils.hpp pass [tensors,] sequence, group, rank, name, split
/// sizes of input and output, then since 2022 the size of the group, since 2024 the first rank and the stride before
/// it, since 2026 one more. Sequence and group are tuples since 2024, which Kineto does not write. Places are told by
/// the types around them; nothing for another layout.
[[nodiscard]] std::optional<ParamComms> param_comms_from(const RecordedInputs& inputs);

/// The operators of torch.distributed (c10d) that start a send or a receive.
[[nodiscard]] bool is_pair_operator(std::string_view name);

/// The partner's rank in the group, which these operators get after tensors and group: send(tensors, group, dst, tag),
/// recv_(tensors, group, src, tag). -1: the inputs are others.
[[nodiscard]] std::int64_t partner_from(const RecordedInputs& inputs);

/// Elements of all tensors, and the type of the first; lists of tensors have no type.
struct TensorInputs {
  std::int64_t elements = -1;  ///< -1: no tensor, or its size is not told
  ElementType type{};
};
[[nodiscard]] TensorInputs tensor_inputs_from(const RecordedInputs& inputs);

}  // namespace rankscope::analyzer::kineto
