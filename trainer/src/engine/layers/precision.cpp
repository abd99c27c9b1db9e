#include "engine/layers/precision.h"

#include <ATen/autocast_mode.h>

#include <array>

namespace rankscope::trainer {
namespace {

// A forward is on one of them; told of both, none of ours has to know on which.
constexpr std::array mixed_devices{at::kCPU, at::kCUDA};

void mix(bool mixed) {
  for (const at::DeviceType device : mixed_devices) at::autocast::set_autocast_enabled(device, mixed);
}

}  // namespace

MixedPrecision::MixedPrecision(DataType type)
    : was_mixed_(is_mixed()), kept_casts_(at::autocast::is_autocast_cache_enabled()) {
  for (const at::DeviceType device : mixed_devices) at::autocast::set_autocast_dtype(device, at::kBFloat16);
  at::autocast::set_autocast_cache_enabled(false);
  mix(was_mixed_ || type == DataType::bf16);
}

MixedPrecision::~MixedPrecision() {
  mix(was_mixed_);
  at::autocast::set_autocast_cache_enabled(kept_casts_);
}

bool is_mixed() { return at::autocast::is_autocast_enabled(at::kCPU); }

at::Tensor lowered(const at::Tensor& tensor) {
  const bool lowers = is_mixed() && tensor.defined() && tensor.scalar_type() == at::kFloat;
  return lowers ? tensor.to(at::kBFloat16) : tensor;
}

at::Tensor in_full(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kBFloat16 ? tensor.to(at::kFloat) : tensor;
}

at::ScalarType torch_type(DataType type) { return type == DataType::f64 ? at::kDouble : at::kFloat; }

at::ScalarType activation_type(DataType type) { return type == DataType::bf16 ? at::kBFloat16 : torch_type(type); }

}  // namespace rankscope::trainer
