// A tensor's type and shape, as safetensors headers and manifests write them.
#pragma once

#include <string>

#include "checkpoint/strict_json.h"
#include "rankscope/trainer/checkpoint/tensor.h"

namespace rankscope::trainer {

/// Takes "dtype" and "shape"; the elements of what it returns can be counted.
[[nodiscard]] Result<TensorInfo> tensor_info_from(const Fields& fields, std::string name);

}  // namespace rankscope::trainer
