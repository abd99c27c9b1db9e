#include "engine/data_parallel/flat_parameters.h"

#include <limits>

namespace rankscope::trainer {
namespace {

std::vector<NamedTensor> named(const Model& model) {
  std::vector<NamedTensor> all;
  for (const auto& parameter : model.named_parameters()) all.push_back({parameter.key(), parameter.value()});
  return all;
}

std::vector<std::int64_t> sizes_of(const std::vector<NamedTensor>& parameters) {
  std::vector<std::int64_t> sizes;
  for (const auto& parameter : parameters) sizes.push_back(parameter.tensor.numel());
  return sizes;
}

}  // namespace

FlatParameters::FlatParameters(const Model& model, std::vector<std::vector<std::size_t>> units, Comm* comm)
    : parameters_(named(model)),
      layout_(sizes_of(parameters_), std::move(units), comm == nullptr ? 1 : comm->group().size()),
      comm_(comm),
      nothing_(at::full({}, std::numeric_limits<double>::quiet_NaN(), options())) {}

at::TensorOptions FlatParameters::options() const { return parameters_.front().tensor.options().requires_grad(false); }
at::Tensor FlatParameters::empty(std::size_t unit) const {
  return at::empty({layout_.units()[unit].padded}, options());
}
at::Tensor FlatParameters::zeros(std::size_t unit) const {
  return at::zeros({layout_.units()[unit].padded}, options());
}

at::Tensor FlatParameters::own_part(const at::Tensor& flat) const {
  const std::int64_t size = flat.numel() / layout_.ranks();
  return flat.narrow(0, comm_ == nullptr ? 0 : size * comm_->group().position, size);
}

at::Tensor FlatParameters::part_of(const at::Tensor& flat, std::size_t unit, std::size_t k) const {
  const FlatUnit& own = layout_.units()[unit];
  const at::Tensor& like = parameters_[own.parameters[k]].tensor;
  return flat.narrow(0, own.begins[k], like.numel()).view(like.sizes());
}

Result<at::Tensor> FlatParameters::flattened(std::size_t unit, const std::string& label) const {
  const torch::NoGradGuard no_grad;
  at::Tensor flat = zeros(unit);
  const auto& parameters = layout_.units()[unit].parameters;
  for (std::size_t k = 0; k < parameters.size(); ++k) part_of(flat, unit, k).copy_(parameters_[parameters[k]].tensor);
  if (comm_ != nullptr) RS_TRY_VOID(comm_->broadcast(flat, 0, label).wait());
  put(unit, flat);
  return flat;
}

void FlatParameters::put(std::size_t unit, const at::Tensor& flat) const {
  const auto& parameters = layout_.units()[unit].parameters;
  for (std::size_t k = 0; k < parameters.size(); ++k)
    parameters_[parameters[k]].tensor.set_data(part_of(flat, unit, k));
}

void FlatParameters::take_away(std::size_t unit) const {
  for (const std::size_t parameter : layout_.units()[unit].parameters) {
    const at::Tensor& tensor = parameters_[parameter].tensor;
    tensor.set_data(nothing_.expand(tensor.sizes()));
  }
}

Result<std::vector<NamedTensor>> FlatParameters::gathered(const std::vector<at::Tensor>& shards,
                                                          const std::string& label) const {
  std::vector<NamedTensor> all;
  for (const auto& parameter : parameters_) all.push_back({parameter.name, {}});
  for (std::size_t unit = 0; unit < shards.size(); ++unit) {
    at::Tensor flat = shards[unit];
    if (comm_ != nullptr) {
      flat = empty(unit);
      RS_TRY_VOID(comm_->allgather_flat(flat, shards[unit], label).wait());
    }
    const auto& parameters = layout_.units()[unit].parameters;
    for (std::size_t k = 0; k < parameters.size(); ++k) all[parameters[k]].tensor = part_of(flat, unit, k);
  }
  return all;
}

}  // namespace rankscope::trainer
